package main

import (
	"strings"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/agent/script"
	"baton/internal/shim"
)

// shimCmd holds one agent; the server starts it.
func (a *app) shimCmd() *cobra.Command {
	return &cobra.Command{
		Use: "shim DIR", Short: "Hold the agent of a session directory", Hidden: true, Args: needs("DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return ended(shim.Main(args[0])) },
	}
}

// agentCmd holds the agents that are built in.
func (a *app) agentCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "agent", Short: "Agents that are built in", Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return baton.Errorf(baton.CodeInvalid, "there is no built-in agent %q", strings.Join(args, " ")).WithHint("there is `baton agent script`")
		}}
	cmd.AddCommand(&cobra.Command{Use: "script", Short: "An agent that does what marks in messages tell it (ACP over stdio)", Args: needs(),
		RunE: func(*cobra.Command, []string) error {
			return ended(script.Main(a.in, raw(a.out), raw(a.err), func(k string) string { return a.env[k] }, buildVersion()))
		}})
	return cmd
}

func ended(code int) error {
	if code == 0 {
		return nil
	}
	return exitWith(code)
}
