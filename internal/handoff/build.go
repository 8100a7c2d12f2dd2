package handoff

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"baton"
)

// readTool is the tool by which an agent may read what was left out.
const readTool = "thread_read"

// Build makes the document of a source, shortened to its budget. It fails only
// if the document can't be written as JSON, which no source known to us causes.
func Build(s Source) (Built, error) {
	budget := s.Budget
	if budget == 0 {
		budget = DefaultBudget
	}
	b := builder{room: max(budget, MinBudget) * unitsPerToken, entries: map[SectionName][]Entry{}, shown: map[baton.ItemID]bool{}}
	m := gather(s)
	doc := header(s)
	b.room -= units(Render(widest(doc, m)))

	b.people(m)
	b.serve(m.plan, m.todo, m.requests)
	b.serve(m.title, m.decisions)
	b.serve(m.newest)
	squeezed := b.squeezed
	for _, class := range [][]draft{m.files, m.failures, m.commands, m.subagents, m.conclusions, m.recent} {
		b.serve(class)
	}

	doc.Sections = b.sections()
	doc.LeftOut = b.leftOut(m.all, doc.LeftOut.Tool)
	raw, err := json.Marshal(doc)
	if err != nil {
		return Built{}, baton.Errorf(baton.CodeInternal, "the handoff could not be written").WithDetail("%v", err).
			WithHint("the message is kept; send it again, or to the agent that has the conversation")
	}
	text := Render(doc)
	return Built{
		Document: raw, Text: text, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))), Tokens: Tokens(text),
		Omitted:    baton.Omitted{Count: doc.LeftOut.Count, Runs: doc.LeftOut.Runs, ItemIDs: doc.LeftOut.ItemIDs},
		Redactions: b.secrets, Squeezed: squeezed,
	}, nil
}

// header makes the document without content.
func header(s Source) Document {
	d := Document{Shape: Shape, Thread: s.Thread, Strategy: baton.Strategy(name(string(s.Strategy))), To: name(s.To),
		From: []string{}, Covered: s.Covered, Known: s.Known, Author: Author}
	for _, f := range s.From {
		d.From = append(d.From, name(f))
	}
	if s.ReaderHasTool {
		d.LeftOut.Tool = readTool
	}
	return d
}

// widest returns the empty document with the longest line about what is left
// out that could come.
func widest(d Document, m *material) Document {
	last := d.Covered.Last()
	for _, l := range m.all {
		last = max(last, l.run)
	}
	var four baton.Intervals
	for i := range 4 {
		four = append(four, baton.Interval{From: last*10 + 2*i, To: last*10 + 2*i + 1})
	}
	most := len(m.all) + 1
	for _, class := range [][]draft{m.messages, m.requests, m.todo, m.plan, m.decisions, m.failures} {
		most += len(class)
	}
	d.LeftOut.Count, d.LeftOut.Runs, d.LeftOut.Shortened = most*10, four, 10000
	return d
}

// builder spends the room, class by class in the order of survival.
type builder struct {
	room    int // units
	entries map[SectionName][]Entry
	shown   map[baton.ItemID]bool
	count   int             // left out, without an item
	runs    baton.Intervals // of those
	cut     int
	secrets int

	squeezed bool // something had to give way
}

// people serves the person's messages. Where they don't fit as they are, up to a
// third of the room is kept for the classes that follow.
func (b *builder) people(m *material) {
	room := b.room - b.heading(m.messages)
	f := fit(m.messages, room)
	if f.squeezed {
		rest := 0
		for _, class := range [][]draft{m.plan, m.todo, m.requests, m.title, m.decisions, m.newest} {
			rest += b.heading(class) + frames(class)
			for _, d := range class {
				for _, r := range d.raws {
					rest += limited(2*len(r.text)+leastQuote, r.max)
				}
			}
		}
		f = fit(m.messages, room-min(rest, room/3))
	}
	b.take(f, b.heading(m.messages))
}

// serve gives the room that is left to a class of one or more sections.
func (b *builder) serve(sections ...[]draft) {
	var drafts []draft
	headings := 0
	for _, s := range sections {
		drafts = append(drafts, s...)
		headings += b.heading(s)
	}
	if len(drafts) > 0 {
		b.take(fit(drafts, b.room-headings), headings)
	}
}

// heading is what it costs to begin the drafts' section.
func (b *builder) heading(drafts []draft) int {
	if len(drafts) == 0 || len(b.entries[drafts[0].section]) > 0 {
		return 0
	}
	for _, s := range sections {
		if s.name == drafts[0].section {
			return units(headingLine(s.heading))
		}
	}
	return 0
}

func (b *builder) take(f fitted, headings int) {
	if len(f.kept) > 0 {
		b.room -= headings + f.used
	}
	b.cut += f.cut
	b.squeezed = b.squeezed || f.squeezed
	b.secrets += f.secrets
	for _, d := range f.kept {
		b.entries[d.section] = append(b.entries[d.section], d.entry)
		for _, id := range d.items {
			b.shown[id] = true
		}
	}
	for _, d := range f.dropped {
		if len(d.items) == 0 {
			b.count++
			if run := d.entry.Run; run > 0 { // what is open now is of no run
				b.runs = b.runs.Add(run, run)
			}
		}
	}
}

// sections puts the entries into the document's order. Conclusions were served
// newest first and are put back in the order of their runs.
func (b *builder) sections() []Section {
	out := []Section{}
	for _, s := range sections {
		entries := b.entries[s.name]
		if len(entries) == 0 {
			continue
		}
		if s.name == SectionConclusions {
			slices.SortStableFunc(entries, func(x, y Entry) int { return x.Run - y.Run })
		}
		out = append(out, Section{s.name, entries})
	}
	return out
}

// MaxOmitted is how many items and how many intervals of runs that are left out
// are named; the count is always of all.
const MaxOmitted = 200

func (b *builder) leftOut(all []located, tool string) LeftOut {
	l := LeftOut{Count: b.count, Runs: b.runs, Shortened: b.cut, Tool: tool}
	var out []located
	for _, it := range all {
		if !b.shown[it.id] {
			out = append(out, it)
		}
	}
	l.Count += len(out)
	for i, it := range out {
		if i == 0 || it.run != out[i-1].run {
			l.Runs = l.Runs.Add(it.run, it.run)
		}
	}
	l.Runs = l.Runs[max(0, len(l.Runs)-MaxOmitted):]
	for _, it := range out[max(0, len(out)-MaxOmitted):] {
		l.ItemIDs = append(l.ItemIDs, it.id)
	}
	return l
}
