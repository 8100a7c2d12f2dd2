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
	limit := 0
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List threads with what goes on in them, the liveliest first",
		Long: `List threads with what goes on in them, the liveliest first. The short id that is
shown, like any unique beginning or end of an id, may be used in its place.`,
		Example: "  baton ls\n  baton ls --json | jq -r '.[] | select(.activity==\"waiting\").id'",
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
			if limit > 0 {
				var p httpapi.Page[httpapi.ThreadRow]
				err = c.Get(ctx, "/api/threads", url.Values{"limit": {strconv.Itoa(min(limit, 1000))}}, &p)
				threads = p.Items
			} else {
				threads, err = client.All[httpapi.ThreadRow](ctx, c, "/api/threads", url.Values{"limit": {"1000"}})
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(threads)
			}
			if len(threads) == 0 {
				fmt.Fprintln(a.out, "no threads yet; `baton new` makes one")
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
