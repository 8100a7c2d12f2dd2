package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"baton/internal/client"
	"baton/internal/httpapi"
)

func (a *app) coverageCmd() *cobra.Command {
	return &cobra.Command{
		Use: "coverage THREAD", Short: "Show which runs each agent's own conversation knows",
		Long: `Show which runs each agent's own conversation knows: natively, because it did them,
or because a handoff told it.`,
		Example: "  baton coverage THREAD", Args: needs("THREAD"), ValidArgsFunction: a.completeThreads,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			var cov httpapi.Coverage
			if err := c.Get(ctx, client.Path("threads", args[0], "coverage"), nil, &cov); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(cov)
			}
			a.showCoverage(cov)
			return nil
		}),
	}
}

func (a *app) showCoverage(cov httpapi.Coverage) {
	if len(cov.ProviderThreads) == 0 {
		fmt.Fprintln(a.out, "no agent has begun yet")
		return
	}
	rows := [][]string{{"PROVIDER", "STATUS", "DID", "WAS TOLD", "HANDOFFS", "CONVERSATION"}}
	for _, p := range cov.ProviderThreads {
		var hs []string
		for _, h := range p.HandoffIDs {
			hs = append(hs, shortID(h))
		}
		status := p.Status
		if p.Divergent {
			status += ", divergent"
		}
		rows = append(rows, []string{p.Provider, status, ranges(p.Native), ranges(p.HandedOver), orDash(strings.Join(hs, " ")), shortID(p.ID)})
	}
	a.table(rows, nil)
}

// ranges writes run ordinals as people do: 1–5, 9.
func ranges(pairs [][2]int) string {
	var out []string
	for _, p := range pairs {
		if p[0] == p[1] {
			out = append(out, fmt.Sprint(p[0]))
		} else {
			out = append(out, fmt.Sprintf("%d–%d", p[0], p[1]))
		}
	}
	return orDash(strings.Join(out, ", "))
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func (a *app) transfersCmd() *cobra.Command {
	return &cobra.Command{
		Use: "transfers THREAD", Short: "List where context had to move, how, and why so",
		Example: "  baton transfers THREAD", Args: needs("THREAD"), ValidArgsFunction: a.completeThreads,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			list, err := client.All[httpapi.Transfer](ctx, c, client.Path("threads", args[0], "transfers"), nil)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				fmt.Fprintln(a.out, "no context had to move yet")
			}
			for _, t := range list {
				a.showTransfer(t)
			}
			return nil
		}),
	}
}

func (a *app) showTransfer(t httpapi.Transfer) {
	how := "not resolved yet"
	if t.Resolution != nil {
		how = t.Resolution.Strategy
		if t.Resolution.Fidelity == "lower" {
			how += ", lower fidelity"
		}
	}
	a.fields("", part{text: shortID(t.ID)}, part{text: t.Type}, part{text: t.Status, color: bold}, part{text: how})
	if t.HandoffID != "" {
		fmt.Fprintf(a.out, "  handoff %s\n", t.HandoffID)
	}
	if t.Resolution != nil {
		for _, r := range t.Resolution.Reasons {
			a.showReason(a.out, "  ", r)
		}
	}
}
