package handoff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"baton"
)

// Limits of single quotes, in units.
const (
	maxTitle      = 150
	maxReason     = 600
	maxInput      = 300
	maxOutput     = 900
	maxResult     = 3000
	maxConclusion = 6000
	maxNewest     = 18000
)

// material is what a source holds, by what it is; each oldest first.
type material struct {
	title, messages, decisions           []draft
	requests, todo, plan                 []draft
	newest, conclusions                  []draft
	files, failures, commands, subagents []draft
	recent                               []draft
	all                                  []located // items that belong into a document
}

// located is an item with its run.
type located struct {
	id  baton.ItemID
	run int
}

// gather sorts a source's content. It copies no text.
func gather(s Source) *material {
	m := &material{}
	if s.Title != "" {
		m.title = []draft{{section: SectionTitle, raws: []raw{{text: s.Title, max: maxTitle}}}}
	}
	var commands latest
	files := map[string]*file{}
	for i, r := range s.Runs {
		fresh := i >= len(s.Runs)-FreshRuns
		m.messagesOf(r)
		answer := conclusion(r)
		for k, it := range r.Items {
			if belongs(it) {
				m.all = append(m.all, located{it.ID, r.Ordinal})
			}
			e := Entry{Run: r.Ordinal, Item: it.ID, Status: name(string(it.Status))}
			switch it.Kind {
			case baton.ItemAssistantMessage:
				m.said(r, it, e, k == answer, fresh)
			case baton.ItemCommand:
				commands.add(it.Body.Cwd+"\x00"+it.Body.Command, command(it, e, fresh))
			case baton.ItemFileChange:
				changed(files, it, r.Ordinal)
			case baton.ItemTool, baton.ItemSearch:
				if fresh {
					m.recent = append(m.recent, tool(it, e))
				}
			case baton.ItemSubagent:
				m.subagents = append(m.subagents, draft{section: SectionSubagents, entry: e, items: ids(it),
					raws: texts(raw{text: it.Body.Title, max: maxReason}, of("result", bodyText(it.Body, cmp.Or(it.Body.Text, it.Body.Output), maxResult)))})
			case baton.ItemPlan, baton.ItemQuestion, baton.ItemApproval:
				if d, ok := decision(it, e, r.Provider); ok {
					m.decisions = append(m.decisions, d)
				}
			}
		}
		m.failuresOf(r)
	}
	m.commands = commands.sorted()
	m.files = lines(files)
	m.open(s.Open)
	return m
}

// belongs says whether an item has content that a document may hold. Hidden
// reasoning, Baton's own notes, and states that Source.Open replaces have not.
func belongs(it Item) bool {
	switch it.Kind {
	case baton.ItemUserMessage, baton.ItemAssistantMessage:
		return it.Body.Text != ""
	case baton.ItemCommand, baton.ItemFileChange, baton.ItemTool, baton.ItemSearch, baton.ItemSubagent, baton.ItemError:
		return true
	case baton.ItemPlan, baton.ItemQuestion, baton.ItemApproval:
		_, ok := decision(it, Entry{}, "")
		return ok
	default:
		return false
	}
}

// messagesOf adds the run's input and what was said during it.
func (m *material) messagesOf(r Run) {
	outcome := ""
	if r.Status != baton.RunCompleted {
		outcome = name(string(r.Status))
	}
	add := func(text, author string, items []baton.ItemID) {
		if text != "" {
			m.messages = append(m.messages, draft{section: SectionMessages, items: items, raws: []raw{{text: text, person: true}},
				entry: Entry{Run: r.Ordinal, Who: cmp.Or(name(author), "person"), Status: outcome, Item: only(items)}})
		}
	}
	if !slices.ContainsFunc(r.Items, func(it Item) bool { return it.Kind == baton.ItemUserMessage && it.Body.Text == r.Message }) {
		add(r.Message, r.Author, nil)
	}
	for _, it := range r.Items {
		if it.Kind == baton.ItemUserMessage {
			add(it.Body.Text, cmp.Or(it.Body.Author, r.Author), ids(it))
		}
	}
}

// conclusion returns the index of the run's last assistant message, or -1.
func conclusion(r Run) int {
	for i := len(r.Items) - 1; i >= 0; i-- {
		if it := r.Items[i]; it.Kind == baton.ItemAssistantMessage && !it.Child && it.Body.Text != "" {
			return i
		}
	}
	return -1
}

// said adds an assistant message. The conclusion of a later run puts that of
// the run before among the older ones.
func (m *material) said(r Run, it Item, e Entry, last, fresh bool) {
	e.Who = name(r.Provider)
	if e.Status == string(baton.NodeCompleted) {
		e.Status = ""
	}
	d := draft{entry: e, items: ids(it)}
	switch {
	case it.Body.Text == "":
	case last:
		for _, older := range m.newest {
			older.raws[0].max = maxConclusion
			m.conclusions = append(m.conclusions, older)
		}
		d.section, d.raws = SectionConclusions, []raw{bodyText(it.Body, it.Body.Text, maxNewest)}
		m.newest = []draft{d}
	case fresh && !it.Child:
		d.section, d.raws = SectionRecent, []raw{bodyText(it.Body, it.Body.Text, maxResult)}
		m.recent = append(m.recent, d)
	}
}

func command(it Item, e Entry, fresh bool) draft {
	e.ExitCode = it.Body.ExitCode
	d := draft{section: SectionCommands, items: ids(it), raws: texts(raw{text: cmp.Or(it.Body.Command, it.Body.Title), max: maxReason})}
	if e.ExitCode != nil && it.Status == baton.NodeCompleted {
		e.Status = "" // the code says it
	}
	if NeedsOutput(it, fresh) {
		d.raws = append(d.raws, texts(of("output", bodyText(it.Body, it.Body.Output, maxOutput)))...)
	}
	d.entry = e
	return d
}

func tool(it Item, e Entry) draft {
	e.Kind = strings.TrimSpace(string(it.Kind) + " " + name(it.Body.Tool))
	return draft{section: SectionRecent, entry: e, items: ids(it), raws: texts(
		raw{text: it.Body.Title, max: maxInput}, raw{of: "input", text: it.Body.Input, max: maxInput},
		of("output", bodyText(it.Body, cmp.Or(it.Body.Output, it.Body.Text), maxOutput)))}
}

// failuresOf adds how a run failed, and the errors that it met.
func (m *material) failuresOf(r Run) {
	told := ""
	if r.Err != nil || r.Status == baton.RunFailed || r.Status == baton.RunInterrupted || r.Status == baton.RunCancelled {
		d := draft{section: SectionFailures, entry: Entry{Run: r.Ordinal, Who: name(r.Provider), Status: name(string(r.Status))}}
		if r.Err != nil {
			told = r.Err.Error()
			d.entry.Kind = name(string(r.Err.Code))
			d.raws = texts(raw{text: told, max: maxOutput})
		}
		m.failures = append(m.failures, d)
	}
	for _, it := range r.Items {
		text := cmp.Or(it.Body.Text, it.Body.Title, it.Body.Output)
		if it.Kind != baton.ItemError {
			continue
		}
		if told != "" && (text == "" || strings.Contains(told, text)) { // the run's own error again
			last := &m.failures[len(m.failures)-1]
			last.items = append(last.items, it.ID)
			continue
		}
		m.failures = append(m.failures, draft{section: SectionFailures, items: ids(it), raws: texts(bodyText(it.Body, text, maxOutput)),
			entry: Entry{Run: r.Ordinal, Item: it.ID, Kind: "error", Status: name(string(it.Body.Code))}})
	}
}

// open adds what is open now.
func (m *material) open(o OpenState) {
	if o.Plan != nil && o.Plan.Text != "" {
		m.plan = []draft{{section: SectionPlan, entry: Entry{Status: name(o.Plan.Status)}, raws: []raw{bodyText(&baton.ItemBody{Cut: o.Plan.Cut}, o.Plan.Text, 0)}}}
	}
	for i, step := range o.Todo {
		m.todo = append(m.todo, draft{section: SectionTodo, raws: []raw{{text: step.Text}},
			entry: Entry{Kind: fmt.Sprintf("step %d", i+1), Status: name(step.Status)}})
	}
	for _, r := range o.Requests {
		d := draft{section: SectionRequests, entry: Entry{Kind: name(string(r.Kind)), Status: "waits for an answer"},
			raws: texts(raw{text: r.Title, max: maxReason}, raw{of: "detail", text: r.Detail, max: maxOutput})}
		for _, q := range r.Questions {
			d.raws = append(d.raws, texts(raw{of: "question", text: cmp.Or(q.Text, q.Header), max: maxOutput})...)
		}
		m.requests = append(m.requests, d)
	}
}

// latest keeps the newest of the commands that are the same.
type latest struct {
	order []draft
	at    map[string]int
}

func (l *latest) add(key string, d draft) {
	if len(d.raws) == 0 {
		return
	}
	if l.at == nil {
		l.at = map[string]int{}
	}
	if i, ok := l.at[key]; ok {
		l.order[i].raws = nil
	}
	l.at[key] = len(l.order)
	l.order = append(l.order, d)
}

func (l *latest) sorted() []draft {
	return slices.DeleteFunc(l.order, func(d draft) bool { return d.raws == nil })
}

func ids(it Item) []baton.ItemID { return []baton.ItemID{it.ID} }

func only(items []baton.ItemID) baton.ItemID {
	if len(items) == 1 {
		return items[0]
	}
	return ""
}

// of says what a text is.
func of(what string, r raw) raw {
	r.of = what
	return r
}

// texts returns the raws that hold text.
func texts(raws ...raw) []raw {
	return slices.DeleteFunc(raws, func(r raw) bool { return strings.TrimSpace(r.text) == "" })
}
