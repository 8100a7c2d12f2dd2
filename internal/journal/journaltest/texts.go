package journaltest

import (
	"fmt"
	"testing"

	"baton"
	"baton/internal/journal"
)

// read joins what Chunks returns, checking that chunks are adjacent.
func read(t *testing.T, j journal.Journal, item baton.ItemID, output bool, offset int64, maxBytes int) (text string, from int64) {
	t.Helper()
	chunks := must[[]journal.Chunk](t)(j.Chunks(ctx, item, output, offset, maxBytes))
	for i, c := range chunks {
		if i == 0 {
			from = c.Offset
		}
		if c.Offset != from+int64(len(text)) || c.Item != item || c.Output != output {
			t.Fatalf("chunk %+v after %d bytes from %d", c, len(text), from)
		}
		text += c.Text
	}
	return text, from
}

func chunks(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	put := func(chunks ...journal.Chunk) error {
		u := s.Unit()
		u.Chunks = chunks
		return s.Append(j, u)
	}
	open := func(id baton.ItemID, n int) baton.EventItemOpened {
		return baton.EventItemOpened{Item: id, Kind: baton.ItemCommand, Position: n, Open: true}
	}
	s.Must(t, j, s.Unit(baton.EventThreadCreated{}, open("itm_1", 1), open("itm_2", 2), open("itm_3", 3)))
	for _, c := range [][]journal.Chunk{
		{{Item: "itm_1", Text: "héllo "}, {Item: "itm_1", Offset: 7, Text: "wörld"}, {Item: "itm_1", Output: true, Text: "out"}},
		{{Item: "itm_2", Text: "two"}},
		{{Item: "itm_1", Offset: 13, Text: "!"}},
	} {
		if err := put(c...); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []journal.Chunk{{Item: "itm_1", Offset: 13, Text: "again"}, {Item: "itm_1", Offset: 15, Text: "gap"},
		{Item: "itm_9", Offset: 1, Text: "no beginning"}, {Item: "itm_1", Output: true, Offset: 14, Text: "the other text's end"}} {
		if put(bad) == nil {
			t.Fatalf("%+v was taken", bad)
		}
	}
	whole := "héllo wörld!"
	for offset := range int64(len(whole)) {
		text, from := read(t, j, "itm_1", false, offset, 0)
		if from > offset || whole[from:] != text {
			t.Fatalf("from %d: %q at %d", offset, text, from)
		}
		if text, from = read(t, j, "itm_1", false, offset, 1); from+int64(len(text)) <= offset || text == whole {
			t.Fatalf("a byte from %d: %q at %d", offset, text, from)
		}
	}
	equal(t, "past the end", len(must[[]journal.Chunk](t)(j.Chunks(ctx, "itm_1", false, int64(len(whole)), 0))), 0)
	text, _ := read(t, j, "itm_1", true, 0, 0)
	equal(t, "output", text, "out")
	equal(t, "lengths", must[journal.Loaded](t)(j.Load(ctx, "thr_1")).Chunks,
		[]journal.ChunkLength{{Item: "itm_1", Text: 14, Output: 3}, {Item: "itm_2", Text: 3}})

	// A close drops the text, or keeps it where the body shows head and tail.
	u := s.Unit(baton.EventItemClosed{Item: "itm_1", Status: baton.NodeCompleted}, baton.EventItemClosed{Item: "itm_2", Status: baton.NodeCompleted})
	u.DropChunks = []baton.ItemID{"itm_2", "itm_none"}
	s.Must(t, j, u)
	text, _ = read(t, j, "itm_1", false, 0, 0)
	equal(t, "kept", text, whole)
	text, _ = read(t, j, "itm_2", false, 0, 0)
	equal(t, "dropped", text, "")
	equal(t, "open ones", len(must[journal.Loaded](t)(j.Load(ctx, "thr_1")).Chunks), 0)

	// Streamed and closed in one unit.
	u = s.Unit(baton.EventItemClosed{Item: "itm_3", Status: baton.NodeCompleted})
	u.Chunks = []journal.Chunk{{Item: "itm_3", Text: "at once"}}
	s.Must(t, j, u)
	equal(t, "open ones", len(must[journal.Loaded](t)(j.Load(ctx, "thr_1")).Chunks), 0)
	text, _ = read(t, j, "itm_3", false, 0, 0)
	equal(t, "kept", text, "at once")
}

func chunkRevisions(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	s.Must(t, j, s.Unit(baton.EventThreadCreated{}, baton.EventItemOpened{Item: "itm_1", Kind: baton.ItemAssistantMessage, Position: 1, Open: true}))
	step := func(want string, chunks []journal.Chunk, data ...baton.EventData) {
		t.Helper()
		u := s.Unit(data...)
		u.Chunks = chunks
		s.Must(t, j, u)
		text, _ := read(t, j, "itm_1", false, 0, 0)
		equal(t, "text", text, want)
	}
	reset := func(revision int) baton.EventData {
		return baton.EventItemReset{Item: "itm_1", Revision: revision}
	}
	chunk := func(revision int, offset int64, text string) []journal.Chunk {
		return []journal.Chunk{{Item: "itm_1", Revision: revision, Offset: offset, Text: text}}
	}
	step("first", chunk(0, 0, "first"))
	step("", nil, reset(1))
	step("second", chunk(1, 0, "second"))
	step("third", append(chunk(1, 6, " is void"), chunk(2, 0, "third")...), reset(2))
	step("fourth", chunk(3, 0, "fourth")) // a newer revision voids by itself
	step("fourth, longer", chunk(3, 6, ", longer"))
	want := journal.ChunkLength{Item: "itm_1", Revision: 3, Text: 14}
	equal(t, "length", must[journal.Loaded](t)(j.Load(ctx, "thr_1")).Chunks, []journal.ChunkLength{want})
	got := must[[]journal.Chunk](t)(j.Chunks(ctx, "itm_1", false, 0, 0))
	equal(t, "revision", fmt.Sprint(got[0].Revision), "3")
}
