package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"baton"
	"baton/internal/journal"
)

// get reads one document into its wire struct.
func get[T any](ctx context.Context, r journal.Reader, kind journal.Kind, id string) (T, error) {
	var v T
	doc, err := r.Get(ctx, kind, id)
	if errors.Is(err, journal.ErrNotFound) {
		return v, noSuch(kind, id)
	}
	if err != nil {
		return v, err
	}
	return decode[T](doc)
}

func noSuch(kind journal.Kind, id string) error {
	hint := "`baton ls` shows the threads, `baton show THREAD` what is in one"
	switch kind {
	case journal.KindThread:
		hint = "`baton ls` shows the threads"
	case journal.KindRequest:
		hint = "`baton requests` shows the requests that wait"
	case journal.KindHandoff:
		hint = "`baton handoff list THREAD` shows the handoffs"
	}
	return baton.Errorf(baton.CodeNotFound, "there is no %s %s", strings.ReplaceAll(string(kind), "_", " "), clip(id)).WithHint("%s", hint)
}

func decode[T any](doc journal.Document) (T, error) {
	var v T
	if err := json.Unmarshal(doc.Body, &v); err != nil {
		return v, fmt.Errorf("%s %s: %w", doc.Kind, doc.ID, err)
	}
	return v, nil
}

// every reads all documents of a query, page by page.
func every[T any](ctx context.Context, r journal.Reader, q journal.Query) ([]T, error) {
	out := []T{}
	q.Limit = 1000
	for {
		docs, err := r.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, d := range docs {
			v, err := decode[T](d)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
			q.After, q.AfterID = d.Position, d.ID
		}
		if len(docs) < q.Limit {
			return out, nil
		}
	}
}

// page reads one part of a list and the cursor of the next.
func page[T any](ctx context.Context, r journal.Reader, q journal.Query, cursor string) (Page[T], error) {
	docs, next, err := part(ctx, r, q, cursor)
	out := Page[T]{Items: []T{}, Next: next}
	for _, d := range docs {
		v, err := decode[T](d)
		if err != nil {
			return Page[T]{}, err
		}
		out.Items = append(out.Items, v)
	}
	return out, err
}

// part reads one part of a list, undecoded.
func part(ctx context.Context, r journal.Reader, q journal.Query, cursor string) (docs []journal.Document, next string, err error) {
	if cursor != "" {
		at, id, ok := strings.Cut(cursor, "~")
		n, err := strconv.ParseInt(at, 10, 64)
		if !ok || err != nil {
			return nil, "", baton.Errorf(baton.CodeInvalid, "the cursor %q is none of ours", cursor).WithHint("take `next` of the part before")
		}
		q.After, q.AfterID = n, id
	}
	limit := q.Limit
	q.Limit++
	if docs, err = r.List(ctx, q); err != nil {
		return nil, "", err
	}
	if len(docs) > limit {
		docs = docs[:limit]
		last := docs[limit-1]
		next = strconv.FormatInt(last.Position, 10) + "~" + last.ID
	}
	return docs, next, nil
}

// resolve returns the whole id of a document that may be named by the
// beginning or the end of its id, as long as that is unique.
func resolve(ctx context.Context, r journal.Reader, kind journal.Kind, id string) (string, error) {
	if _, err := r.Get(ctx, kind, id); err == nil || !errors.Is(err, journal.ErrNotFound) {
		return id, err
	}
	if len(id) < 4 {
		return "", noSuch(kind, id)
	}
	q := journal.Query{Kind: kind, Desc: true, Limit: 1000}
	var hits []string
	for {
		docs, err := r.List(ctx, q)
		if err != nil {
			return "", err
		}
		for _, d := range docs {
			if strings.HasPrefix(d.ID, id) || strings.HasSuffix(d.ID, id) {
				hits = append(hits, d.ID)
			}
			q.After, q.AfterID = d.Position, d.ID
		}
		if len(docs) < q.Limit {
			break
		}
	}
	switch len(hits) {
	case 0:
		return "", noSuch(kind, id)
	case 1:
		return hits[0], nil
	}
	return "", baton.Errorf(baton.CodeConflict, "%s is the beginning or the end of more than one id", id).
		WithDetail("it fits %s", strings.Join(hits[:min(len(hits), 5)], ", ")).WithHint("write more of it")
}

// threadDoc is a stored thread with what only the journal needs.
type threadDoc struct {
	Thread
	OpenRuns map[string]struct {
		Status string `json:"status"`
	} `json:"open_runs"`
	Pending map[string]PendingRequest `json:"pending_requests"`
}

// thread is what a list shows of a thread.
func (d threadDoc) thread() Thread {
	t := d.Thread
	t.Lineage = Lineage{RootThreadID: t.ID}
	t.PendingRequests = nil
	for id, q := range d.Pending {
		q.ID = id
		t.PendingRequests = append(t.PendingRequests, q)
	}
	slices.SortFunc(t.PendingRequests, func(a, b PendingRequest) int { return strings.Compare(a.ID, b.ID) })
	t.Activity = d.activity()
	return t
}

func (d threadDoc) activity() string {
	active, queued := "", 0
	for _, r := range d.OpenRuns {
		if r.Status == string(baton.RunQueued) {
			queued++
		} else {
			active = r.Status
		}
	}
	return activity(len(d.Pending), active, queued, d.QueueHeld)
}

// activity is what goes on in a thread: active is the status of the run that is
// neither queued nor ended, "" for none.
func activity(pending int, active string, queued int, held bool) string {
	switch {
	case pending > 0:
		return "waiting"
	case active != "":
		return active
	case queued > 0 && held:
		return "held"
	case queued > 0:
		return "queued"
	}
	return "idle"
}

// handoffIDs are the handoffs of the newest attempt, in the order in which they
// were given; before that, the one that it waits for.
func (v Run) handoffIDs() []string {
	if len(v.Handoffs) == 0 && v.HandoffID != "" {
		return []string{v.HandoffID}
	}
	ids := slices.Collect(maps.Keys(v.Handoffs))
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(v.Handoffs[a], v.Handoffs[b]) })
	return append([]string{}, ids...)
}

// run puts a run together: its attempts, its answer, whether it waits.
func run(ctx context.Context, r journal.Reader, v Run, pending []PendingRequest) (Run, error) {
	var err error
	if v.Attempts, err = every[Attempt](ctx, r, journal.Query{Kind: journal.KindAttempt, Thread: baton.ThreadID(v.ThreadID), Run: baton.RunID(v.ID)}); err != nil {
		return v, err
	}
	v.HandoffIDs = v.handoffIDs()
	v.Handoffs = nil
	if v.AnswerItemID != "" {
		item, err := get[Item](ctx, r, journal.KindItem, v.AnswerItemID)
		if err != nil {
			return v, err
		}
		v.Answer = item.Body.Marked().Text
	}
	if v.Status == string(baton.RunStarting) || v.Status == string(baton.RunRunning) {
		if slices.ContainsFunc(pending, func(q PendingRequest) bool { return q.RunID == v.ID }) {
			v.Status = "waiting"
		}
	}
	return v, nil
}
