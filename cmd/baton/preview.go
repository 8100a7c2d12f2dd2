package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

func (a *app) previewCmd() *cobra.Command {
	var in httpapi.PreviewBody
	cmd := &cobra.Command{
		Use: "preview THREAD", Short: "Show what the next agent would be told, and why, without sending anything",
		Long: `Show the whole plan of the next message: into which conversation of the agent it
goes, why, and byte for byte what would be handed over. Nothing is sent or changed.

Send with the digest that it shows, and what is sent is what was seen. Save the text
(it is all that is printed when the output is no terminal), edit it and send it with
--handoff-file, and the agent is told your text instead.`,
		Example: `  baton handoff preview THREAD --provider codex
  baton send THREAD "go on" --provider codex --handoff-digest sha256:…
  baton handoff preview THREAD --provider codex >told.txt && $EDITOR told.txt
  baton send THREAD "go on" --provider codex --handoff-file told.txt`,
		Args: needs("THREAD"), ValidArgsFunction: a.completeThreads,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			var p httpapi.Plan
			if err := c.Post(ctx, client.Path("threads", args[0], "handoff-preview"), in, &p); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(p)
			}
			return a.showPlan(p)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&in.Provider, "provider", "", "who would do the run (default: who did the last one)")
	f.StringVar(&in.Model, "model", "", "with this model")
	f.StringVar(&in.Effort, "effort", "", "with this reasoning effort")
	f.StringVar(&in.PermissionMode, "permission-mode", "", "with this permission mode")
	f.BoolVar(&in.CleanContext, "clean-context", false, "into a new conversation of the agent")
	a.completeProviders(cmd)
	return cmd
}

// showPlan prints the plan to the terminal; where the output goes to a file or a
// pipe, that gets the text alone and the person's terminal the rest.
func (a *app) showPlan(p httpapi.Plan) error {
	out := a.out
	if !a.tty {
		out = a.err
	}
	into := "a new conversation"
	if p.ProviderThreadID != "" {
		into = "conversation " + shortID(p.ProviderThreadID)
	}
	fmt.Fprintln(out, a.style(bold, a.wrap(fmt.Sprintf("%s, %s: %s", p.Provider, into, p.Strategy), "")))
	for _, r := range p.Reasons {
		a.showReason(out, "  ", r)
	}
	for _, r := range p.Rejected {
		fmt.Fprintln(out, a.wrap("not "+reasonOf(r), "  "))
	}
	if p.Queued {
		fmt.Fprintln(out, a.wrap("the thread is at work: a message would be queued, and planned when it starts", ""))
	}
	for _, id := range p.DraftIDs {
		fmt.Fprintf(out, "the handoff %s, which was made again, goes along\n", id)
	}
	h := p.Handoff
	if h == nil {
		fmt.Fprintln(out, "nothing would be handed over")
		return nil
	}
	fmt.Fprintln(out, a.wrap(fmt.Sprintf("runs %s, about %d tokens, %s, %s", covered(*h), h.EstimatedTokens, count(h.Omitted.Count, "item left out", "items left out"),
		count(h.Redactions, "secret taken out", "secrets taken out")), ""))
	fmt.Fprintln(out, a.style(dim, h.Digest))
	if a.tty {
		fmt.Fprintln(a.out)
		fmt.Fprintln(a.out, h.Text)
		return nil
	}
	return a.exact(h.Text)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (a *app) regenerateCmd() *cobra.Command {
	var in struct {
		CommandID string `json:"command_id,omitempty"`
		Source    string `json:"source,omitempty"`
	}
	cmd := &cobra.Command{
		Use: "regenerate HANDOFF", Short: "Make a handoff again: in place of one that waits, or for the next run",
		Long: `Make a handoff again. One that waits for its run is superseded. One that an agent
has been given stays as evidence of what it was told; a draft of the same runs is
made and goes with the next run into the same conversation.`,
		Example: "  baton handoff regenerate hnd_01…", Args: needs("HANDOFF"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			in.CommandID = newID(baton.PrefixCommand)
			var reply baton.Reply
			if err := c.Post(ctx, client.Path("handoffs", args[0], "regenerate"), in, &reply); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(reply)
			}
			fmt.Fprintf(a.out, "%s takes its place\n", reply.Handoff)
			return nil
		}),
	}
	cmd.Flags().StringVar(&in.Source, "source", "", "who writes it (local)")
	return cmd
}

func (a *app) handoffDiffCmd() *cobra.Command {
	return &cobra.Command{
		Use: "diff A B", Short: "Show how the texts of two handoffs differ", Example: "  baton handoff diff hnd_01… hnd_02…",
		Args: needs("A", "B"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			var d httpapi.HandoffDiff
			if err := c.Get(ctx, client.Path("handoffs", args[0], "diff", args[1]), nil, &d); err != nil {
				return err
			}
			switch {
			case a.json:
				return a.printJSON(d)
			case d.Unified == "":
				fmt.Fprintln(a.err, "the texts are the same")
			default:
				return a.exact(d.Unified)
			}
			return nil
		}),
	}
}

// handoffText reads the text that takes a handoff's place.
func handoffText(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", baton.Errorf(baton.CodeInvalid, "the handoff's text can't be read").WithDetail("%v; the message was not sent", err).
			WithHint("name a file that holds the text")
	}
	defer f.Close()
	b, err := readAtMost(f, baton.MaxHandoff+1)
	if err != nil {
		return "", baton.Errorf(baton.CodeInvalid, "the handoff's text can't be read").WithDetail("%v; the message was not sent", err).
			WithHint("name a file that holds the text")
	}
	if len(b) == 0 {
		b = []byte(" ") // an empty file is an empty text, not the absence of one
	}
	return string(b), baton.CheckHandoff(string(b))
}
