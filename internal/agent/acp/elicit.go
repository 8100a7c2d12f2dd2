package acp

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// elicitation opens questions: each property of the form is one. A form that
// can't be shown, and a visit to a page (mode url), is declined.
func (m *machine) elicitation(msg jsonl.Message) {
	var p elicitationParams
	if m.s.Stage != stageReady || !m.decode(msg, &p) || !m.ours(p.SessionID) {
		m.answer(msg.ID, map[string]any{"action": "cancel"}, "")
		return
	}
	if p.Mode != "form" && p.Mode != "" {
		m.answer(msg.ID, map[string]any{"action": "decline"}, "")
		m.bad("the agent asked for input in a way that is not offered (%s), and was declined", agent.Head(p.Mode, 50))
		return
	}
	r := m.newRequest(msg)
	r.Form, r.Fields = true, map[string]*field{}
	f := baton.FactRequestOpened{Key: r.Key, Kind: baton.RequestUserInput, Title: agent.Head(p.Message, 2000)}
	if t := m.s.current(); t != nil {
		m.see(t, "elicitation/create")
		if t.Cancelled {
			m.answer(msg.ID, map[string]any{"action": "cancel"}, "")
			return
		}
		m.closeChunk(t, baton.NodeCompleted)
		f.Item = t.keyOf(p.ToolCallID)
	}
	for _, name := range names(p.Schema.Properties) {
		var all map[string]json.RawMessage
		var prop property
		_ = json.Unmarshal(p.Schema.Properties, &all)
		_ = json.Unmarshal(all[name], &prop)
		q, fl := question(name, prop)
		if q.Text == "" {
			q.Text = p.Message
		}
		f.Questions = append(f.Questions, q)
		r.Fields[name] = fl
	}
	if len(f.Questions) == 0 {
		m.answer(msg.ID, map[string]any{"action": "decline"}, "")
		m.bad("the agent asked a question without fields, and was declined: %s", agent.Head(p.Message, 200))
		return
	}
	m.s.Requests = append(m.s.Requests, r)
	m.fact(f)
}

func question(name string, p property) (baton.Question, *field) {
	q := baton.Question{Key: name, Header: p.Title, Text: p.Description}
	if q.Text == "" {
		q.Header, q.Text = "", p.Title
	}
	fl := &field{Type: p.Type}
	enum, oneOf := p.Enum, p.OneOf
	if p.Type == "array" {
		q.Multiple, enum, oneOf = true, p.Items.Enum, p.Items.AnyOf
	}
	if p.Type == "boolean" {
		oneOf = []enumOption{{Const: "true", Title: "Yes"}, {Const: "false", Title: "No"}}
	}
	for _, e := range enum {
		q.Options = append(q.Options, baton.QuestionOption{Label: e})
	}
	for _, o := range oneOf {
		label := o.Title
		if label == "" {
			label = o.Const
		}
		if label != o.Const {
			if fl.Values == nil {
				fl.Values = map[string]string{}
			}
			fl.Values[label] = o.Const
		}
		q.Options = append(q.Options, baton.QuestionOption{Label: label, Description: o.Description})
	}
	q.FreeText = len(q.Options) == 0
	return q, fl
}

// names returns an object's members in their order, each once.
func names(object json.RawMessage) []string {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []string
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		var skip json.RawMessage
		if err != nil || !ok || dec.Decode(&skip) != nil {
			return out
		}
		if !seen[name] && len(out) < 20 {
			out = append(out, name)
		}
		seen[name] = true
	}
	return out
}

// elicited is the result of a form.
func elicited(r request, in baton.IntentAnswer) any {
	switch in.Decision {
	case baton.Decline:
		return map[string]any{"action": "decline"}
	case baton.CancelTurn:
		return map[string]any{"action": "cancel"}
	}
	content := map[string]any{}
	for name, fl := range r.Fields {
		var values []string
		for _, v := range in.Answers[name] {
			if mapped, ok := fl.Values[v]; ok {
				v = mapped
			}
			values = append(values, v)
		}
		if len(values) > 0 {
			content[name] = fl.value(values)
		}
	}
	return map[string]any{"action": "accept", "content": content}
}

// value gives an answer the type that its field asks for, where it can be read so.
func (f *field) value(values []string) any {
	switch f.Type {
	case "array":
		return values
	case "boolean":
		return strings.EqualFold(values[0], "true")
	case "integer":
		if n, err := strconv.ParseInt(strings.TrimSpace(values[0]), 10, 64); err == nil {
			return n
		}
	case "number":
		if n, err := strconv.ParseFloat(strings.TrimSpace(values[0]), 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			return n
		}
	}
	return values[0]
}
