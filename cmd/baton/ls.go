package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

func (a *app) lsCmd() *cobra.Command {
	limit, search, archived, deleted := 0, "", false, false
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List threads with what goes on in them, the liveliest first",
		Long: `List threads with what goes on in them, the liveliest first. The short id that is
shown, like any unique beginning or end of an id, may be used in its place.
Archived and deleted threads are shown only when they are asked for. With --search
the threads are those in which the text stands (see baton search), the best first.`,
		Example: "  baton ls\n  baton ls --archived --search parser\n  baton ls --json | jq -r '.[] | select(.activity==\"waiting\").id'",
		Args:    needs(),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("limit") && limit < 1 {
				return baton.Errorf(baton.CodeInvalid, "--limit %d shows nothing", limit).WithHint("give 1 or more; without --limit all are listed")
			}
			return nil
		},
		RunE: a.withServer(func(ctx context.Context, c *client.Client, _ []string) error {
			var threads []httpapi.ThreadRow
			var err error
			q := url.Values{"limit": {"1000"}}
			switch {
			case archived:
				q.Set("state", string(baton.ThreadArchived))
			case deleted:
				q.Set("state", string(baton.ThreadDeleted))
			}
			if search != "" {
				q.Set("search", search)
			}
			if limit > 0 {
				q.Set("limit", strconv.Itoa(min(limit, 1000)))
				var p httpapi.Page[httpapi.ThreadRow]
				err = c.Get(ctx, "/api/threads", q, &p)
				threads = p.Items
			} else {
				threads, err = client.All[httpapi.ThreadRow](ctx, c, "/api/threads", q)
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(threads)
			}
			if len(threads) == 0 {
				switch {
				case search != "":
					fmt.Fprintln(a.out, "nothing was found")
				case archived:
					fmt.Fprintln(a.out, "no thread is archived")
				case deleted:
					fmt.Fprintln(a.out, "no thread is deleted")
				default:
					fmt.Fprintln(a.out, "no threads yet; `baton new` makes one")
				}
				return nil
			}
			now := time.Now()
			rows := [][]string{{"ID", "STATE", "PROVIDER", "ACTIVE", "TITLE"}}
			for _, t := range threads {
				active := ""
				if t.UpdatedAt != nil {
					active = age(now, *t.UpdatedAt)
				}
				rows = append(rows, []string{shortID(t.ID), t.Activity, t.Provider, active, t.Title})
			}
			a.table(rows, func(row, col int, s string) string {
				if col == 1 {
					return a.style(activityColor[strings.TrimSpace(s)], s)
				}
				return s
			})
			return nil
		}),
	}
	cmd.Flags().StringVar(&search, "search", "", "only threads in which this stands")
	cmd.Flags().BoolVar(&archived, "archived", false, "the archived threads")
	cmd.Flags().BoolVar(&deleted, "deleted", false, "the deleted threads")
	cmd.MarkFlagsMutuallyExclusive("archived", "deleted")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most this many (default: all)")
	return cmd
}

var activityColor = map[string]string{"running": cyan, "starting": cyan, "finalizing": cyan, "waiting": yellow, "queued": blue, "held": yellow, "idle": dim}

// shortID is the end of an id, which is random; its beginning is a time.
func shortID(id string) string {
	u := strings.ReplaceAll(baton.UUID(baton.ThreadID(id)), "-", "")
	return u[max(0, len(u)-8):]
}

func age(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
