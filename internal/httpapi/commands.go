package httpapi

import (
	"context"
	"net/http"
	"os"
	"path/filepath"

	"github.com/danielgtaylor/huma/v2"

	"baton"
	"baton/internal/journal"
)

// CommandBody is what every command may carry.
type CommandBody struct {
	CommandID string `json:"command_id,omitempty" maxLength:"200" doc:"made by the client; the same id again gives the first answer"`
	Author    string `json:"author,omitempty" maxLength:"200" doc:"who asks, where that is known"`
}

// SettingsBody are the settings of a thread or a message.
type SettingsBody struct {
	Model          string `json:"model,omitempty" maxLength:"200"`
	Effort         string `json:"effort,omitempty" maxLength:"200"`
	PermissionMode string `json:"permission_mode,omitempty" maxLength:"200"`
}

func (b SettingsBody) settings() baton.Settings {
	return baton.Settings{Model: b.Model, Effort: b.Effort, PermissionMode: b.PermissionMode}
}

type createBody struct {
	CommandBody
	SettingsBody
	Title    string `json:"title,omitempty" maxLength:"1000"`
	Dir      string `json:"dir" doc:"absolute path of the directory to work in"`
	Provider string `json:"provider,omitempty" maxLength:"200"`
}

type sendBody struct {
	CommandBody
	SettingsBody
	Text     string `json:"text"`
	Provider string `json:"provider,omitempty" maxLength:"200" doc:"of this run; default: the newest run's, else the thread's"`

	CleanContext  bool   `json:"clean_context,omitempty" doc:"into a new conversation of the agent, which is told the whole thread"`
	HandoffDigest string `json:"handoff_digest,omitempty" maxLength:"200" doc:"only with the handoff that was previewed; where it is another one now: conflict, or, for a queued message, held"`
	HandoffText   string `json:"handoff_text,omitempty" doc:"in place of the handoff's text"`
}

type answerBody struct {
	CommandBody
	Decision string              `json:"decision,omitempty" enum:"approve,approve_session,decline,cancel_turn,"`
	Reason   string              `json:"reason,omitempty" maxLength:"10000" doc:"for the agent, with a refusal"`
	Answers  map[string][]string `json:"answers,omitempty" doc:"by the key of the question"`
}

// do gives a command to its thread's owner.
func (s *Server) do(ctx context.Context, c CommandBody, thread baton.ThreadID, data baton.CommandData) (baton.Reply, error) {
	if c.CommandID == "" {
		c.CommandID = s.cfg.NewID(baton.PrefixCommand)
	}
	return s.cfg.Engine.Do(ctx, baton.Command{ID: baton.CommandID(c.CommandID), Thread: thread, Actor: baton.ActorPerson, Author: c.Author, Data: data})
}

// command registers a command. Its handler returns the thread and what to ask
// of its owner.
func command[I, O any](s *Server, path, id, summary string, handle func(ctx context.Context, in *I) (O, error)) {
	commandBy(s, http.MethodPost, path, id, summary, handle)
}

func commandBy[I, O any](s *Server, method, path, id, summary string, handle func(ctx context.Context, in *I) (O, error)) {
	op := huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, MaxBodyBytes: -1,
		// The body is in memory already. A deadline on reading would stay on the
		// connection and cancel a command that takes longer.
		BodyReadTimeout: -1}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*body[O], error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, s.fail(err)
		}
		return &body[O]{Body: out}, nil
	})
}

func (s *Server) commands() {
	command(s, "/api/threads", "create-thread", "Make a thread and nothing else", func(ctx context.Context, in *struct{ Body createBody }) (Thread, error) {
		dir, err := directory(in.Body.Dir)
		if err != nil {
			return Thread{}, err
		}
		project, err := s.cfg.Engine.Project(ctx, dir)
		if err != nil {
			return Thread{}, err
		}
		reply, err := s.do(ctx, in.Body.CommandBody, baton.ThreadID(s.cfg.NewID(baton.PrefixThread)),
			baton.CommandCreateThread{Title: in.Body.Title, Project: project.ID, Dir: dir, Provider: in.Body.Provider, Settings: in.Body.settings()})
		if err != nil {
			return Thread{}, err
		}
		return thread(ctx, s.cfg.Engine.Journal(), string(reply.Thread), 0)
	})
	type sendIn struct {
		ThreadPath
		Body sendBody
	}
	command(s, "/api/threads/{thread}/messages", "send-message", "Give the thread a message", func(ctx context.Context, in *sendIn) (baton.Reply, error) {
		// What can't be a message is said before anything else is looked at.
		if err := baton.CheckMessage(in.Body.Text); err != nil {
			return baton.Reply{}, err
		}
		data := baton.CommandSend{Text: in.Body.Text, Provider: in.Body.Provider, Settings: in.Body.settings(),
			CleanContext: in.Body.CleanContext, HandoffDigest: in.Body.HandoffDigest, HandoffText: in.Body.HandoffText}
		reply, err := s.onThread(ctx, in.Thread, in.Body.CommandBody, data)
		if data.HandoffDigest != "" && baton.ErrorCode(err) == baton.CodeConflict {
			return reply, s.withPlan(ctx, in.Thread, data, err)
		}
		return reply, err
	})
	type plainIn struct {
		ThreadPath
		Body CommandBody `required:"false"`
	}
	command(s, "/api/threads/{thread}/stop", "stop-thread", "Interrupt the active run, hold the queue, end what the agent left running", func(ctx context.Context, in *plainIn) (baton.Reply, error) {
		return s.onThread(ctx, in.Thread, in.Body, baton.CommandStop{})
	})
	command(s, "/api/threads/{thread}/queue/resume", "resume-queue", "Free a held queue", func(ctx context.Context, in *plainIn) (baton.Reply, error) {
		return s.onThread(ctx, in.Thread, in.Body, baton.CommandResumeQueue{})
	})
	type answerIn struct {
		Request string `path:"request"`
		Body    answerBody
	}
	command(s, "/api/requests/{request}/answer", "answer-request", "Answer an approval or questions", func(ctx context.Context, in *answerIn) (baton.Reply, error) {
		r := s.cfg.Engine.Journal()
		id, err := resolve(ctx, r, journal.KindRequest, in.Request)
		if err != nil {
			return baton.Reply{}, err
		}
		q, err := get[Request](ctx, r, journal.KindRequest, id)
		if err != nil {
			return baton.Reply{}, err
		}
		return s.do(ctx, in.Body.CommandBody, baton.ThreadID(q.ThreadID), baton.CommandAnswer{Request: baton.RequestID(id),
			Decision: baton.Decision(in.Body.Decision), Reason: in.Body.Reason, Answers: in.Body.Answers})
	})
}

func (s *Server) onThread(ctx context.Context, id string, c CommandBody, data baton.CommandData) (baton.Reply, error) {
	id, err := resolve(ctx, s.cfg.Engine.Journal(), journal.KindThread, id)
	if err != nil {
		return baton.Reply{}, err
	}
	return s.do(ctx, c, baton.ThreadID(id), data)
}

// directory checks where a thread is to work.
func directory(dir string) (string, error) {
	hint := "name an existing directory with --project"
	if !filepath.IsAbs(dir) {
		return "", baton.Errorf(baton.CodeInvalid, "the directory %q is not an absolute path", dir).WithHint("%s", hint)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", baton.Errorf(baton.CodeInvalid, "the directory %s is not there", dir).WithDetail("%v", err).WithHint("%s", hint)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", baton.Errorf(baton.CodeInvalid, "%s is not a directory", dir).WithHint("%s", hint)
	}
	return real, nil
}
