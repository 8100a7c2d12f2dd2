// Package export makes a document of a thread that can be read without Baton:
// everything that the journal has of it as JSON, and a page of Markdown for
// people. It reads the journal alone and needs no agent.
//
// Secrets are taken out (package redact) of every text in both forms, and
// counted. In Markdown whatever was said stands in a block of its own that the
// text can't end: see fence.
package export

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"baton"
	"baton/internal/journal"
	"baton/internal/redact"
)

// Version is the version of the JSON form.
const Version = 1

// Document is a thread as JSON. Documents are those of the journal, by their
// kinds, each in its order.
type Document struct {
	Version    int                                `json:"baton_export"`
	ThreadID   baton.ThreadID                     `json:"thread_id"`
	ExportedAt time.Time                          `json:"exported_at"`
	Redactions int                                `json:"redactions"`
	Documents  map[journal.Kind][]json.RawMessage `json:"documents"`
}

// kinds are those of the documents that are exported.
var kinds = []journal.Kind{journal.KindThread, journal.KindRun, journal.KindAttempt, journal.KindNode, journal.KindMessage, journal.KindItem,
	journal.KindRequest, journal.KindTransfer, journal.KindHandoff, journal.KindDelivery, journal.KindSession, journal.KindProviderThread, journal.KindTurn}

// Read takes a thread out of the journal. The reader should be one of an
// unchanging point. Texts of which the documents have head and tail only are
// put in whole.
func Read(ctx context.Context, r journal.Reader, id baton.ThreadID, now time.Time) (*Document, error) {
	out := &Document{Version: Version, ThreadID: id, ExportedAt: now.UTC(), Documents: map[journal.Kind][]json.RawMessage{}}
	for _, kind := range kinds {
		q := journal.Query{Kind: kind, Thread: id, Limit: 1000}
		out.Documents[kind] = []json.RawMessage{}
		for {
			docs, err := r.List(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, d := range docs {
				if kind == journal.KindItem {
					if d.Body, err = whole(ctx, r, d); err != nil {
						return nil, err
					}
				}
				body, n, err := clean(d.Body)
				if err != nil {
					return nil, fmt.Errorf("%s %s: %w", d.Kind, d.ID, err)
				}
				out.Redactions += n
				out.Documents[kind] = append(out.Documents[kind], body)
				q.After, q.AfterID = d.Position, d.ID
			}
			if len(docs) < q.Limit {
				break
			}
		}
	}
	if len(out.Documents[journal.KindThread]) == 0 {
		return nil, journal.ErrNotFound
	}
	return out, nil
}

// whole puts the text of an item's chunks in the place of head and tail.
func whole(ctx context.Context, r journal.Reader, d journal.Document) (json.RawMessage, error) {
	var it struct{ Body baton.ItemBody }
	if err := json.Unmarshal(d.Body, &it); err != nil || it.Body.Cut == nil {
		return d.Body, err
	}
	patch := map[string]any{"cut": nil}
	for name, output := range map[string]bool{"text": false, "output": true} {
		chunks, err := r.Chunks(ctx, baton.ItemID(d.ID), output, 0, 0)
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		for _, c := range chunks {
			b.WriteString(c.Text)
		}
		if int64(b.Len()) == it.Body.Cut.Bytes {
			patch[name] = b.String()
			p, err := json.Marshal(map[string]any{"body": patch})
			if err != nil {
				return nil, err
			}
			return journal.Merge(d.Body, p)
		}
	}
	return d.Body, nil // nothing longer was kept
}

// clean takes secrets out of every string of a document.
func clean(body json.RawMessage) (json.RawMessage, int, error) {
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, 0, err
	}
	v, n := walk(v)
	if n == 0 {
		return body, 0, nil
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n")), n, err
}

func walk(v any) (any, int) {
	n := 0
	switch x := v.(type) {
	case string:
		return redact.Text(x)
	case []any:
		for i := range x {
			var k int
			x[i], k = walk(x[i])
			n += k
		}
	case map[string]any:
		for name, value := range x {
			var k int
			x[name], k = walk(value)
			n += k
		}
	}
	return v, n
}

// docs decodes the documents of a kind.
func docs[T any](d *Document, kind journal.Kind) ([]T, error) {
	out := make([]T, len(d.Documents[kind]))
	for i, body := range d.Documents[kind] {
		if err := json.Unmarshal(body, &out[i]); err != nil {
			return nil, fmt.Errorf("a %s of %s: %w", kind, d.ThreadID, err)
		}
	}
	return slices.Clip(out), nil
}
