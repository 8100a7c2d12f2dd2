package codex

import (
	"slices"
	"strconv"

	"baton"
	"baton/internal/agent"
)

// newKey names an item of a turn. The number keeps apart items whose native
// ids repeat.
func newKey(t *turn, native string) string {
	t.Items++
	return t.ID + "/" + strconv.Itoa(t.Items) + "/" + agent.Head(native, 64)
}

// streamed says whether an item's text comes in deltas and can be cut off by a
// response that starts over.
func streamed(k baton.ItemKind) bool {
	return k == baton.ItemAssistantMessage || k == baton.ItemReasoning || k == baton.ItemPlan
}

func (m *machine) itemStarted(e event) {
	switch e.Item.Type {
	case "userMessage":
		if e.ThreadID == m.s.Thread {
			m.userMessage(e.TurnID, e.Item)
		}
	case "reasoning": // opened by its first delta: most has no text to show
	case "subAgentActivity":
		m.meet(e.Item.AgentThreadID, e.ThreadID, e.Item.AgentPath)
	default:
		m.open(e, e.Item.ID, e.Item.kind(), e.Item.body(false))
	}
}

// open opens an item and returns it, or nil where its turn is over.
func (m *machine) open(e event, native string, kind baton.ItemKind, body baton.ItemBody) *openItem {
	t := m.s.turnByID(e.TurnID)
	if t == nil || native == "" {
		return nil
	}
	if o := m.s.item(e.TurnID, native); o != nil {
		if streamed(kind) {
			m.fact(baton.FactItemReset{Key: o.Key})
		}
		return o
	}
	if streamed(kind) {
		if o := m.cut(t, native, kind); o != nil {
			return o
		}
	}
	if len(m.s.Open) >= maxOpen {
		return nil // its close will open it
	}
	m.s.Open = append(m.s.Open, openItem{Thread: e.ThreadID, Turn: t.ID, Native: native, Key: newKey(t, native), Kind: kind, Label: label(body)})
	o := &m.s.Open[len(m.s.Open)-1]
	m.fact(baton.FactItemOpened{Key: o.Key, Parent: t.Item, Kind: kind, Body: body})
	return o
}

// cut deals with a text that is still open when the next of its kind begins:
// codex never completes it. If the response is being retried, the new text
// takes its place; else it ends as it stands.
func (m *machine) cut(t *turn, native string, kind baton.ItemKind) *openItem {
	i := slices.IndexFunc(m.s.Open, func(o openItem) bool { return o.Turn == t.ID && o.Kind == kind })
	if i < 0 {
		return nil
	}
	o := &m.s.Open[i]
	if t.Retry {
		t.Retry = false
		o.Native = native
		m.fact(baton.FactItemReset{Key: o.Key})
		return o
	}
	m.fact(baton.FactItemClosed{Key: o.Key, Kind: kind, Status: baton.NodeInterrupted})
	m.s.Open = slices.Delete(m.s.Open, i, i+1)
	return nil
}

func (m *machine) delta(e event, kind baton.ItemKind) {
	if e.Delta == "" {
		return
	}
	o := m.s.item(e.TurnID, e.ItemID)
	if o == nil {
		o = m.open(e, e.ItemID, kind, baton.ItemBody{})
	}
	if o != nil {
		m.fact(baton.FactItemDelta{Key: o.Key, Text: e.Delta})
	}
}

func (m *machine) itemCompleted(e event) {
	it := e.Item
	switch it.Type {
	case "userMessage":
		m.foreignMessage(e)
		return
	case "subAgentActivity":
		m.meet(it.AgentThreadID, e.ThreadID, it.AgentPath)
		return
	case "collabAgentToolCall":
		for _, child := range it.Receivers {
			m.meet(child, e.ThreadID, it.Prompt)
		}
	}
	if m.lateCommand(e) {
		return
	}
	t := m.s.turnByID(e.TurnID)
	if t == nil {
		return // closed with its turn
	}
	closed := baton.FactItemClosed{Kind: it.kind(), Status: it.status(), Body: it.body(true)}
	if o := m.s.item(e.TurnID, it.ID); o != nil {
		closed.Key = o.Key
		m.s.Open = slices.DeleteFunc(m.s.Open, func(x openItem) bool { return x.Key == closed.Key })
	} else {
		if it.Type == "reasoning" && closed.Body.Text == "" {
			return
		}
		closed.Key = newKey(t, it.ID)
		if t.Item != "" { // the close can't carry the parent
			m.fact(baton.FactItemOpened{Key: closed.Key, Parent: t.Item, Kind: closed.Kind})
		}
	}
	if closed.Kind == baton.ItemAssistantMessage {
		t.Retry = false
	}
	m.fact(closed)
}

// foreignMessage shows a user message of the root thread that Baton did not
// give: of a hook, a goal, or a turn that codex began by itself.
func (m *machine) foreignMessage(e event) {
	t := m.s.turnByID(e.TurnID)
	text := e.Item.userText()
	if t == nil || t.Thread != m.s.Thread || text == "" || ours(e.Item) {
		return
	}
	m.fact(baton.FactItemClosed{Key: newKey(t, e.Item.ID), Kind: baton.ItemUserMessage, Status: baton.NodeCompleted,
		Body: baton.ItemBody{Text: text, Author: "codex"}})
}

// lateCommand takes the end of a command that ran on after its turn.
func (m *machine) lateCommand(e event) bool {
	i := slices.IndexFunc(m.s.Detached, func(d detached) bool { return d.Turn == e.TurnID && d.Native == e.Item.ID })
	if i < 0 {
		return false
	}
	if key := m.s.Detached[i].Key; key != "" {
		m.fact(baton.FactItemClosed{Key: key, Kind: baton.ItemCommand, Status: e.Item.status(), Body: e.Item.body(true)})
	}
	m.s.Detached = slices.Delete(m.s.Detached, i, i+1)
	m.tellDetached()
	return true
}

// label is what an item is called when it lives on, or asks.
func label(b baton.ItemBody) string {
	if b.Command != "" {
		return agent.Head(b.Command, 120)
	}
	s := ""
	for i, f := range b.Files {
		if i > 0 {
			s += ", "
		}
		s += f.Path
	}
	return agent.Head(s, 200)
}
