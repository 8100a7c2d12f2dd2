package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"baton/internal/client"
	"baton/internal/config"
)

func (a *app) providersCmd() *cobra.Command {
	return &cobra.Command{
		Use: "providers", Short: "List the agents that a run can name", Example: "  baton providers", Args: needs(),
		RunE: a.withServer(func(ctx context.Context, c *client.Client, _ []string) error {
			list, err := client.All[config.ProviderInfo](ctx, c, "/api/providers", nil)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			rows := [][]string{{"NAME", "DRIVER", "STATE", "COMMAND"}}
			for _, p := range list {
				state, command := "there", strings.Join(p.Command, " ")
				switch {
				case p.Error != nil:
					state, command = "missing", "`baton doctor` says more"
				case p.BuiltIn:
					state, command = "built in", "scripted, no real agent"
				case p.Default:
					state = "default"
				}
				rows = append(rows, []string{p.Name, p.Driver, state, command})
			}
			a.table(rows, func(row, col int, s string) string {
				if col == 2 {
					return a.style(map[string]string{"there": green, "default": green, "missing": red}[strings.TrimSpace(s)], s)
				}
				return s
			})
			return nil
		}),
	}
}
