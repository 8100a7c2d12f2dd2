package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
	"baton/internal/modelscript"
)

func (a *app) debugCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "debug", Short: "Look inside: frames, events, effects, deliveries",
		Example: "  baton debug events 44a913f1",
		RunE: func(*cobra.Command, []string) error {
			return baton.Errorf(baton.CodeInvalid, "`baton debug` needs to know what to show").WithHint("baton debug --help")
		}}
	cmd.AddCommand(
		debugList[httpapi.Event](a, "events THREAD", "Events as the journal has them", "threads", "events", true),
		debugList[httpapi.Effect](a, "effects THREAD", "Effects that have not ended", "threads", "effects", false),
		debugList[httpapi.Delivery](a, "deliveries THREAD", "What was given to agents, and its fate", "threads", "deliveries", false),
		debugList[httpapi.Frame](a, "frames SESSION", "Frames of a living session that are still spooled", "sessions", "frames", true),
		a.debugSessionsCmd(), a.debugModelCmd())
	return cmd
}

// debugList prints a list: an array with --json, else one JSON value a line.
func debugList[T any](a *app, use, short, kind, what string, paged bool) *cobra.Command {
	after := uint64(0)
	complete := a.completeThreads
	if kind == "sessions" {
		complete = a.completeSessions
	}
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), Example: "  baton debug " + what + " 44a913f1", ValidArgsFunction: complete,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			q := url.Values{}
			if paged {
				q = url.Values{"after": {strconv.FormatUint(after, 10)}, "limit": {"10000"}}
			}
			list, err := client.All[T](ctx, c, client.Path("debug", kind, args[0], what), q)
			if err != nil {
				return err
			}
			return printLines(a, list)
		})}
	if paged {
		cmd.Flags().Uint64Var(&after, "after", 0, "only those behind this one")
	}
	return cmd
}

func printLines[T any](a *app, list []T) error {
	if a.json {
		return a.printJSON(list)
	}
	enc := json.NewEncoder(jsonTo(a.out))
	enc.SetEscapeHTML(false)
	for _, v := range list {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) debugSessionsCmd() *cobra.Command {
	return &cobra.Command{Use: "sessions THREAD", Short: "The agent processes of a thread, living and dead", Args: needs("THREAD"),
		Example: "  baton debug sessions 44a913f1", ValidArgsFunction: a.completeThreads,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			list, err := client.All[httpapi.Session](ctx, c, client.Path("threads", args[0], "sessions"), nil)
			if err != nil {
				return err
			}
			return printLines(a, list)
		})}
}

// debugModelCmd runs the scripted model server by hand.
func (a *app) debugModelCmd() *cobra.Command {
	var o modelscript.Options
	cmd := &cobra.Command{
		Use: "model", Short: "Run a scripted model server, which says what messages tell it to",
		Long: `Run a scripted model server on 127.0.0.1 and print its address. Point a real agent at
it to see what the model is sent; marks in messages say what the model answers.`,
		Example: "  baton debug model --addr 127.0.0.1:4141 --record requests.jsonl",
		Args:    needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := modelscript.Start(o)
			if err != nil {
				return baton.Errorf(baton.CodeInvalid, "the model server can't be started").WithDetail("%v", err).WithHint("choose another --addr")
			}
			fmt.Fprintln(a.out, s.URL())
			<-cmd.Context().Done()
			return s.Close()
		},
	}
	cmd.Flags().StringVar(&o.Addr, "addr", "127.0.0.1:0", "address to listen on")
	cmd.Flags().StringVar(&o.Record, "record", "", "file to append a JSON line to for each request")
	return cmd
}
