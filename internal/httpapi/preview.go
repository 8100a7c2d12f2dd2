package httpapi

import (
	"context"
	"net/http"

	udiff "github.com/aymanbagabas/go-udiff"

	"baton"
	"baton/internal/engine"
	"baton/internal/journal"
)

// Plan is what the next agent would be told. Without a handoff, it misses nothing.
type Plan struct {
	Provider         string         `json:"provider"`
	Strategy         baton.Strategy `json:"strategy"`
	ProviderThreadID string         `json:"provider_thread_id,omitempty" doc:"the conversation that it goes into; absent: a new one"`
	Queued           bool           `json:"queued" doc:"the thread is at work: a message is planned when it starts, and this may change until then"`
	Version          uint64         `json:"version" doc:"of the thread that was looked at"`
	Reasons          []baton.Reason `json:"reasons"`
	Rejected         []baton.Reason `json:"rejected"`
	Handoff          *Handoff       `json:"handoff,omitempty"`
	DraftIDs         []string       `json:"draft_ids" doc:"handoffs that were made again and go along, before this one"`
}

// PreviewBody is a message whose handoff is asked for.
type PreviewBody struct {
	SettingsBody
	Provider     string `json:"provider,omitempty" maxLength:"200"`
	CleanContext bool   `json:"clean_context,omitempty"`
	Text         string `json:"text,omitempty" doc:"the message, where it is known: a long one leaves less room"`
}

// HandoffDiff compares the texts of two handoffs.
type HandoffDiff struct {
	A       string `json:"a"`
	B       string `json:"b"`
	Unified string `json:"unified" doc:"empty where the texts are the same"`
}

func (s *Server) previews() {
	type previewIn struct {
		ThreadPath
		Body PreviewBody
	}
	command(s, "/api/threads/{thread}/handoff-preview", "preview-handoff", "What the next agent would be told, without sending anything", func(ctx context.Context, in *previewIn) (Plan, error) {
		id, err := resolve(ctx, s.cfg.Engine.Journal(), journal.KindThread, in.Thread)
		if err != nil {
			return Plan{}, err
		}
		return s.plan(ctx, baton.ThreadID(id), baton.CommandSend{Text: in.Body.Text, Provider: in.Body.Provider,
			Settings: in.Body.settings(), CleanContext: in.Body.CleanContext})
	})
	type regenerateIn struct {
		Handoff string `path:"handoff"`
		Body    struct {
			CommandBody
			Source string `json:"source,omitempty" maxLength:"200" doc:"who writes it: local"`
		} `required:"false"`
	}
	command(s, "/api/handoffs/{handoff}/regenerate", "regenerate-handoff", "Make a handoff again: in place of one that waits, or for the next run", func(ctx context.Context, in *regenerateIn) (baton.Reply, error) {
		r := s.cfg.Engine.Journal()
		id, err := resolve(ctx, r, journal.KindHandoff, in.Handoff)
		if err != nil {
			return baton.Reply{}, err
		}
		h, err := get[Handoff](ctx, r, journal.KindHandoff, id)
		if err != nil {
			return baton.Reply{}, err
		}
		return s.do(ctx, in.Body.CommandBody, baton.ThreadID(h.ThreadID), baton.CommandRegenerateHandoff{Handoff: baton.HandoffID(id), Source: in.Body.Source})
	})
	type diffIn struct {
		Handoff string `path:"handoff"`
		Other   string `path:"other"`
	}
	route(s, http.MethodGet, "/api/handoffs/{handoff}/diff/{other}", "diff-handoffs", "How the texts of two handoffs differ", func(ctx context.Context, r journal.Reader, in *diffIn) (HandoffDiff, error) {
		var two [2]Handoff
		for i, name := range []string{in.Handoff, in.Other} {
			id, err := resolve(ctx, r, journal.KindHandoff, name)
			if err != nil {
				return HandoffDiff{}, err
			}
			if two[i], err = get[Handoff](ctx, r, journal.KindHandoff, id); err != nil {
				return HandoffDiff{}, err
			}
		}
		a, b := two[0], two[1]
		return HandoffDiff{A: a.ID, B: b.ID, Unified: udiff.Unified(a.ID, b.ID, a.Text, b.Text)}, nil
	})
}

func (s *Server) plan(ctx context.Context, thread baton.ThreadID, data baton.CommandSend) (Plan, error) {
	p, err := s.cfg.Engine.Preview(ctx, thread, data)
	if err != nil {
		return Plan{}, err
	}
	return planOf(s, thread, p), nil
}

// withPlan adds to a refusal what would be handed over now.
func (s *Server) withPlan(ctx context.Context, thread string, data baton.CommandSend, refusal error) error {
	id, err := resolve(ctx, s.cfg.Engine.Journal(), journal.KindThread, thread)
	if err != nil {
		return refusal
	}
	plan, err := s.plan(ctx, baton.ThreadID(id), data)
	if err != nil {
		return refusal
	}
	return movedOn{refusal, plan}
}

func planOf(s *Server, thread baton.ThreadID, p engine.Preview) Plan {
	out := Plan{Provider: p.Provider, Strategy: p.Plan.Strategy, ProviderThreadID: string(p.Plan.ProviderThread), Queued: p.Behind, Version: p.Version,
		Reasons: append([]baton.Reason{}, p.Plan.Reasons...), Rejected: append([]baton.Reason{}, p.Plan.Rejected...)}
	out.DraftIDs = []string{}
	for _, id := range p.Drafts {
		out.DraftIDs = append(out.DraftIDs, string(id))
	}
	if p.Build == nil {
		return out
	}
	b := p.Built
	h := Handoff{ThreadID: string(thread), SourceThreadID: string(thread), Strategy: string(p.Plan.Strategy), Status: "preview",
		FromProviderThreadIDs: []string{}, ToProviderThreadID: string(p.Plan.ProviderThread), Text: b.Text, Digest: b.Digest, EstimatedTokens: b.Tokens,
		Omitted: &b.Omitted, Redactions: b.Redactions, CreatedByProvider: "local", Document: b.Document,
		CoveredRuns: &Covered{From: p.Plan.Covered.First(), To: p.Plan.Covered.Last()}}
	for _, iv := range p.Plan.Covered {
		h.Covered = append(h.Covered, [2]int{iv.From, iv.To})
	}
	if provider, err := s.cfg.Engine.Providers().Get(p.Provider); err == nil {
		h.Delivery = &HandoffDelivery{State: "preview", Mode: string(provider.Capabilities.Injection)}
	}
	out.Handoff = &h
	return out
}
