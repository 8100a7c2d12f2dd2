package codex

import (
	"slices"

	"baton"
	"baton/internal/agent"
)

// meet notes a subagent's thread, and what is learnt of it: frames of a child
// may come before the item that names it.
func (m *machine) meet(thread, parent, title string) {
	if thread == "" || thread == m.s.Thread {
		return
	}
	i := slices.IndexFunc(m.s.Children, func(c child) bool { return c.Thread == thread })
	if i < 0 {
		if len(m.s.Children) >= maxChildren {
			m.forgetChild()
		}
		m.s.Children = append(m.s.Children, child{Thread: thread})
		i = len(m.s.Children) - 1
	}
	c := &m.s.Children[i]
	if c.Parent == "" {
		c.Parent = parent
	}
	if c.Title == "" {
		c.Title = agent.Head(title, 120)
	}
}

// forgetChild makes room: the oldest without an open turn goes, else the oldest.
func (m *machine) forgetChild() {
	i := slices.IndexFunc(m.s.Children, func(c child) bool { return m.s.turnOf(c.Thread) == nil })
	i = max(i, 0)
	m.s.Children = slices.Delete(m.s.Children, i, i+1)
}

func (m *machine) childTitle(thread string) string {
	for _, c := range m.s.Children {
		if c.Thread == thread && c.Title != "" {
			return c.Title
		}
	}
	return "subagent " + thread
}

// childStarted opens the item under which a turn of a subagent is shown.
func (m *machine) childStarted(thread, id string) {
	if len(m.s.Turns) > maxChildren {
		return // its items are not shown; its requests are
	}
	parent := ""
	for _, c := range m.s.Children {
		if c.Thread == thread {
			if t := m.s.turnOf(c.Parent); t != nil {
				parent = t.Item
			}
		}
	}
	t := turn{ID: id, Thread: thread, Item: "agent/" + thread + "/" + id}
	m.s.Turns = append(m.s.Turns, t)
	m.fact(baton.FactItemOpened{Key: t.Item, Parent: parent, Kind: baton.ItemSubagent, Body: baton.ItemBody{Title: m.childTitle(thread)}})
	if m.s.turnOf(m.s.Thread) == nil {
		m.tellDetached()
	}
}

func (m *machine) childTurns() bool {
	return slices.ContainsFunc(m.s.Turns, func(t turn) bool { return t.Thread != m.s.Thread })
}
