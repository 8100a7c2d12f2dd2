package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

func (a *app) handoffCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "handoff", Short: "See, change and read what is handed over from agent to agent",
		Example: "  baton handoff list 44a913f1\n  baton handoff show 9c1f02aa",
		RunE: func(cmd *cobra.Command, args []string) error {
			return baton.Errorf(baton.CodeInvalid, "`baton handoff` needs to know what: `preview`, `list`, `show`, `regenerate` or `diff`").WithHint("baton handoff --help")
		}}
	cmd.AddCommand(&cobra.Command{
		Use: "list THREAD", Short: "List a thread's handoffs", Example: "  baton handoff list THREAD",
		Args: needs("THREAD"), ValidArgsFunction: a.completeThreads,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			list, err := client.All[httpapi.Handoff](ctx, c, client.Path("threads", args[0], "handoffs"), nil)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				fmt.Fprintln(a.out, "nothing was handed over yet")
				return nil
			}
			rows := [][]string{{"ID", "STATUS", "RUNS", "TOKENS", "BY", "STRATEGY"}}
			for _, h := range list {
				rows = append(rows, []string{shortID(h.ID), h.Status, covered(h), fmt.Sprint(h.EstimatedTokens), orDash(h.CreatedByProvider), h.Strategy})
			}
			a.table(rows, nil)
			return nil
		}),
	}, &cobra.Command{
		Use: "show HANDOFF", Short: "Print a handoff byte for byte as the agent gets it", Example: "  baton handoff show hnd_01…",
		Args: needs("HANDOFF"), ValidArgsFunction: a.completeHandoffs,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			var h httpapi.Handoff
			if err := c.Get(ctx, client.Path("handoffs", args[0]), nil, &h); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(h)
			}
			if a.tty {
				a.fields("", part{text: h.ID, color: bold}, part{text: h.Status}, part{text: "runs " + covered(h)}, part{text: h.Strategy},
					part{text: fmt.Sprintf("%d tokens", h.EstimatedTokens)}, part{text: h.Digest, color: dim})
				fmt.Fprintln(a.out)
				fmt.Fprintln(a.out, h.Text)
				return nil
			}
			return a.exact(h.Text)
		}),
	})
	cmd.AddCommand(a.previewCmd(), a.regenerateCmd(), a.handoffDiffCmd())
	return cmd
}

func covered(h httpapi.Handoff) string {
	if len(h.Covered) > 0 {
		return ranges(h.Covered)
	}
	if h.CoveredRuns != nil {
		return ranges([][2]int{{h.CoveredRuns.From, h.CoveredRuns.To}})
	}
	return "–"
}
