package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"baton"
	"baton/internal/journal"
)

// SnippetPart is a piece of a text that was found.
type SnippetPart struct {
	Text  string `json:"text"`
	Match bool   `json:"match,omitempty" doc:"the query stands here"`
}

// Hit is a text that was found: a title, or an item of the timeline.
type Hit struct {
	ThreadID    string        `json:"thread_id"`
	ThreadTitle string        `json:"thread_title,omitempty"`
	ThreadState string        `json:"thread_state"`
	RunID       string        `json:"run_id,omitempty"`
	RunOrdinal  int           `json:"run_ordinal,omitempty"`
	ItemID      string        `json:"item_id,omitempty" doc:"absent for a title"`
	Kind        string        `json:"kind" doc:"title, or the item's kind"`
	Snippet     []SnippetPart `json:"snippet"`
}

// snippetSize is how much of a text a hit shows, in bytes.
const snippetSize = 160

// maxQuery is the longest text that is searched for.
const maxQuery = 10_000

func (s *Server) search() {
	type searchIn struct {
		Paging
		Text   string `query:"q" doc:"words, beginnings of words and \"phrases\"; all of them must stand in the text"`
		Thread string `query:"thread" doc:"only those of one thread"`
	}
	route(s, http.MethodGet, "/api/search", "search", "Titles, messages, answers, commands and outputs, the best first; deleted threads apart", func(ctx context.Context, _ journal.Reader, in *searchIn) (Page[Hit], error) {
		out := Page[Hit]{Items: []Hit{}}
		r := s.cfg.Engine.Journal()
		only := ""
		if in.Thread != "" {
			id, err := resolve(ctx, r, journal.KindThread, in.Thread)
			if err != nil {
				return out, err
			}
			only = id
		}
		offset := 0
		if in.Cursor != "" {
			n, err := strconv.Atoi(in.Cursor)
			if err != nil || n < 0 {
				return out, baton.Errorf(baton.CodeInvalid, "the cursor %q is none of ours", in.Cursor).WithHint("take `next` of the part before")
			}
			offset = n
		}
		phrases := journal.Phrases(in.Text)
		next, err := s.found(ctx, in.Text, offset, func(h journal.Hit) (bool, error) {
			if only != "" && string(h.Thread) != only {
				return true, nil
			}
			t, err := get[threadDoc](ctx, r, journal.KindThread, string(h.Thread))
			if err != nil || t.State == string(baton.ThreadDeleted) && only == "" {
				return true, err
			}
			if len(out.Items) == in.Limit {
				return false, nil
			}
			hit, err := hitOf(ctx, r, h, t.Thread, phrases)
			out.Items = append(out.Items, hit)
			return true, err
		})
		if next >= 0 {
			out.Next = strconv.Itoa(next)
		}
		return out, err
	})
}

// found gives take one hit after another, from offset on, until it wants no
// more. It returns the offset of the hit that was not taken, or -1.
func (s *Server) found(ctx context.Context, text string, offset int, take func(journal.Hit) (bool, error)) (next int, err error) {
	if len(text) > maxQuery {
		return -1, baton.Errorf(baton.CodeInvalid, "the query has more than %d bytes", maxQuery).WithHint("ask for a few words")
	}
	const batch = 200
	for {
		hits, err := s.cfg.Engine.Search(ctx, journal.SearchQuery{Text: text, Offset: offset, Limit: batch})
		if err != nil {
			return -1, err
		}
		for _, h := range hits {
			more, err := take(h)
			if err != nil {
				return -1, err
			}
			if !more {
				return offset, nil
			}
			offset++
		}
		if len(hits) < batch {
			return -1, nil
		}
	}
}

func hitOf(ctx context.Context, r journal.Reader, h journal.Hit, t Thread, phrases []journal.Phrase) (Hit, error) {
	out := Hit{ThreadID: t.ID, ThreadTitle: t.Title, ThreadState: t.State, RunID: string(h.Run), ItemID: string(h.Item), Kind: string(h.Kind)}
	text := t.Title
	if h.Item != "" {
		doc, err := r.Get(ctx, journal.KindItem, string(h.Item))
		if err != nil {
			return out, err
		}
		if text, _, err = journal.ItemText(doc.Body); err != nil {
			return out, err
		}
	}
	for _, p := range journal.Snippet(text, phrases, snippetSize) {
		out.Snippet = append(out.Snippet, SnippetPart(p))
	}
	if h.Run != "" {
		run, err := get[struct {
			Ordinal int `json:"ordinal"`
		}](ctx, r, journal.KindRun, string(h.Run))
		if err != nil {
			return out, err
		}
		out.RunOrdinal = run.Ordinal
	}
	return out, nil
}

// searchThreads finds the threads in which the text stands, the best first.
func (s *Server) searchThreads(ctx context.Context, r journal.Reader, text string, state baton.ThreadState, limit int) ([]journal.Document, error) {
	var out []journal.Document
	seen := map[baton.ThreadID]bool{}
	_, err := s.found(ctx, text, 0, func(h journal.Hit) (bool, error) {
		if seen[h.Thread] {
			return true, nil
		}
		seen[h.Thread] = true
		doc, err := r.Get(ctx, journal.KindThread, string(h.Thread))
		if errors.Is(err, journal.ErrNotFound) {
			return true, nil // made after the point that r reads
		}
		if err != nil {
			return false, err
		}
		t, err := decode[threadDoc](doc)
		if state == "" || t.State == string(state) {
			out = append(out, doc)
		}
		return len(out) < limit, err
	})
	return out, err
}
