package acp

import (
	"encoding/json"
	"strconv"

	"baton"
	"baton/internal/agent"
)

// update takes one session/update.
func (m *machine) update(u update) {
	switch m.s.Stage {
	case stageOpen: // a replay
		m.s.Replayed = m.s.Replayed || content(u.Kind)
		return
	case stageQuiet:
		m.setDeadline(deadlineQuiet, QuietAfterLoad)
		return
	case stageReady:
	default:
		return
	}
	t := m.s.current()
	if !content(u.Kind) {
		if u.Kind == "usage_update" && t != nil {
			t.Usage.ContextTokens, t.Usage.ContextWindow = u.Used, u.Size
		}
		if u.Kind == "notice" {
			m.agentNotice(u)
		}
		return
	}
	if t == nil {
		if !m.s.Stray && u.Kind != "user_message_chunk" {
			m.s.Stray = true
			m.notice("info", baton.CodeFrameRejected, "the agent said something outside of a turn ("+agent.Head(u.Kind, 50)+"); it is left out", "")
		}
		return
	}
	m.see(t, "session/update "+u.Kind)
	switch u.Kind {
	case "agent_message_chunk":
		m.chunk(t, u, baton.ItemAssistantMessage)
	case "agent_thought_chunk":
		m.chunk(t, u, baton.ItemReasoning)
	case "tool_call", "tool_call_update":
		m.toolUpdate(t, u)
	case "plan":
		m.plan(t, u.Entries)
	}
}

// content says whether an update is a turn's: news of modes, commands and
// titles come at any time and prove nothing.
func content(kind string) bool {
	switch kind {
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan":
		return true
	}
	return false
}

// chunk appends to the open message or thought, or opens one. A chunk of
// another kind, of another messageId (OpenCode) or under another call begins a
// new item.
func (m *machine) chunk(t *turn, u update, kind baton.ItemKind) {
	t.Usage = t.Usage.Add(u.Meta.Usage.usage()) // qwen-code 0.15.10, on an empty chunk
	var b block
	_ = json.Unmarshal(u.Content, &b)
	text := b.text()
	if text == "" {
		return
	}
	if u.Meta.Baton.Plan {
		kind = baton.ItemPlan
	}
	parent := t.keyOf(u.Meta.Parent)
	message := key(u.MessageID)
	if c := t.Chunk; c != nil && (c.Kind != kind || c.Parent != parent || c.Message != message) {
		m.closeChunk(t, baton.NodeCompleted)
	}
	if t.Chunk == nil {
		t.Items++
		t.Chunk = &chunk{Key: t.Key + "." + strconv.Itoa(t.Items), Kind: kind, Parent: parent, Message: message}
		m.fact(baton.FactItemOpened{Key: t.Chunk.Key, Parent: parent, Kind: kind})
	}
	m.fact(baton.FactItemDelta{Key: t.Chunk.Key, Text: text})
}

// closeChunk ends the open message or thought; its text is what streamed.
func (m *machine) closeChunk(t *turn, status baton.NodeStatus) {
	if t.Chunk == nil {
		return
	}
	m.fact(baton.FactItemClosed{Key: t.Chunk.Key, Kind: t.Chunk.Kind, Status: status})
	t.Chunk = nil
}

// plan replaces the todo list: the list has no id, so each is an item of its
// own that closes the one before it. An empty one says nothing (Copilot CLI
// 1.0.102 sends no other).
func (m *machine) plan(t *turn, entries []planEntry) {
	if len(entries) == 0 {
		return
	}
	m.closeTodo(t, baton.NodeCompleted)
	var steps []baton.TodoStep
	for _, e := range entries {
		status := e.Status
		if status != "in_progress" && status != "completed" {
			status = "pending"
		}
		steps = append(steps, baton.TodoStep{Text: e.Content, Status: status})
	}
	t.Items++
	t.Todo = t.Key + "." + strconv.Itoa(t.Items)
	m.fact(baton.FactItemOpened{Key: t.Todo, Kind: baton.ItemTodo, Body: baton.ItemBody{Steps: steps}})
}

func (m *machine) closeTodo(t *turn, status baton.NodeStatus) {
	if t.Todo != "" {
		m.fact(baton.FactItemClosed{Key: t.Todo, Kind: baton.ItemTodo, Status: status})
		t.Todo = ""
	}
}

// agentNotice shows a notice of the agent (schema v1.7.0, stable).
func (m *machine) agentNotice(u update) {
	level := u.Severity
	if level != "warning" && level != "error" {
		level = "info"
	}
	text := u.Title
	if u.Description != "" {
		text += ": " + u.Description
	}
	if text != "" {
		m.notice(level, "", agent.Head(text, 2000), "")
	}
}
