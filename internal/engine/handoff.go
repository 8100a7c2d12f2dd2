package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"baton"
	"baton/internal/decide"
	"baton/internal/handoff"
	"baton/internal/journal"
)

// buildHandoff reads the covered runs at one point of the journal and makes the
// document.
func (e *Engine) buildHandoff(ctx context.Context, thread baton.ThreadID, data baton.EffectBuildHandoff) baton.Fact {
	var built baton.FactHandoffBuilt
	err := e.cfg.Journal.View(ctx, func(r journal.Reader) (err error) {
		built, err = document(ctx, r, thread, data)
		return err
	})
	if err == nil {
		return built
	}
	return baton.FactHandoffFailed{Handoff: data.Handoff, Err: baton.Errorf(baton.CodeInternal, "the handoff could not be made").
		WithDetail("%v; nothing was sent, and the message is kept in the thread", err).WithHint("send the message again")}
}

// document is the same bytes for the same point of the journal and the same
// data, whoever asks: what is previewed is what is sent.
func document(ctx context.Context, r journal.Reader, thread baton.ThreadID, data baton.EffectBuildHandoff) (baton.FactHandoffBuilt, error) {
	src, err := readSource(ctx, r, thread, data)
	if err != nil {
		return baton.FactHandoffBuilt{}, err
	}
	src.Budget = data.Budget
	built, err := handoff.Build(src)
	return baton.FactHandoffBuilt{Handoff: data.Handoff, Document: built.Document, Text: built.Text, Digest: built.Digest,
		Tokens: built.Tokens, Omitted: built.Omitted, Redactions: built.Redactions, Squeezed: built.Squeezed}, err
}

// The parts of stored documents that a handoff is made of.
type (
	runDoc struct {
		ID         baton.RunID     `json:"id"`
		Ordinal    int             `json:"ordinal"`
		Provider   string          `json:"provider"`
		Status     baton.RunStatus `json:"status"`
		Err        *baton.Error    `json:"error"`
		AbsorbedBy baton.RunID     `json:"absorbed_by_run_id"`
		Message    baton.MessageID `json:"message_id"`
	}
	itemDoc struct {
		ID   baton.ItemID   `json:"id"`
		Kind baton.ItemKind `json:"kind"`
		Body baton.ItemBody `json:"body"`
	}
	messageDoc struct {
		Text   string `json:"text"`
		Author string `json:"author"`
	}
	requestDoc struct {
		ID        baton.RequestID     `json:"id"`
		Item      baton.ItemID        `json:"item_id"`
		Kind      baton.RequestKind   `json:"kind"`
		By        string              `json:"answered_by"`
		Decision  baton.Decision      `json:"decision"`
		Reason    string              `json:"reason"`
		Answers   map[string][]string `json:"answers"`
		Title     string              `json:"title"`
		Detail    string              `json:"detail"`
		Status    baton.RequestStatus `json:"status"`
		Questions []baton.Question    `json:"questions"`
	}
)

// readSource gathers what a handoff of the covered runs tells. A message that
// another run's turn took is told with that run.
func readSource(ctx context.Context, r journal.Reader, thread baton.ThreadID, data baton.EffectBuildHandoff) (handoff.Source, error) {
	src := handoff.Source{Thread: thread, Strategy: data.Strategy, To: data.Target, Covered: data.Covered, Known: data.Known}
	if doc, err := r.Get(ctx, journal.KindThread, string(thread)); err == nil {
		var t struct{ Title string }
		_ = json.Unmarshal(doc.Body, &t)
		src.Title = t.Title
	}
	runs, err := all[runDoc](ctx, r, journal.Query{Kind: journal.KindRun, Thread: thread})
	if err != nil {
		return src, err
	}
	if len(runs) > 0 { // a title that repeats the first message tells nothing new
		m, err := message(ctx, r, runs[0])
		if err == nil && decide.TitleOf(m.Text) == src.Title {
			src.Title = ""
		}
	}
	requests, err := all[requestDoc](ctx, r, journal.Query{Kind: journal.KindRequest, Thread: thread})
	if err != nil {
		return src, err
	}
	answers := map[baton.ItemID]*handoff.Answer{}
	for _, q := range requests {
		switch q.Status {
		case baton.RequestPending:
			src.Open.Requests = append(src.Open.Requests, handoff.OpenRequest{ID: q.ID, Kind: q.Kind, Title: q.Title, Detail: q.Detail, Questions: q.Questions})
		case baton.RequestResolved:
			answers[q.Item] = &handoff.Answer{By: q.By, Decision: q.Decision, Reason: q.Reason, Answers: q.Answers}
		}
	}
	for _, run := range runs {
		if !data.Covered.Has(run.Ordinal) || run.Status == baton.RunCancelled || run.Status == baton.RunRolledBack {
			continue
		}
		if !slices.Contains(src.From, run.Provider) {
			src.From = append(src.From, run.Provider)
		}
		if data.Known.Has(run.Ordinal) {
			continue
		}
		out := handoff.Run{Ordinal: run.Ordinal, Provider: run.Provider, Status: run.Status, Err: run.Err}
		for _, other := range runs {
			if other.ID != run.ID && other.AbsorbedBy != run.ID || other.Message == "" {
				continue
			}
			m, err := message(ctx, r, other)
			if err != nil {
				return src, err
			}
			if out.Message != "" {
				out.Message += "\n\n"
			}
			out.Message += m.Text
			out.Author = m.Author
		}
		items, err := all[itemDoc](ctx, r, journal.Query{Kind: journal.KindItem, Thread: thread, Run: run.ID})
		if err != nil {
			return src, err
		}
		out.Items = slices.Grow(out.Items, len(items))
		for _, it := range items {
			out.Items = append(out.Items, handoff.Item{ID: it.ID, Kind: it.Kind, Status: it.Body.Status, Body: it.Body.Marked(), Answer: answers[it.ID]})
		}
		src.Runs = append(src.Runs, out)
	}
	progress(&src)
	return src, nil
}

func message(ctx context.Context, r journal.Reader, run runDoc) (m messageDoc, err error) {
	doc, err := r.Get(ctx, journal.KindMessage, string(run.Message))
	if err == nil {
		err = json.Unmarshal(doc.Body, &m)
	}
	if err != nil {
		err = fmt.Errorf("message of run %d: %w", run.Ordinal, err)
	}
	return m, err
}

// progress takes the newest plan and todo list as those that are open.
func progress(src *handoff.Source) {
	for _, run := range src.Runs {
		for _, it := range run.Items {
			switch it.Kind {
			case baton.ItemTodo:
				src.Open.Todo = it.Body.Steps
			case baton.ItemPlan:
				src.Open.Plan = &handoff.OpenPlan{Status: "active", Text: it.Body.Text}
			}
		}
	}
}

// all reads every document of a query, page by page.
func all[T any](ctx context.Context, r journal.Reader, q journal.Query) ([]T, error) {
	var out []T
	q.Limit = 1000
	for {
		docs, err := r.List(ctx, q)
		if err != nil {
			return nil, err
		}
		if n := len(out) + len(docs); n > cap(out) { // items are large, and there may be many thousand
			out = slices.Grow(out, 2*n-len(out))
		}
		for _, d := range docs {
			out = append(out, *new(T))
			if err := json.Unmarshal(d.Body, &out[len(out)-1]); err != nil {
				return nil, fmt.Errorf("%s %s: %w", d.Kind, d.ID, err)
			}
			q.After = d.Position
		}
		if len(docs) < q.Limit {
			return out, nil
		}
	}
}
