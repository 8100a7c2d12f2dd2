package decide

import (
	"strings"
	"testing"
	"unicode/utf8"

	"baton"
)

// said plays facts of a running turn and returns how the last item closed.
func said(t *testing.T, facts ...baton.Fact) (*play, baton.EventItemClosed) {
	t.Helper()
	p := newPlay(t)
	p.running("one", "a")
	p.fact(p.session("a").ID, facts...)
	return p, last[baton.EventItemClosed](p)
}

func opened(key string) baton.Fact {
	return baton.FactItemOpened{Key: key, Kind: baton.ItemAssistantMessage}
}

func closed(key string, body baton.ItemBody) baton.Fact {
	return baton.FactItemClosed{Key: key, Kind: baton.ItemAssistantMessage, Status: baton.NodeCompleted, Body: body}
}

func TestItemText(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 3*Keep/16)
	other := strings.Repeat("fedcba9876543210", 3*Keep/16)
	for _, c := range []struct {
		name   string
		facts  []baton.Fact
		text   string // of the body
		output string
		cut    *baton.Cut
		chunks string // what is kept as chunks of the text
	}{
		{"deltas", []baton.Fact{opened("i"), baton.FactItemDelta{Key: "i", Text: "a"}, baton.FactItemDelta{Key: "i", Text: "b"}, closed("i", baton.ItemBody{})}, "ab", "", nil, ""},
		{"opening text", []baton.Fact{baton.FactItemOpened{Key: "i", Kind: baton.ItemCommand, Body: baton.ItemBody{Text: "x", Output: "y"}},
			baton.FactItemDelta{Key: "i", Text: "z", Output: true}, closed("i", baton.ItemBody{})}, "x", "yz", nil, ""},
		{"reset", []baton.Fact{opened("i"), baton.FactItemDelta{Key: "i", Text: "void"}, baton.FactItemReset{Key: "i"}, baton.FactItemDelta{Key: "i", Text: "good"},
			closed("i", baton.ItemBody{})}, "good", "", nil, ""},
		{"the final text wins", []baton.Fact{opened("i"), baton.FactItemDelta{Key: "i", Text: "draft"}, closed("i", baton.ItemBody{Text: "final", Output: "o"})}, "final", "o", nil, ""},
		{"never opened", []baton.Fact{closed("i", baton.ItemBody{Text: "all at once"})}, "all at once", "", nil, ""},
		{"long", []baton.Fact{opened("i"), baton.FactItemDelta{Key: "i", Text: long}, closed("i", baton.ItemBody{})},
			long[:Keep] + long[2*Keep:], "", &baton.Cut{Bytes: 3 * Keep, Omitted: Keep, Head: Keep}, long},
		{"long at its close", []baton.Fact{opened("i"), baton.FactItemDelta{Key: "i", Text: "draft"}, closed("i", baton.ItemBody{Text: long})},
			long[:Keep] + long[2*Keep:], "", &baton.Cut{Bytes: 3 * Keep, Omitted: Keep, Head: Keep}, long},
		{"long twice", []baton.Fact{opened("i"), baton.FactItemDelta{Key: "i", Text: long}, closed("i", baton.ItemBody{Text: long})},
			long[:Keep] + long[2*Keep:], "", &baton.Cut{Bytes: 3 * Keep, Omitted: Keep, Head: Keep}, long},
		{"long and different", []baton.Fact{opened("i"), baton.FactItemDelta{Key: "i", Text: long}, closed("i", baton.ItemBody{Text: other})},
			other[:Keep] + other[2*Keep:], "", &baton.Cut{Bytes: 3 * Keep, Omitted: Keep, Head: Keep}, other},
		{"long, but short in the end", []baton.Fact{opened("i"), baton.FactItemDelta{Key: "i", Text: long}, closed("i", baton.ItemBody{Text: "short"})}, "short", "", nil, ""},
		{"long output beside text", []baton.Fact{opened("i"), baton.FactItemDelta{Key: "i", Text: "title"}, closed("i", baton.ItemBody{Output: long})},
			"title", long[:Keep] + long[2*Keep:], &baton.Cut{Bytes: 3 * Keep, Omitted: Keep, Head: Keep}, "title"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, e := said(t, c.facts...)
			if e.Body.Text != c.text || e.Body.Output != c.output {
				t.Errorf("closed with %.20q (%d) and %.20q (%d)", e.Body.Text, len(e.Body.Text), e.Body.Output, len(e.Body.Output))
			}
			if (e.Body.Cut == nil) != (c.cut == nil) || c.cut != nil && *e.Body.Cut != *c.cut {
				t.Errorf("cut %+v, want %+v", e.Body.Cut, c.cut)
			}
			if got := kept(p, e.Item); got != c.chunks {
				t.Errorf("kept as chunks: %.20q (%d), want %.20q (%d)", got, len(got), c.chunks, len(c.chunks))
			}
			if len(p.d.S.Items) > 0 || len(p.d.S.Texts) > 0 {
				t.Error("something of it is still open")
			}
		})
	}
}

// kept is the text of the newest revision in the chunks of an item, as a store
// keeps it.
func kept(p *play, id baton.ItemID) string {
	if len(p.d.Out.DropChunks) > 0 {
		return ""
	}
	text, revision := "", 0
	for _, c := range p.d.Out.Chunks {
		if c.Item != id || c.Output {
			continue
		}
		if c.Revision > revision {
			text, revision = "", c.Revision
		}
		if int64(len(text)) != c.Offset {
			p.t.Errorf("a chunk begins at %d, the former ended at %d", c.Offset, len(text))
		}
		text += c.Text
	}
	return text
}

func TestItemReset(t *testing.T) {
	p, _ := said(t, closed("x", baton.ItemBody{}), opened("i"), baton.FactItemDelta{Key: "i", Text: "a"}, baton.FactItemReset{Key: "i"},
		baton.FactItemDelta{Key: "i", Text: "b"})
	if e := last[baton.EventItemReset](p); e.Revision != 1 {
		t.Errorf("reset: %+v", e)
	}
	if c := p.d.Out.Chunks[len(p.d.Out.Chunks)-1]; c.Revision != 1 || c.Offset != 0 || c.Text != "b" {
		t.Errorf("chunk after the reset: %+v", c)
	}
}

// An item that is reported again is updated, not doubled.
func TestItemOpenedTwice(t *testing.T) {
	p, _ := said(t, closed("x", baton.ItemBody{}), opened("i"), baton.FactItemDelta{Key: "i", Text: "a"},
		baton.FactItemOpened{Key: "i", Kind: baton.ItemAssistantMessage, Body: baton.ItemBody{Title: "t", Text: "ignored"}})
	if len(p.d.S.Items) != 1 {
		t.Fatalf("%d items", len(p.d.S.Items))
	}
	if e := last[baton.EventItemUpdated](p); e.Body.Title != "t" || e.Body.Text != "" {
		t.Errorf("updated: %+v", e)
	}
}

// Children are shown under the node of their parent.
func TestItemParent(t *testing.T) {
	p, _ := said(t, closed("x", baton.ItemBody{}), baton.FactItemOpened{Key: "sub", Kind: baton.ItemSubagent},
		baton.FactItemOpened{Key: "child", Parent: "sub", Kind: baton.ItemCommand})
	all := events[baton.EventItemOpened](p)
	sub, child := all[len(all)-2], all[len(all)-1]
	if sub.Parent == "" || child.Parent != sub.Node || child.Node == sub.Node {
		t.Errorf("sub %+v, child %+v", sub, child)
	}
}

// A detached item outlives its run and is closed by its own end.
func TestDetachedItem(t *testing.T) {
	p, _ := said(t, closed("x", baton.ItemBody{}), baton.FactItemOpened{Key: "job", Kind: baton.ItemCommand},
		baton.FactItemClosed{Key: "job", Status: baton.NodeDetached}, baton.FactDetached{Names: []string{"job"}})
	p.end("a", baton.TurnCompleted)
	p.is("run_1", baton.RunCompleted)
	if len(p.d.S.Items) != 1 || !p.d.S.Items[0].Detached {
		t.Fatalf("items %+v", p.d.S.Items)
	}
	x := p.session("a").ID
	p.fact(x, baton.FactItemDelta{Key: "job", Text: "out", Output: true},
		baton.FactItemClosed{Key: "job", Status: baton.NodeFailed, Body: baton.ItemBody{Title: "job"}}, baton.FactDetached{})
	if e := last[baton.EventItemClosed](p); e.Status != baton.NodeFailed || e.Body.Output != "out" {
		t.Errorf("closed: %+v", e)
	}

	// Another dies with its session.
	p.fact(x, baton.FactTurnStarted{Key: "t"}, baton.FactItemOpened{Key: "job2", Kind: baton.ItemCommand},
		baton.FactItemClosed{Key: "job2", Status: baton.NodeDetached}, baton.FactTurnEnded{Key: "t", Status: baton.TurnCompleted})
	p.gone(x)
	if e := last[baton.EventItemClosed](p); e.Status != baton.NodeInterrupted || len(p.d.S.Items) > 0 {
		t.Errorf("closed: %+v", e)
	}
}

// Head and tail end and begin at whole runes, whatever the lengths, and a text
// that was loaded again shows the same as one that streamed.
func TestRuneBoundaries(t *testing.T) {
	for shift := range 4 {
		for _, n := range []int{2*Keep - 3, 2*Keep - 1, 2 * Keep, 2*Keep + 1, 2*Keep + 2, 3 * Keep, 5*Keep + 1} {
			whole := strings.Repeat("x", shift) + strings.Repeat("€", (n-shift)/3)
			whole += strings.Repeat("y", n-len(whole))
			var live Stream
			for rest := whole; rest != ""; {
				part := runeHead(rest, 1000)
				live.Append(part)
				rest = rest[len(part):]
			}
			body, cut := live.Body()
			if !utf8.ValidString(body) {
				t.Fatalf("%d+%d: the body is no text", shift, n)
			}
			if cut == nil && body != whole || cut != nil && (cut.Bytes != int64(n) || cut.Omitted != int64(n-len(body))) {
				t.Fatalf("%d+%d: %d bytes, cut %+v", shift, n, len(body), cut)
			}
			head := Head(whole[:Keep+1])
			loaded := Restore(int64(n), head, whole[max(len(head), n-Keep):])
			again, cut2 := loaded.Body()
			if again != body || (cut == nil) != (cut2 == nil) || cut != nil && *cut != *cut2 {
				t.Fatalf("%d+%d: loaded again it shows %d bytes, cut %+v; live %d bytes, cut %+v", shift, n, len(again), cut2, len(body), cut)
			}
			live.Append("ü")
			loaded.Append("ü")
			a, _ := live.Body()
			b, _ := loaded.Body()
			if a != b {
				t.Fatalf("%d+%d: they differ after the next delta", shift, n)
			}
		}
	}
}
