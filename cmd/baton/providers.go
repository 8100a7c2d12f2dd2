package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/config"
	"baton/internal/httpapi"
	"baton/internal/shim"
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

func (a *app) doctorCmd() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look whether everything is there: configuration, places, agents, server",
		Example: "  baton doctor", Args: needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			// It works without a server: it is what one runs when the server won't start.
			checks := a.examine(cmd.Context())
			if a.json {
				if err := a.printJSON(checks); err != nil {
					return err
				}
			}
			failed := false
			for _, c := range checks {
				failed = failed || c.Status == config.StatusError
				if a.json {
					continue
				}
				mark := map[string]string{config.StatusOK: a.style(green, "✓"), config.StatusWarning: a.style(yellow, "!"), config.StatusError: a.style(red, "✗")}[c.Status]
				lines := a.wrap(c.Name+": "+c.Detail, "    ")
				fmt.Fprintf(a.out, "  %s %s\n", mark, strings.TrimPrefix(lines, "    "))
				if c.Hint != "" {
					fmt.Fprintln(a.out, a.wrap("hint: "+c.Hint, "    "))
				}
			}
			if failed {
				return exitWith(exitFailed)
			}
			return nil
		},
	}
}

func (a *app) examine(ctx context.Context) []config.Check {
	bad := func(name string, err error) config.Check {
		e := baton.AsError(err)
		return config.Check{Name: name, Status: config.StatusError, Detail: e.Error(), Hint: e.Hint}
	}
	p, err := a.places()
	if err != nil {
		return []config.Check{bad("places", err)}
	}
	registry := drivers()
	checks := []config.Check{{Name: "configuration", Status: config.StatusOK, Detail: p.Config}}
	cfg, err := config.Load(p.Config, registry)
	if err != nil {
		checks[0] = bad("configuration", err)
	}
	server := config.Check{Name: "server", Status: config.StatusOK, Detail: "none runs; it is started when it is needed"}
	var info httpapi.ServerInfo
	c, info, err := client.Running(ctx, p)
	switch {
	case err == nil:
		c.Close()
		server.Detail = fmt.Sprintf("version %s, process %d", info.Version, info.PID)
		if info.Version != buildVersion() {
			server.Status, server.Hint = config.StatusWarning, "it is of another version than this command: `baton serve --stop`"
		}
	case baton.ErrorCode(err) != baton.CodeServerUnreachable:
		server = bad("server", err)
	}
	checks = append(checks, server)
	return append(checks, config.NewProviders(cfg, registry, p, a.self, a.env).Examine(ctx, shim.Output)...)
}
