package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

func (a *app) searchCmd() *cobra.Command {
	limit, thread := 0, ""
	cmd := &cobra.Command{
		Use:   "search QUERY…",
		Short: "Find text in titles, messages, answers, commands and outputs",
		Long: `Find text in titles, messages, answers, commands and outputs, the best first. All
words must stand in one text; a word may be the beginning of one. What stands in
double quotes, or is written together such as foo.bar, must stand so. Case and
accents do not matter. Archived threads are searched too, deleted ones are not.`,
		Example: "  baton search parser slow\n  baton search '\"long line\"' --thread 44a913f1\n  baton search make --json | jq -r '.[].item_id'",
		Args:    needsSome("QUERY"),
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			if limit < 1 || limit > 1000 {
				return baton.Errorf(baton.CodeInvalid, "--limit %d is not from 1 to 1000", limit).WithHint("the default is 20")
			}
			q := url.Values{"q": {strings.Join(args, " ")}, "limit": {strconv.Itoa(limit)}}
			if thread != "" {
				q.Set("thread", thread)
			}
			var p httpapi.Page[httpapi.Hit]
			if err := c.Get(ctx, "/api/search", q, &p); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(p.Items)
			}
			a.hits(p)
			return nil
		}),
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this many")
	cmd.Flags().StringVar(&thread, "thread", "", "only in this thread")
	_ = cmd.RegisterFlagCompletionFunc("thread", a.completeThreads)
	return cmd
}

func (a *app) hits(p httpapi.Page[httpapi.Hit]) {
	if len(p.Items) == 0 {
		fmt.Fprintln(a.out, "nothing was found")
		return
	}
	for _, h := range p.Items {
		where := []string{shortID(h.ThreadID)}
		if h.RunOrdinal > 0 {
			where = append(where, fmt.Sprintf("run %d", h.RunOrdinal))
		}
		where = append(where, strings.ReplaceAll(h.Kind, "_", " "))
		if h.ThreadState != string(baton.ThreadActive) {
			where = append(where, h.ThreadState)
		}
		if h.ItemID != "" {
			where = append(where, h.ItemID)
		}
		fmt.Fprintf(a.out, "%s  %s\n", a.style(dim, strings.Join(where, " · ")), printable(h.ThreadTitle))
		var b strings.Builder
		for _, s := range h.Snippet {
			text := printable(s.Text)
			if s.Match {
				text = a.style(bold, text)
			}
			b.WriteString(text)
		}
		fmt.Fprintln(a.out, "    "+b.String())
	}
	if p.Next != "" {
		fmt.Fprintln(a.out, a.style(dim, "there is more: --limit shows it"))
	}
}
