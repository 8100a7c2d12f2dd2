package claude

import (
	"encoding/json"

	"baton"
)

// stream takes an event of the Messages API. Subagents have none.
func (m *machine) stream(f frame) {
	if f.Event == nil || f.Parent != "" || m.s.Phase != phaseReady {
		return
	}
	e := f.Event
	switch e.Type {
	case "message_start":
		if e.Message != nil {
			m.messageStart(e)
		}
	case "content_block_start":
		m.ensure()
		if e.Block != nil {
			m.blockStart(e)
		}
	case "content_block_delta":
		m.delta(e)
	case "message_delta":
		if m.s.Turn != nil {
			m.s.Turn.Context += e.Usage.Output
		}
	case "message_stop":
		m.closeBlock(baton.NodeCompleted, "")
	}
}

func (m *machine) messageStart(e *event) {
	m.ensure()
	m.void()
	m.s.Turn.Context = e.Message.Usage.input()
}

func (m *machine) blockStart(e *event) {
	kind := blockKind(e.Block.Type)
	old := m.s.Block
	if old != nil && (!old.Void || old.Kind != kind) {
		end := baton.NodeCompleted
		if old.Void {
			end = baton.NodeInterrupted
		}
		m.closeBlock(end, "")
		old = nil
	}
	if kind == "" {
		return
	}
	b := &block{Index: e.Index, Kind: kind}
	if old != nil { // the same text, once more
		b.Key, b.Open = old.Key, old.Open
	} else {
		b.Key = m.s.key("text-")
	}
	m.s.Block = b
}

func blockKind(native string) baton.ItemKind {
	switch native {
	case "text":
		return baton.ItemAssistantMessage
	case "thinking":
		return baton.ItemReasoning
	}
	return ""
}

// delta appends to the block. Its item opens with the first text, since a block
// of hidden thinking has none.
func (m *machine) delta(e *event) {
	b := m.s.Block
	text := e.Delta.Text + e.Delta.Thinking
	if b == nil || b.Void || b.Index != e.Index || text == "" {
		return
	}
	if !b.Open {
		b.Open = true
		m.fact(baton.FactItemOpened{Key: b.Key, Kind: b.Kind})
	}
	m.fact(baton.FactItemDelta{Key: b.Key, Text: text})
}

// void takes back what has streamed of the open block: the agent starts over.
func (m *machine) void() {
	b := m.s.Block
	if b == nil || b.Void {
		return
	}
	b.Void = true
	if b.Open {
		m.fact(baton.FactItemReset{Key: b.Key})
	}
}

// closeBlock closes the open block. Its whole text may be empty where only the
// stream had it.
func (m *machine) closeBlock(status baton.NodeStatus, text string) {
	b := m.s.Block
	m.s.Block = nil
	if b == nil || !b.Open && text == "" {
		return
	}
	m.fact(baton.FactItemClosed{Key: b.Key, Kind: b.Kind, Status: status, Body: baton.ItemBody{Text: text}})
}

// assistant takes a whole block: one line for each.
func (m *machine) assistant(f frame) {
	if m.s.Phase != phaseReady {
		return
	}
	var msg message
	loose(f.Message, &msg)
	if f.Parent == "" {
		m.ensure()
		m.s.Head = f.UUID
		m.s.Turn.Error = f.Error
		if f.APIError { // the turn's error says it
			return
		}
	}
	for _, c := range blocks(msg.Content) {
		switch c.Type {
		case "text":
			m.whole(f, baton.ItemAssistantMessage, c.Text)
		case "thinking":
			m.whole(f, baton.ItemReasoning, c.Thinking)
		case "tool_use":
			m.toolCall(f.Parent, c)
		}
	}
}

// whole closes the block that streams, or makes an item at once where none does:
// in subagents, and where a broken stream was replaced by a plain answer.
func (m *machine) whole(f frame, kind baton.ItemKind, text string) {
	status := baton.NodeCompleted
	if f.Aborted {
		status = baton.NodeInterrupted
	}
	if f.Parent == "" && m.s.Block != nil && m.s.Block.Kind == kind {
		m.closeBlock(status, text)
		return
	}
	if text == "" {
		return
	}
	key := m.s.key("text-")
	if f.Parent != "" {
		m.fact(baton.FactItemOpened{Key: key, Parent: m.s.keyOf(f.Parent), Kind: kind})
	}
	m.fact(baton.FactItemClosed{Key: key, Kind: kind, Status: status, Body: baton.ItemBody{Text: text}})
}

// user takes the results of tools. All else in such lines is either ours or
// claude's own prompting.
func (m *machine) user(f frame) {
	if m.s.Phase != phaseReady || f.Synthetic || f.Replay {
		return
	}
	var msg message
	loose(f.Message, &msg)
	var whole json.RawMessage
	if all := blocks(msg.Content); len(all) == 1 {
		whole = f.Result // tells of one call only
	}
	for _, c := range blocks(msg.Content) {
		if c.Type == "tool_result" {
			m.toolResult(f, c, whole)
		}
	}
}
