package script

import (
	"encoding/json"
	"fmt"
	"strings"
)

// say stores an assistant message and streams it.
func (t *turn) say(s string) error {
	if err := t.s.append(Entry{Type: "assistant", Text: s, Turn: t.number}); err != nil {
		return err
	}
	return t.stream("agent_message_chunk", s, nil)
}

func (t *turn) think(s string) error { return t.stream("agent_thought_chunk", s, nil) }

func (t *turn) plan(s string) error {
	if err := t.s.append(Entry{Type: "assistant", Text: s, Turn: t.number}); err != nil {
		return err
	}
	return t.stream("agent_message_chunk", s, map[string]any{"baton": map[string]any{"plan": true}})
}

// stream sends s as one message in about four pieces, cut behind spaces where
// there are any.
func (t *turn) stream(kind, s string, meta map[string]any) error {
	id := t.name("msg")
	for _, p := range pieces(s) {
		u := map[string]any{"sessionUpdate": kind, "messageId": id, "content": text(p)}
		if meta != nil {
			u["_meta"] = meta
		}
		t.update(u)
		if err := t.pause(); err != nil {
			return err
		}
	}
	return nil
}

func pieces(s string) []string {
	var out []string
	size := max(len(s)/4, 8)
	start, runes := 0, []rune(s)
	for i, r := range runes {
		if i-start >= size && r == ' ' || i-start >= 2*size || i == len(runes)-1 {
			out = append(out, string(runes[start:i+1]))
			start = i + 1
		}
	}
	return out
}

// todo sends the list a+|b*|c as a plan.
func (t *turn) todo(arg string) error {
	var list []any
	for _, step := range strings.Split(arg, "|") {
		step = strings.TrimSpace(step)
		status := "pending"
		if s, ok := strings.CutSuffix(step, "*"); ok {
			step, status = s, "in_progress"
		} else if s, ok := strings.CutSuffix(step, "+"); ok {
			step, status = s, "completed"
		}
		list = append(list, map[string]any{"content": step, "priority": "medium", "status": status})
	}
	t.update(map[string]any{"sessionUpdate": "plan", "entries": list})
	return nil
}

// recall says what the conversation holds of others, oldest first.
func (t *turn) recall(string) error {
	var b strings.Builder
	for _, e := range t.s.history() {
		if e.Type == "user" && e.Turn < t.number {
			fmt.Fprintf(&b, "%s %d: %s\n", e.Role, e.Turn, e.Text)
		}
	}
	if b.Len() == 0 {
		return t.say("I know nothing before this message.")
	}
	return t.say("I know these:\n" + b.String())
}

// subagent shows a subagent as Qwen Code does: a call that names its type, and
// what it says marked with that call's id.
func (t *turn) subagent(arg string) error {
	name, said, _ := strings.Cut(arg, " ")
	id := t.name("call")
	t.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": name, "kind": "think", "status": "in_progress",
		"rawInput": map[string]any{"description": name, "prompt": said, "subagent_type": name}})
	if err := t.stream("agent_message_chunk", said, map[string]any{"parentToolCallId": id}); err != nil {
		return err
	}
	if err := t.s.append(Entry{Type: "tool", Text: "subagent " + name + ": " + said, Turn: t.number}); err != nil {
		return err
	}
	t.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
		"content": []any{map[string]any{"type": "content", "content": text(said)}}})
	return nil
}

// question asks the person with a form of one field, and says the answer. A
// client without forms gets the question as a message.
func (t *turn) question(arg string) error {
	parts := strings.Split(arg, "|")
	t.a.mu.Lock()
	forms := t.a.forms
	t.a.mu.Unlock()
	if !forms {
		return t.say(strings.Join(parts, "\n- "))
	}
	field := map[string]any{"type": "string", "description": parts[0]}
	if len(parts) > 1 {
		field["enum"] = parts[1:]
	}
	raw, err := t.a.call(t.ctx, "elicitation/create", map[string]any{
		"sessionId": t.s.id, "mode": "form", "message": parts[0],
		"requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"answer": field}, "required": []string{"answer"}},
	})
	if err != nil {
		return err
	}
	var r struct {
		Action  string `json:"action"`
		Content struct {
			Answer string `json:"answer"`
		} `json:"content"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	switch r.Action {
	case "accept":
		if err := t.s.append(Entry{Type: "tool", Text: parts[0] + " " + r.Content.Answer, Turn: t.number}); err != nil {
			return err
		}
		return t.say("The answer is: " + r.Content.Answer)
	case "decline":
		return t.say("There is no answer.")
	}
	return errCancelled
}
