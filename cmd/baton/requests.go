package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

func (a *app) requestsCmd() *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:               "requests [THREAD]",
		Short:             "List what agents ask and wait for",
		Example:           "  baton requests\n  baton requests THREAD --all",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeThreads,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			q := url.Values{}
			if len(args) == 1 {
				q.Set("thread", args[0])
			}
			if all {
				q.Set("all", "true")
			}
			list, err := client.All[httpapi.Request](ctx, c, "/api/requests", q)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				fmt.Fprintln(a.out, "nothing waits for you")
			}
			for _, r := range list {
				a.showRequest(r)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "with those that have ended")
	return cmd
}

func (a *app) showRequest(r httpapi.Request) {
	color := yellow
	if r.Status != string(baton.RequestPending) {
		color = dim
	}
	title := hang(a.wrap(oneLine(r.Title), strings.Repeat(" ", len(r.Status)+2)))
	fmt.Fprintf(a.out, "%s  %s\n", a.style(color, r.Status), a.style(bold, title))
	a.fields("  ", part{text: r.ID}, part{text: r.Kind}, part{text: "in " + r.ThreadID})
	if r.Detail != "" {
		fmt.Fprintln(a.out, a.wrap(r.Detail, "  "))
	}
	for _, q := range r.Questions {
		fmt.Fprintln(a.out, a.wrap(q.Key+": "+q.Text, "  "))
		for _, o := range q.Options {
			fmt.Fprintln(a.out, a.wrap("- "+o.Label, "    "))
		}
	}
	if r.Status == string(baton.RequestPending) {
		a.showAnswers("  ", r.ID, r.Questions)
		return
	}
	if r.AnsweredBy != "" {
		fmt.Fprintf(a.out, "  %s by %s %s\n", first(r.Decision, "answered"), r.AnsweredBy, r.Reason)
	} else if r.Reason != "" {
		fmt.Fprintln(a.out, a.wrap(r.Reason, "  "))
	}
}

// answerRequest is an answer as the API takes it.
type answerRequest struct {
	plainRequest
	Decision baton.Decision      `json:"decision,omitempty"`
	Reason   string              `json:"reason,omitempty"`
	Answers  map[string][]string `json:"answers,omitempty"`
}

func (a *app) answer(ctx context.Context, c *client.Client, id string, in answerRequest, done string) error {
	var reply baton.Reply
	if err := c.Post(ctx, client.Path("requests", id, "answer"), in, &reply); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(reply)
	}
	fmt.Fprintln(a.out, done)
	return nil
}

func (a *app) approveCmd() *cobra.Command {
	session, id := false, ""
	cmd := &cobra.Command{
		Use: "approve REQUEST", Short: "Allow what an agent asks, once or for the life of its process",
		Example:           "  baton approve req_01…\n  baton approve req_01… --session",
		Args:              needs("REQUEST"),
		ValidArgsFunction: a.completeRequests,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			in := answerRequest{plainRequest: a.plain(id), Decision: baton.ApproveOnce}
			if session {
				in.Decision = baton.ApproveSession
			}
			return a.answer(ctx, c, args[0], in, "approved")
		}),
	}
	cmd.Flags().BoolVar(&session, "session", false, "for the life of this agent process")
	cmd.Flags().StringVar(&id, "command-id", "", "id of this command")
	return cmd
}

func (a *app) declineCmd() *cobra.Command {
	why, cancel, id := "", false, ""
	cmd := &cobra.Command{
		Use: "decline REQUEST", Short: "Refuse what an agent asks",
		Example:           "  baton decline req_01… -m \"use the test database\"\n  baton decline req_01… --cancel-turn",
		Args:              needs("REQUEST"),
		ValidArgsFunction: a.completeRequests,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			in := answerRequest{plainRequest: a.plain(id), Decision: baton.Decline, Reason: why}
			if cancel {
				in.Decision = baton.CancelTurn
			}
			return a.answer(ctx, c, args[0], in, "declined")
		}),
	}
	cmd.Flags().StringVarP(&why, "message", "m", "", "why: the agent is told")
	cmd.Flags().BoolVar(&cancel, "cancel-turn", false, "end the turn too")
	cmd.Flags().StringVar(&id, "command-id", "", "id of this command")
	return cmd
}

func (a *app) answerCmd() *cobra.Command {
	id := ""
	cmd := &cobra.Command{
		Use: "answer REQUEST key=value…", Short: "Answer an agent's questions",
		Long:    "Answer an agent's questions. A key may be given more than once where several answers are allowed.",
		Example: "  baton answer req_01… color=blue size=\"very large\"",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return needs("REQUEST", "key=value…")(cmd, args)
			}
			return nil
		},
		ValidArgsFunction: a.completeRequests,
		RunE: func(cmd *cobra.Command, args []string) error {
			in := answerRequest{plainRequest: a.plain(id), Answers: map[string][]string{}}
			for _, kv := range args[1:] {
				k, v, ok := strings.Cut(kv, "=")
				if !ok || k == "" || strings.TrimSpace(v) == "" {
					return baton.Errorf(baton.CodeInvalid, "%q is no answer", kv).WithHint("write key=value; a blank answer is none")
				}
				in.Answers[k] = append(in.Answers[k], v)
			}
			return a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
				return a.answer(ctx, c, args[0], in, "answered")
			})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&id, "command-id", "", "id of this command")
	return cmd
}
