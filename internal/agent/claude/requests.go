package claude

import (
	"encoding/json"
	"slices"
	"strings"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// request takes a control request of claude. Every one is answered, or the turn
// would wait for ever: what is unknown with an error, which claude takes as no.
func (m *machine) request(f frame) {
	a := f.Request
	if a == nil || a.Subtype != "can_use_tool" || m.s.Phase != phaseReady {
		subtype := ""
		if a != nil {
			subtype = a.Subtype
		}
		m.writeLine(refusal(f.RequestID, "not supported by this client"))
		m.notice("request", 5, baton.FactNotice{Level: "warning", Code: baton.CodeUnsupported,
			Text: "Claude Code asked for something that Baton does not know (" + agent.Head(subtype, 50) + "), and was refused"})
		return
	}
	var in args
	loose(a.Input, &in)
	r := request{ID: f.RequestID, Tool: a.Tool, Agent: a.Agent}
	open := baton.FactRequestOpened{Key: r.ID, Item: m.s.keyOf(a.ToolUse)}
	if a.Tool == "AskUserQuestion" && len(in.Questions) > 0 {
		if len(a.Input) <= maxInput {
			r.Input = a.Input
		}
		open.Kind, open.Title = baton.RequestUserInput, "Claude Code asks"
		for _, q := range in.Questions {
			open.Questions = append(open.Questions, baton.Question{Key: q.Question, Header: q.Header, Text: q.Question,
				Options: q.Options, Multiple: q.Multi, FreeText: true})
		}
	} else {
		r.Rules = sessionRules(a.Suggestions)
		open.Kind, open.Title, open.Detail = describe(a, in)
		open.Options = []baton.RequestOption{{Decision: baton.ApproveOnce, Label: "Allow"}}
		if r.Rules != nil {
			open.Options = append(open.Options, baton.RequestOption{Decision: baton.ApproveSession, Label: "Allow for this session"})
		}
		open.Options = append(open.Options, baton.RequestOption{Decision: baton.Decline, Label: "Decline"},
			baton.RequestOption{Decision: baton.CancelTurn, Label: "Decline and stop"})
	}
	m.s.Requests = append(m.s.Requests, r)
	m.fact(open)
}

// describe says in words what a tool wants.
func describe(a *ask, in args) (kind baton.RequestKind, title, detail string) {
	switch toolKind(a.Tool) {
	case baton.ItemCommand:
		title = "Run a command"
		if in.Description != "" {
			title += ": " + agent.Head(in.Description, maxSubject)
		}
		return baton.RequestCommand, title, agent.Head(in.Command, maxRules)
	case baton.ItemFileChange:
		return baton.RequestFileChange, "Change " + agent.Head(in.path(), maxSubject), arguments(a.Input)
	case baton.ItemPlan:
		return baton.RequestPermission, "Carry out the plan", agent.Head(in.Plan, maxInput)
	}
	return baton.RequestPermission, "Use " + agent.Head(a.Tool, maxSubject), arguments(a.Input)
}

// sessionRules are the suggested rules with the session as their place, or nil.
// Suggestions are otherwise written into the project (localSettings), and those
// that change the mode or add directories allow more than was asked.
func sessionRules(suggestions []json.RawMessage) json.RawMessage {
	var rules []map[string]json.RawMessage
	for _, raw := range suggestions {
		var s map[string]json.RawMessage
		if json.Unmarshal(raw, &s) != nil || string(s["type"]) != `"addRules"` || string(s["behavior"]) != `"allow"` {
			continue
		}
		s["destination"] = json.RawMessage(`"session"`)
		rules = append(rules, s)
	}
	if rules == nil {
		return nil
	}
	b, err := json.Marshal(rules)
	if err != nil || len(b) > maxRules {
		return nil
	}
	return b
}

// answer gives a person's decision to claude.
func (m *machine) answer(i baton.IntentAnswer) {
	at := slices.IndexFunc(m.s.Requests, func(r request) bool { return r.ID == i.Request })
	if at < 0 || m.s.Phase != phaseReady {
		m.fact(baton.FactDeliveryDropped{Delivery: i.Delivery,
			Err: baton.Errorf(baton.CodeNotResumable, "Claude Code no longer waits for this answer")})
		return
	}
	r := m.s.Requests[at]
	m.s.Requests = slices.Delete(m.s.Requests, at, at+1)
	answer := map[string]any{"behavior": "allow"}
	switch i.Decision {
	case baton.Decline, baton.CancelTurn:
		why := i.Reason
		if strings.TrimSpace(why) == "" {
			why = "The user declined this."
		}
		answer = map[string]any{"behavior": "deny", "message": why}
		if i.Decision == baton.CancelTurn {
			answer["interrupt"] = true
		}
	case baton.ApproveSession:
		if r.Rules != nil {
			answer["updatedPermissions"] = r.Rules
		} else {
			m.notice("session rule", 5, baton.FactNotice{Level: "info", Code: baton.CodeUnsupported,
				Text: "Claude Code offers no rule for the session here; it was allowed once"})
		}
	}
	if r.Tool == "AskUserQuestion" && answer["behavior"] == "allow" {
		answer["updatedInput"] = answers(r.Input, i)
	}
	m.write(agent.Write{
		Data: jsonl.Line(map[string]any{"type": "control_response", "response": map[string]any{
			"subtype": "success", "request_id": r.ID, "response": answer}}),
		Deliveries: []baton.DeliveryID{i.Delivery},
		Tag:        tagAnswer + string(i.Delivery),
	})
}

// answers is a question's input with what was answered. Where the input was too
// large to be kept, the questions are written anew from what the person saw.
func answers(input json.RawMessage, i baton.IntentAnswer) map[string]any {
	in := map[string]any{}
	if len(input) == 0 || json.Unmarshal(input, &in) != nil {
		var questions []map[string]any
		for _, q := range i.Questions {
			options := []map[string]string{}
			for _, o := range q.Options {
				options = append(options, map[string]string{"label": o.Label, "description": o.Description})
			}
			questions = append(questions, map[string]any{"question": q.Text, "header": q.Header, "multiSelect": q.Multiple, "options": options})
		}
		in = map[string]any{"questions": questions}
	}
	given := map[string]string{}
	for question, all := range i.Answers {
		if text := strings.Join(all, ", "); strings.TrimSpace(text) != "" {
			given[question] = text
		}
	}
	in["answers"] = given
	return in
}

func (m *machine) cancelRequest(id string) {
	if slices.ContainsFunc(m.s.Requests, func(r request) bool { return r.ID == id }) {
		m.requestGone(id, "the agent withdrew it")
	}
}

func (m *machine) requestGone(id, reason string) {
	m.s.Requests = slices.DeleteFunc(m.s.Requests, func(r request) bool { return r.ID == id })
	m.fact(baton.FactRequestGone{Key: id, Reason: reason})
}

func refusal(id, why string) []byte {
	return jsonl.Line(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "error", "request_id": id, "error": why}})
}
