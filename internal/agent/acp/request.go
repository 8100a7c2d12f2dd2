package acp

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// permission opens an approval about a call, which it may be the first to name.
func (m *machine) permission(msg jsonl.Message) {
	var p permissionParams
	var u update
	if m.s.Stage != stageReady || !m.decode(msg, &p) || !m.ours(p.SessionID) || json.Unmarshal(p.ToolCall, &u) != nil {
		m.answer(msg.ID, cancelled, "")
		return
	}
	if slices.ContainsFunc(m.s.Requests, func(r request) bool { return r.ID == rawID(msg) }) {
		m.bad("the agent used the id of an open request again: %s", agent.Head(string(msg.ID), 100))
		return
	}
	r := m.newRequest(msg)
	f := baton.FactRequestOpened{Key: r.Key, Kind: baton.RequestPermission, Title: agent.Head(u.Title, 500)}
	kind := itemKind(u)
	body := m.body(kind, u)
	if t := m.s.current(); t != nil {
		m.see(t, "session/request_permission")
		if t.Cancelled { // our cancel and its question have crossed
			m.answer(msg.ID, cancelled, "")
			return
		}
		if c := m.upsert(t, u); c != nil {
			if !c.Open {
				kind, body = c.Kind, c.Body // with what was told before
				m.openCall(c)
			}
			f.Item, r.Call = c.Key, c.ID
		}
	}
	switch kind {
	case baton.ItemCommand:
		f.Kind, f.Detail = baton.RequestCommand, body.Command
	case baton.ItemFileChange:
		f.Kind = baton.RequestFileChange
		for _, c := range body.Files {
			f.Detail += c.Change + " " + c.Path + "\n" + c.Diff
		}
		if d := input(u.RawInput).Diff; d != "" {
			f.Detail = agent.Head(strings.TrimSpace(d), maxDiff)
		}
	default:
		f.Detail = body.Input
	}
	for _, o := range p.Options {
		d, ok := decisions[o.Kind]
		// Qwen Code 0.15.10 would write .qwen/settings.json into the work tree.
		if !ok || o.ID == "proceed_always_project" {
			continue
		}
		f.Options = append(f.Options, baton.RequestOption{Decision: d, Label: agent.Head(o.Name, 200), NativeID: o.ID})
		r.Options = append(r.Options, permitOption{ID: o.ID, Kind: o.Kind})
	}
	f.Options = append(f.Options, baton.RequestOption{Decision: baton.CancelTurn, Label: "Decline and stop"})
	m.s.Requests = append(m.s.Requests, r)
	m.fact(f)
}

var cancelled = map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}

var decisions = map[string]baton.Decision{
	"allow_once": baton.ApproveOnce, "allow_always": baton.ApproveSession,
	"reject_once": baton.Decline, "reject_always": baton.Decline,
}

// preferred lists for each decision the kinds of options that carry it out,
// best first. None of them gives more than was decided.
var preferred = map[baton.Decision][]string{
	baton.ApproveOnce:    {"allow_once"},
	baton.ApproveSession: {"allow_always", "allow_once"},
	baton.Decline:        {"reject_once", "reject_always"},
}

func (m *machine) newRequest(msg jsonl.Message) request {
	m.s.Asks++
	return request{Key: "q" + strconv.Itoa(m.s.Asks), ID: rawID(msg)}
}

// rawID is the JSON text of a message's id, as the state can hold it.
func rawID(msg jsonl.Message) string { return strings.ToValidUTF8(string(msg.ID), "\uFFFD") }

// answerRequest gives a person's answer. ACP confirms none; it counts as
// accepted when its bytes are with the agent, since an agent that dies then
// has lost the question too.
func (m *machine) answerRequest(in baton.IntentAnswer) {
	i := slices.IndexFunc(m.s.Requests, func(r request) bool { return r.Key == in.Request })
	if i < 0 {
		m.fact(baton.FactDeliveryDropped{Delivery: in.Delivery, Err: baton.Errorf(baton.CodeNotResumable, "the agent no longer waits for this answer")})
		return
	}
	r := m.s.Requests[i]
	m.s.Requests = slices.Delete(m.s.Requests, i, i+1)
	tag := "answer:" + string(in.Delivery)
	if r.Form {
		m.answer(json.RawMessage(r.ID), elicited(r, in), tag, in.Delivery)
	} else {
		m.answer(json.RawMessage(r.ID), m.chosen(r, in), tag, in.Delivery)
	}
	if in.Decision == baton.CancelTurn && m.s.current() != nil {
		m.cancel()
	}
}

func (m *machine) written(tag string) {
	if d, ok := strings.CutPrefix(tag, "answer:"); ok {
		m.fact(baton.FactDeliveryAccepted{Delivery: baton.DeliveryID(d), Evidence: "written"})
	}
}

// chosen is the result of a permission: the option that the person named, or
// the best of the decision's kind.
func (m *machine) chosen(r request, in baton.IntentAnswer) any {
	id := ""
	for _, o := range r.Options {
		if o.ID == in.Option && in.Option != "" && in.Decision == decisions[o.Kind] {
			id = o.ID
		}
	}
	for _, kind := range preferred[in.Decision] {
		if i := slices.IndexFunc(r.Options, func(o permitOption) bool { return o.Kind == kind }); id == "" && i >= 0 {
			id = r.Options[i].ID
		}
	}
	if in.Decision == baton.Decline || in.Decision == baton.CancelTurn {
		if t := m.s.current(); t != nil && r.Call != "" {
			if c := t.call(r.Call); c != nil {
				c.Declined = true
			}
		}
	}
	if id == "" {
		return cancelled
	}
	result := map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": id}}
	if in.Reason != "" {
		result["_meta"] = map[string]any{"baton": map[string]any{"reason": in.Reason}}
	}
	return result
}

// cancelRequests answers all open requests and says that they are gone.
func (m *machine) cancelRequests(reason string) {
	for _, r := range m.s.Requests {
		if r.Form {
			m.answer(json.RawMessage(r.ID), map[string]any{"action": "cancel"}, "")
		} else {
			m.answer(json.RawMessage(r.ID), cancelled, "")
		}
		m.fact(baton.FactRequestGone{Key: r.Key, Reason: reason})
	}
	m.s.Requests = nil
}
