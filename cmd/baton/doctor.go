package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/config"
	"baton/internal/shim"
)

func (a *app) doctorCmd() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look whether everything is there: configuration, places, agents, server",
		Long: `Look whether everything is there: configuration, server, data, and of each agent
its version, what it can do, and what happens instead of what it can't. It starts
no server and no turn. Exit 1 when something has to be put right.`,
		Example: "  baton doctor\n  baton doctor --json | jq '.[] | select(.status==\"error\")'", Args: needs(),
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
				if !a.json {
					a.showCheck(c)
				}
			}
			if failed {
				return exitWith(exitFailed)
			}
			return nil
		},
	}
}

func (a *app) showCheck(c config.Check) {
	mark := map[string]string{config.StatusOK: a.style(green, "✓"), config.StatusNone: a.style(dim, "–"),
		config.StatusWarning: a.style(yellow, "!"), config.StatusError: a.style(red, "✗")}[c.Status]
	fmt.Fprintf(a.out, "  %s %s\n", mark, hang(a.wrap(c.Name+": "+c.Detail, "    ")))
	if c.Hint != "" {
		fmt.Fprintln(a.out, a.wrap("hint: "+c.Hint, "    "))
	}
	if c.Provider == nil || c.Status != config.StatusOK {
		return
	}
	if can := c.Provider.Can; len(can) > 0 {
		fmt.Fprintln(a.out, a.wrap("can "+strings.Join(can, ", "), "    "))
	}
	for _, l := range c.Provider.Cannot {
		fmt.Fprintln(a.out, a.wrap("can't "+l.What+": "+l.Instead, "    "))
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
	cfg, wrong := config.Load(p.Config, registry)
	checks := []config.Check{p.ExamineConfig(wrong)}
	server := config.Check{Name: "server", Status: config.StatusNone, Detail: "none runs; the next command that needs one starts it"}
	c, info, err := client.Running(ctx, p)
	switch {
	case err == nil:
		c.Close()
		server.Status, server.Detail = config.StatusOK, fmt.Sprintf("version %s, process %d", info.Version, info.PID)
		if info.Version != buildVersion() {
			server.Status, server.Hint = config.StatusWarning, "it is of another version than this command: `baton serve --stop`"
		}
	case baton.ErrorCode(err) != baton.CodeServerUnreachable:
		server = bad("server", err)
	}
	checks = append(checks, server)
	if wrong != nil {
		return append(checks, p.Examine()...) // which agents are meant is not known
	}
	return append(checks, config.NewProviders(cfg, registry, p, a.self, a.env).Examine(ctx, shim.Output)...)
}
