package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
)

// sendRequest is a message as the API takes it.
type sendRequest struct {
	CommandID      string `json:"command_id,omitempty"`
	Author         string `json:"author,omitempty"`
	Text           string `json:"text"`
	Provider       string `json:"provider,omitempty"`
	Model          string `json:"model,omitempty"`
	Effort         string `json:"effort,omitempty"`
	PermissionMode string `json:"permission_mode,omitempty"`
	CleanContext   bool   `json:"clean_context,omitempty"`
	HandoffDigest  string `json:"handoff_digest,omitempty"`
	HandoffText    string `json:"handoff_text,omitempty"`
}

func (a *app) sendCmd() *cobra.Command {
	var in sendRequest
	var handoffFile string
	var wait bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   `send THREAD "text"|-`,
		Short: "Give a thread a message; it is durable when this returns",
		Long: `Give a thread a message. When this returns without --wait, the message is durable;
on a thread that is at work it is queued.

With --wait it returns when the run has ended and prints the answer (exit 0; 1 when
it failed or was interrupted), or when the run waits for a person (exit 7, with the
ids of the requests).`,
		Example: `  baton send THREAD "why does the login fail?" --provider codex --wait
  git diff | baton send THREAD - --provider claude
  baton send THREAD "go on" --wait --timeout 10m --json`,
		Args:              needs("THREAD", `"text"|-`),
		ValidArgsFunction: a.completeThreads,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("timeout") && !wait {
				return baton.Errorf(baton.CodeInvalid, "--timeout is for --wait").WithHint("add --wait")
			}
			text, err := a.stdinOrArg(args[1])
			if err != nil {
				return err
			}
			// What can't be a message needs no server to say so; JSON would repair it in silence.
			if err := baton.CheckMessage(text); err != nil {
				return err
			}
			if cmd.Flags().Changed("handoff-file") {
				if in.HandoffText, err = handoffText(handoffFile); err != nil {
					return err
				}
			}
			in.Text, in.Author = text, a.author()
			if in.CommandID == "" {
				in.CommandID = newID(baton.PrefixCommand)
			}
			return a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
				return a.send(ctx, c, args[0], in, wait, timeout)
			})(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Provider, "provider", "", "who does this run (default: who did the last one)")
	f.StringVar(&in.Model, "model", "", "model from this run on, for this provider")
	f.StringVar(&in.Effort, "effort", "", "reasoning effort from this run on, for this provider")
	f.StringVar(&in.PermissionMode, "permission-mode", "", "permission mode from this run on, for this provider")
	f.BoolVar(&in.CleanContext, "clean-context", false, "into a new conversation of the agent, which is told the whole thread")
	f.StringVar(&in.HandoffDigest, "handoff-digest", "", "only with the handoff that baton handoff preview showed under this digest")
	f.StringVar(&handoffFile, "handoff-file", "", "the agent is told the text of this file instead of Baton's handoff")
	f.StringVar(&in.CommandID, "command-id", "", "id of this command: the same again sends nothing twice")
	f.BoolVar(&wait, "wait", false, "wait for the run's end and print the answer")
	f.DurationVar(&timeout, "timeout", 0, "with --wait: give up after this time (exit 6); the run goes on")
	a.completeProviders(cmd)
	return cmd
}

func (a *app) send(ctx context.Context, c *client.Client, thread string, in sendRequest, wait bool, timeout time.Duration) error {
	var reply baton.Reply
	if err := c.Post(ctx, client.Path("threads", thread, "messages"), in, &reply); err != nil {
		return err
	}
	if !wait {
		if a.json {
			return a.printJSON(reply)
		}
		state := "started"
		if reply.Queued {
			state = "queued"
		}
		fmt.Fprintf(a.out, "run %d %s (%s)\n", reply.Ordinal, state, reply.Run)
		return nil
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	out, err := await(ctx, c, string(reply.Thread), string(reply.Run))
	if errors.Is(err, context.DeadlineExceeded) {
		return baton.Errorf(baton.CodeTimedOut, "run %d has not ended after %s", reply.Ordinal, timeout).
			WithDetail("it goes on").WithHint("baton watch %s", reply.Thread)
	}
	if err != nil {
		a.goesOn(ctx, reply.Ordinal, string(reply.Thread))
		return err
	}
	return a.outcome(out)
}

// goesOn tells one who interrupts the command line that the run does not end with it.
func (a *app) goesOn(ctx context.Context, ordinal int, thread string) {
	if ctx.Err() != nil && !a.json {
		fmt.Fprintf(a.err, "run %d goes on; `baton watch %s` shows it, `baton stop %s` ends it\n", ordinal, thread, thread)
	}
}

// outcome prints what came of a run that was waited for.
func (a *app) outcome(out outcome) error {
	if a.json {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else if out.Answer != "" {
		if err := a.exact(out.Answer + "\n"); err != nil {
			return err
		}
	}
	switch {
	case out.waits():
		if !a.json {
			for _, q := range out.Requests {
				fmt.Fprintln(a.err, a.wrap(fmt.Sprintf("waits for you: %s (%s)", oneLine(q.Title), q.ID), ""))
				for _, line := range answerCommands(q.ID, q.Questions) {
					fmt.Fprintf(a.err, "  %s\n", line)
				}
			}
			if len(out.Requests) == 0 {
				fmt.Fprintf(a.err, "the queue of the thread is held: %s\n  baton queue %s resume\n", out.held, out.ThreadID)
			}
		}
		return exitWith(exitWaits)
	case out.Status == string(baton.RunCompleted):
		return nil
	case out.AbsorbedByRunID != "":
		return nil // its message was taken in by another run's turn
	}
	if !a.json {
		e := out.Error
		if e == nil {
			e = baton.Errorf(baton.CodeInterrupted, "run %d was %s", out.Ordinal, out.Status)
		}
		a.report(e)
	}
	return exitWith(exitFailed)
}

// readAtMost reads n bytes at most.
func readAtMost(r io.Reader, n int64) ([]byte, error) { return io.ReadAll(io.LimitReader(r, n)) }
