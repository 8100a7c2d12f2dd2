package main

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"baton"
	"baton/internal/httpapi"
)

// view writes a timeline to a terminal or a pipe: whole items, or items as
// they happen. Only one item is written to at a time; text of another one
// begins a new paragraph.
type view struct {
	a       *app
	runs    map[string]httpapi.Run
	run     string // whose heading stands
	items   map[string]httpapi.Item
	current string // item that is being written to
	flow    *flow
	shown   map[string]shown // how much of an item's text is written
	revs    map[string]int
	ended   map[string]bool // runs whose last line is written
}

func newView(a *app) *view {
	return &view{a: a, runs: map[string]httpapi.Run{}, items: map[string]httpapi.Item{}, shown: map[string]shown{}, revs: map[string]int{}, ended: map[string]bool{}}
}

func (v *view) addRun(r httpapi.Run) { v.runs[r.ID] = r }

// whole writes an item that is complete, or as far as it has come.
func (v *view) whole(it httpapi.Item) {
	v.open(it)
	if it.Open {
		v.delta(httpapi.Delta{ItemID: it.ID, Revision: it.Revision, Text: it.Body.Text})
		return
	}
	v.close(it)
}

// open begins an item. Streamed ones begin a paragraph when their text comes.
func (v *view) open(it httpapi.Item) {
	if _, known := v.items[it.ID]; known {
		return
	}
	v.items[it.ID] = it
	if it.RunID != "" && it.RunID != v.run {
		v.heading(it.RunID)
	}
	if it.Open && toolKinds[baton.ItemKind(it.Kind)] {
		v.line(it, "…")
	}
}

func (v *view) heading(run string) {
	v.end()
	if v.run != "" {
		if r := v.runs[v.run]; r.EndedAt != nil {
			v.runEnd(r)
		}
	}
	v.run = run
	r := v.runs[run]
	name := fmt.Sprintf("run %d", r.Ordinal)
	if r.Ordinal == 0 {
		name = "run"
	}
	label := strings.Join(append([]string{name, r.Provider}, settings(r.Settings)...), " · ")
	id := ""
	if r.ID != "" {
		id = " · " + shortID(r.ID)
	}
	if v.a.tty {
		label = cut(label, v.a.width()-len([]rune(id))-6)
	}
	label = " " + label + id + " "
	fmt.Fprintf(v.a.out, "\n%s%s%s\n", v.a.style(dim, "──"), v.a.style(bold, label), v.a.style(dim, strings.Repeat("─", max(v.a.width()-len([]rune(label))-2, 2))))
}

// runEnd writes how a run ended, once, or how far it is.
func (v *view) runEnd(r httpapi.Run) {
	v.end()
	if v.ended[r.ID] {
		return
	}
	v.ended[r.ID] = runEnded(r.Status)
	color := map[string]string{"completed": green, "failed": red, "interrupted": yellow, "cancelled": dim}[r.Status]
	text := fmt.Sprintf("run %d %s", r.Ordinal, r.Status)
	if r.StartedAt != nil && r.EndedAt != nil {
		text += fmt.Sprintf(" after %.1f s", r.EndedAt.Sub(*r.StartedAt).Seconds())
	}
	if r.Usage != nil && r.Usage.OutputTokens > 0 {
		text += fmt.Sprintf(" · %d tokens in, %d out", r.Usage.InputTokens, r.Usage.OutputTokens)
	}
	fmt.Fprintln(v.a.out, v.a.style(color, text))
	if r.Error != nil && r.Error.Code != baton.CodeInterrupted {
		fmt.Fprintln(v.a.out, v.a.wrap(fmt.Sprintf("%s (%s)", r.Error.Error(), r.Error.Code), "  "))
		if r.Error.Hint != "" {
			fmt.Fprintln(v.a.out, v.a.wrap("hint: "+r.Error.Hint, "  "))
		}
	}
}

// delta writes text of an open item, as much of it as is new.
func (v *view) delta(d httpapi.Delta) {
	it, ok := v.items[d.ItemID]
	if !ok || d.Output || d.Text == "" || !streamed[baton.ItemKind(it.Kind)] {
		return
	}
	if d.Revision != v.revs[d.ItemID] {
		v.end()
		v.revs[d.ItemID], v.shown[d.ItemID] = d.Revision, shown{}
	}
	at := v.shown[d.ItemID]
	if d.Offset > at.units {
		return // a gap, which the close fills
	}
	news := skipUnits(d.Text, at.units-d.Offset)
	if news == "" {
		return // known
	}
	v.text(it, news)
	v.shown[d.ItemID] = at.and(news)
}

// shown is how much of a text is written, in bytes and as offsets of deltas
// count it: in code units of UTF-16.
type shown struct {
	bytes int
	units int64
}

func (s shown) and(text string) shown {
	s.bytes += len(text)
	for _, r := range text {
		s.units += int64(max(1, utf16.RuneLen(r)))
	}
	return s
}

// skipUnits is text without its first n code units of UTF-16.
func skipUnits(text string, n int64) string {
	for i, r := range text {
		if n <= 0 {
			return text[i:]
		}
		n -= int64(max(1, utf16.RuneLen(r)))
	}
	return ""
}

func (v *view) text(it httpapi.Item, s string) {
	if v.current != it.ID {
		v.end()
		v.current = it.ID
		color := ""
		if it.Kind == string(baton.ItemReasoning) {
			color = dim
		}
		v.flow = &flow{a: v.a, indent: "  ", color: color, first: marks[baton.ItemKind(it.Kind)]}
	}
	v.flow.write(strings.ReplaceAll(s, "\r\n", "\n"))
}

// close ends an item: the rest of its text, or its line with how it ended.
func (v *view) close(it httpapi.Item) {
	kind := baton.ItemKind(it.Kind)
	if streamed[kind] {
		text := it.Body.Text
		switch n := v.shown[it.ID].bytes; {
		case n == 0 && text != "":
			v.text(it, text)
		case n < len(text) && it.Body.Cut == nil:
			v.text(it, text[n:])
		}
		if v.current == it.ID {
			v.end()
		}
		delete(v.shown, it.ID)
		return
	}
	v.line(it, "")
}

// end finishes the paragraph that is being written.
func (v *view) end() {
	if v.flow != nil {
		v.flow.end()
		v.flow = nil
	}
	v.current = ""
}
