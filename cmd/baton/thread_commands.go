package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
)

// plainRequest is a command without more than its id.
type plainRequest struct {
	CommandID string `json:"command_id"`
	Author    string `json:"author,omitempty"`
}

func (a *app) stopCmd() *cobra.Command {
	id := ""
	cmd := &cobra.Command{
		Use:   "stop THREAD",
		Short: "Interrupt the active run, hold the queue, end what the agent left running",
		Long: `Interrupt the active run and hold the queue. The agent is asked first; one that does
not end its turn is stopped with everything that it started. Agents of the thread
that are idle are ended too; the thread itself stays as it is and can go on.`,
		Example:           "  baton stop THREAD\n  baton queue THREAD resume",
		Args:              needs("THREAD"),
		ValidArgsFunction: a.completeThreads,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			var reply baton.Reply
			if err := c.Post(ctx, client.Path("threads", args[0], "stop"), a.plain(id), &reply); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(reply)
			}
			if len(reply.Stopped) == 0 {
				fmt.Fprintln(a.out, "nothing was at work; the queue is held")
				return nil
			}
			fmt.Fprintln(a.out, "asked to end; the queue is held:")
			for _, s := range reply.Stopped {
				fmt.Fprintln(a.out, "  "+s)
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&id, "command-id", "", "id of this command")
	return cmd
}

func (a *app) queueCmd() *cobra.Command {
	id := ""
	cmd := &cobra.Command{
		Use:               "queue THREAD resume",
		Short:             "Free a queue that is held after a stop or a failure",
		Example:           "  baton queue THREAD resume",
		Args:              needs("THREAD", "resume"),
		ValidArgsFunction: a.completeThreads,
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[1] != "resume" {
				return baton.Errorf(baton.CodeInvalid, "a queue can't be told to %q", args[1]).WithHint("`baton queue THREAD resume` frees it")
			}
			return a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
				var reply baton.Reply
				if err := c.Post(ctx, client.Path("threads", args[0], "queue", "resume"), a.plain(id), &reply); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(reply)
				}
				fmt.Fprintln(a.out, "the queue goes on")
				return nil
			})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&id, "command-id", "", "id of this command")
	return cmd
}

func (a *app) plain(id string) plainRequest {
	if id == "" {
		id = newID(baton.PrefixCommand)
	}
	return plainRequest{CommandID: id, Author: a.author()}
}
