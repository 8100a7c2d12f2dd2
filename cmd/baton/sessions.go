package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

func (a *app) sessionsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions",
		Short:   "List the agent processes that live, or end an idle one",
		Long:    "List the agent processes that live, with what goes on in them. MEMORY is that of the\nagent and all that it has started, where the system tells.",
		Example: "  baton sessions\n  baton sessions stop 5b0c9e11",
		Args:    needs(),
		RunE: a.withServer(func(ctx context.Context, c *client.Client, _ []string) error {
			list, err := client.All[httpapi.LivingSession](ctx, c, "/api/sessions", nil)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				fmt.Fprintln(a.out, "no agent runs")
				return nil
			}
			now := time.Now()
			rows := [][]string{{"ID", "THREAD", "PROVIDER", "STATE", "IDLE", "PID", "MEMORY", "TITLE"}}
			for _, x := range list {
				idle, pid, memory := "–", "–", "–"
				if x.IdleSince != nil {
					idle = age(now, *x.IdleSince)
				}
				if x.PID > 0 {
					pid = fmt.Sprint(x.PID)
				}
				if x.Memory > 0 {
					memory = fmt.Sprintf("%d MB", x.Memory>>20)
				}
				rows = append(rows, []string{shortID(x.ID), shortID(x.ThreadID), x.Provider, x.Activity, idle, pid, memory, x.ThreadTitle})
			}
			a.table(rows, nil)
			return nil
		}),
	}
	id := ""
	stop := &cobra.Command{
		Use:               "stop SESSION",
		Short:             "End an idle agent process; its thread goes on with another one when it has to",
		Long:              "End an idle agent process and all that it started. One that is at work is refused:\n`baton stop THREAD` interrupts the work.",
		Example:           "  baton sessions stop 5b0c9e11",
		Args:              needs("SESSION"),
		ValidArgsFunction: a.completeSessions,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			var reply baton.Reply
			if err := c.Post(ctx, client.Path("sessions", args[0], "stop"), a.plain(id), &reply); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(reply)
			}
			if len(reply.Stopped) == 0 {
				fmt.Fprintln(a.out, "it has ended already")
				return nil
			}
			fmt.Fprintln(a.out, "asked to end: "+reply.Stopped[0])
			return nil
		}),
	}
	stop.Flags().StringVar(&id, "command-id", "", "id of this command")
	cmd.AddCommand(stop)
	return cmd
}
