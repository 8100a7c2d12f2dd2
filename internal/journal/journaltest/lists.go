package journaltest

import (
	"encoding/json"
	"fmt"
	"testing"

	"baton"
	"baton/internal/journal"
)

// longLists: a list that a store may have to put together from parts.
func longLists(t *testing.T, j journal.Journal) {
	const n = 2300
	s := NewScribe("thr_1")
	u := s.Create()
	id := func(i int) string { return fmt.Sprintf("itm_%04d", i) }
	for i := range n { // three at each position, and bodies of many sizes
		text, err := json.Marshal(texts[i%len(texts)])
		if err != nil {
			t.Fatal(err)
		}
		u.Changes = append(u.Changes, change(journal.KindItem, id(i), "run_1", int64(1+i/3), fmt.Sprintf(`{"n":%d,"text":%s}`, i, text)))
	}
	s.Must(t, j, u)
	list := func(limit int, desc bool) []journal.Document {
		return must[[]journal.Document](t)(j.List(ctx, journal.Query{Kind: journal.KindItem, Thread: "thr_1", Desc: desc, Limit: limit}))
	}
	for _, desc := range []bool{false, true} {
		for _, limit := range []int{1, 999, 1000, 1001, 2000, n, n + 1} {
			docs := list(limit, desc)
			equal(t, "documents", len(docs), min(limit, n))
			for i, d := range docs {
				if desc {
					i = n - 1 - i
				}
				var body struct {
					N    int
					Text string
				}
				if err := json.Unmarshal(d.Body, &body); err != nil {
					t.Fatalf("%s: %v", d.ID, err)
				}
				equal(t, "document", []any{d.ID, d.Thread, d.Run, d.Position, body.N, body.Text},
					[]any{id(i), baton.ThreadID("thr_1"), baton.RunID("run_1"), int64(1 + i/3), i, texts[i%len(texts)]})
			}
		}
	}
	docs := list(2, false)
	docs[0].Body = append(docs[0].Body, "what comes back is the caller's"...)
	if !json.Valid(docs[1].Body) {
		t.Error("a document's body reaches into the next")
	}
}
