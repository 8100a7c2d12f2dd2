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
	covered := slices.DeleteFunc(slices.Clone(runs), func(run runDoc) bool {
		return !data.Covered.Has(run.Ordinal) || run.Status == baton.RunCancelled || run.Status == baton.RunRolledBack
	})
	for _, run := range covered {
		if !slices.Contains(src.From, run.Provider) {
			src.From = append(src.From, run.Provider)
		}
	}
	covered = slices.DeleteFunc(covered, func(run runDoc) bool { return data.Known.Has(run.Ordinal) })
	with := map[baton.RunID][]runDoc{} // a run, and those that its turn took in, in order
	for _, run := range runs {
		if run.AbsorbedBy != "" {
			with[run.AbsorbedBy] = append(with[run.AbsorbedBy], run)
		}
		with[run.ID] = append(with[run.ID], run)
	}
	messages, err := readMessages(ctx, r, thread, covered, with)
	if err != nil {
		return src, err
	}
	items, err := readItems(ctx, r, thread, covered, answers)
	if err != nil {
		return src, err
	}
	for _, run := range covered {
		out := handoff.Run{Ordinal: run.Ordinal, Provider: run.Provider, Status: run.Status, Err: run.Err, Items: items[run.ID]}
		for _, m := range messages[run.ID] {
			if out.Message != "" {
				out.Message += "\n\n"
			}
			out.Message += m.Text
			out.Author = m.Author
		}
		src.Runs = append(src.Runs, out)
	}
	progress(&src)
	return src, nil
}

// manyRuns is from how many covered runs on the messages of the whole thread are
// read at once.
const manyRuns = 16

// readMessages reads the inputs of the covered runs.
func readMessages(ctx context.Context, r journal.Reader, thread baton.ThreadID, covered []runDoc, with map[baton.RunID][]runDoc) (map[baton.RunID][]messageDoc, error) {
	known := map[baton.MessageID]messageDoc{}
	if len(covered) >= manyRuns {
		err := pages(ctx, r, journal.Query{Kind: journal.KindMessage, Thread: thread}, func(docs []journal.Document) error {
			for _, d := range docs {
				var m messageDoc
				if err := json.Unmarshal(d.Body, &m); err != nil {
					return fmt.Errorf("message %s: %w", d.ID, err)
				}
				known[baton.MessageID(d.ID)] = m
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out := map[baton.RunID][]messageDoc{}
	for _, run := range covered {
		for _, other := range with[run.ID] {
			if other.Message == "" {
				continue
			}
			m, ok := known[other.Message]
			if !ok {
				var err error
				if m, err = message(ctx, r, other); err != nil {
					return nil, err
				}
			}
			out[run.ID] = append(out[run.ID], m)
		}
	}
	return out, nil
}

// noBody is the body of items whose own is not needed.
var noBody baton.ItemBody

// readItems reads what a handoff needs of the covered runs' items: those of the
// thread from the first that belongs to a covered run on, since a query for each
// of a thousand runs takes longer.
func readItems(ctx context.Context, r journal.Reader, thread baton.ThreadID, covered []runDoc, answers map[baton.ItemID]*handoff.Answer) (map[baton.RunID][]handoff.Item, error) {
	out, fresh := map[baton.RunID][]handoff.Item{}, map[baton.RunID]bool{}
	q, found := journal.Query{Kind: journal.KindItem, Thread: thread}, false
	for i, run := range covered {
		out[run.ID], fresh[run.ID] = nil, len(covered)-i <= handoff.FreshRuns
		if !found {
			first, err := r.List(ctx, journal.Query{Kind: journal.KindItem, Thread: thread, Run: run.ID, Limit: 1})
			if err != nil {
				return nil, err
			}
			if found = len(first) > 0; found {
				q.After = first[0].Position - 1 // 0 is from the start
			}
		}
	}
	if !found {
		return out, nil
	}
	var bodies []baton.ItemBody // those that are free; they are large, and one by one would be many
	err := pages(ctx, r, q, func(docs []journal.Document) error {
		for _, d := range docs {
			items, ok := out[d.Run]
			if !ok {
				continue
			}
			if len(bodies) == 0 {
				bodies = make([]baton.ItemBody, 64)
			}
			it, need, err := readItem(d.Body, fresh[d.Run], &bodies[0])
			if err != nil {
				return fmt.Errorf("item %s: %w", d.ID, err)
			}
			switch need {
			case handoff.Content:
				bodies = bodies[1:]
			case handoff.Presence:
				it.Body, bodies[0] = &noBody, baton.ItemBody{}
			}
			if need != handoff.Nothing {
				it.Answer = answers[it.ID]
				out[d.Run] = append(items, it)
			}
		}
		return nil
	})
	return out, err
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
				src.Open.Plan = &handoff.OpenPlan{Status: "active", Text: it.Body.Text, Cut: it.Body.Cut}
			}
		}
	}
}

// all reads every document of a query.
func all[T any](ctx context.Context, r journal.Reader, q journal.Query) ([]T, error) {
	var out []T
	err := pages(ctx, r, q, func(docs []journal.Document) error {
		for _, d := range docs {
			out = append(out, *new(T))
			if err := json.Unmarshal(d.Body, &out[len(out)-1]); err != nil {
				return fmt.Errorf("%s %s: %w", d.Kind, d.ID, err)
			}
		}
		return nil
	})
	return out, err
}

// pages gives the documents of a query to each, page by page.
func pages(ctx context.Context, r journal.Reader, q journal.Query, each func([]journal.Document) error) error {
	q.Limit = 1000
	for {
		docs, err := r.List(ctx, q)
		if err != nil {
			return err
		}
		if err := each(docs); err != nil || len(docs) < q.Limit {
			return err
		}
		q.After, q.AfterID = docs[len(docs)-1].Position, docs[len(docs)-1].ID
	}
}
