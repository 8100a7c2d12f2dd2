package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

func (a *app) showCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "show THREAD|RUN",
		Short:             "Show a thread with its timeline, or one run",
		Example:           "  baton show 44a913f1\n  baton show THREAD --json | jq '.runs[-1].answer'",
		Args:              needs("THREAD"),
		ValidArgsFunction: a.completeThreads,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			if strings.HasPrefix(args[0], baton.PrefixRun+"_") {
				return a.showRun(ctx, c, args[0])
			}
			var t httpapi.Thread
			if err := c.Get(ctx, client.Path("threads", args[0]), url.Values{"runs": {"1000"}}, &t); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(t)
			}
			a.threadHead(t)
			items, err := client.All[httpapi.Item](ctx, c, client.Path("threads", t.ID, "items"), url.Values{"limit": {"1000"}})
			if err != nil {
				return err
			}
			v := newView(a)
			for _, r := range t.Runs {
				v.addRun(r)
			}
			for _, it := range items {
				v.whole(it)
			}
			v.end()
			for _, r := range t.Runs {
				v.runEnd(r) // those that stand above already say nothing more
			}
			for _, q := range t.PendingRequests {
				fmt.Fprintf(a.out, "\n%s\n", a.style(yellow, a.wrap(fmt.Sprintf("waits for you: %s (%s)", oneLine(q.Title), q.ID), "")))
				var full httpapi.Request
				if err := c.Get(ctx, client.Path("requests", q.ID), nil, &full); err != nil {
					return err
				}
				a.showAnswers("  ", q.ID, full.Questions)
			}
			return nil
		}),
	}
	return cmd
}

func (a *app) threadHead(t httpapi.Thread) {
	title := t.Title
	if title == "" {
		title = "(no title)"
	}
	fmt.Fprintln(a.out, a.style(bold, a.wrap(oneLine(title), "")))
	state := t.Activity
	if t.State != string(baton.ThreadActive) {
		state = t.State
	}
	if t.QueueHeld {
		state += ", queue held: " + t.QueueHeldReason
	}
	a.fields("", part{text: t.ID}, part{text: state, color: activityColor[t.Activity]}, part{text: t.Dir, color: dim})
	if t.Provider != "" {
		a.fields("", part{text: strings.Join(append([]string{"next run: " + t.Provider}, settings(t.Settings)...), " · "), color: dim})
	}
}

// settings names those that are set: what is not is the agent's own choice.
func settings(s baton.Settings) (out []string) {
	if s.Model != "" {
		out = append(out, s.Model)
	}
	if s.Effort != "" {
		out = append(out, "effort "+s.Effort)
	}
	if s.PermissionMode != "" {
		out = append(out, "mode "+s.PermissionMode)
	}
	return out
}

func (a *app) showRun(ctx context.Context, c *client.Client, id string) error {
	var r httpapi.Run
	if err := c.Get(ctx, client.Path("runs", id), nil, &r); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	items, err := client.All[httpapi.Item](ctx, c, client.Path("threads", r.ThreadID, "items"), url.Values{"run": {r.ID}, "limit": {"1000"}})
	if err != nil {
		return err
	}
	v := newView(a)
	v.addRun(r)
	for _, it := range items {
		v.whole(it)
	}
	v.end()
	v.runEnd(r)
	return nil
}
