package codex

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

const (
	askCommand     = "item/commandExecution/requestApproval"
	askFileChange  = "item/fileChange/requestApproval"
	askPermissions = "item/permissions/requestApproval"
	askUser        = "item/tool/requestUserInput"
)

// approvals are the ways to answer an approval. Codex 0.171.0 honours all four,
// also those that its availableDecisions leave out.
var approvals = []baton.RequestOption{
	{Decision: baton.ApproveOnce, Label: "Approve"},
	{Decision: baton.ApproveSession, Label: "Approve for this session"},
	{Decision: baton.Decline, Label: "Decline"},
	{Decision: baton.CancelTurn, Label: "Decline and stop"},
}

type ask struct {
	ThreadID    string          `json:"threadId"`
	TurnID      string          `json:"turnId"`
	ItemID      string          `json:"itemId"`
	Reason      string          `json:"reason"`
	Command     string          `json:"command"`
	Cwd         string          `json:"cwd"`
	GrantRoot   string          `json:"grantRoot"`
	Permissions json.RawMessage `json:"permissions"`
	Network     struct {
		Host     string `json:"host"`
		Protocol string `json:"protocol"`
	} `json:"networkApprovalContext"`
	Questions []struct {
		ID       string                 `json:"id"`
		Header   string                 `json:"header"`
		Question string                 `json:"question"`
		IsOther  bool                   `json:"isOther"`
		Options  []baton.QuestionOption `json:"options"`
	} `json:"questions"`
}

// request takes something that codex asks and waits for. What this driver
// does not know is refused, so that nothing waits for ever.
func (m *machine) request(msg jsonl.Message) {
	p := decode[ask](msg.Params)
	r := request{Key: "request/" + string(msg.ID), ID: compact(msg.ID), Method: msg.Method, Thread: p.ThreadID, Turn: p.TurnID}
	f := baton.FactRequestOpened{Key: r.Key, Detail: p.Reason, Options: approvals}
	about := ""
	if o := m.s.item(p.TurnID, p.ItemID); o != nil {
		f.Item, r.Item, about = o.Key, o.Key, o.Label
	}
	switch msg.Method {
	case askCommand:
		f.Kind, f.Title = baton.RequestCommand, p.Command
		if f.Title == "" {
			f.Title = about
		}
		if p.Network.Host != "" {
			f.Kind, f.Title = baton.RequestPermission, "Reach "+p.Network.Host+" over "+p.Network.Protocol
		}
	case askFileChange:
		f.Kind, f.Title = baton.RequestFileChange, "Change "+about
		if about == "" {
			f.Title = "Change files"
		}
		if p.GrantRoot != "" {
			f.Detail = joinLines(f.Detail, "It asks to write below "+p.GrantRoot+" for the rest of the session.")
		}
	case askPermissions:
		r.Profile = grant(p.Permissions)
		if r.Profile == nil {
			m.unknownRequest(msg)
			return
		}
		f.Kind, f.Title = baton.RequestPermission, "More access"
		f.Detail = joinLines(f.Detail, string(r.Profile))
	case askUser:
		f.Kind, f.Title, f.Options = baton.RequestUserInput, "Codex asks", nil
		for _, q := range p.Questions {
			f.Questions = append(f.Questions, baton.Question{Key: q.ID, Header: q.Header, Text: q.Question,
				Options: q.Options, FreeText: q.IsOther || len(q.Options) == 0})
		}
		if len(f.Questions) == 0 {
			m.unknownRequest(msg)
			return
		}
		f.Title = f.Questions[0].Text
	default:
		m.unknownRequest(msg)
		return
	}
	if len(m.s.Requests) >= maxRequests || m.s.Phase != phaseReady {
		m.unknownRequest(msg)
		return
	}
	f.Options = slices.Clone(f.Options)
	m.s.Requests = append(m.s.Requests, r)
	m.fact(f)
}

func (m *machine) unknownRequest(msg jsonl.Message) {
	m.refuse(msg.ID, "baton does not take this request")
	m.notice("unknown request", 10, baton.FactNotice{Level: "warning", Code: baton.CodeUnsupported,
		Text: "Codex asked for something that Baton can't show (" + agent.Head(msg.Method, 80) + "); it was refused"})
}

// answer writes the answer to a request. Codex confirms it with
// serverRequest/resolved.
func (m *machine) answer(i baton.IntentAnswer) {
	n := slices.IndexFunc(m.s.Requests, func(r request) bool { return r.Key == i.Request && r.Answered == "" })
	if n < 0 {
		m.fact(baton.FactDeliveryDropped{Delivery: i.Delivery,
			Err: baton.Errorf(baton.CodeNotResumable, "codex no longer waits for this answer").WithHint("send it as a message")})
		return
	}
	r := &m.s.Requests[n]
	r.Answered = i.Delivery
	result, ends := r.result(i)
	m.write(map[string]any{"id": r.ID, "result": result}, i.Delivery)
	if ends {
		m.call(call{Kind: callInterrupt, Turn: r.Turn}, "turn/interrupt", map[string]any{"threadId": r.Thread, "turnId": r.Turn})
	}
	if i.Decision == baton.Decline && i.Reason != "" {
		m.fact(baton.FactNotice{Level: "info", Code: baton.CodeUnsupported, Text: "Codex takes no reason with a refusal; it was declined without one",
			Hint: "send the reason as a message"})
	}
}

// result is the answer in codex's form, and whether the turn must be ended
// beside it, since only approvals of commands and changes can say so.
func (r request) result(i baton.IntentAnswer) (result any, ends bool) {
	cancel := i.Decision == baton.CancelTurn
	switch r.Method {
	case askPermissions:
		granted, scope := json.RawMessage("{}"), "turn"
		switch i.Decision {
		case baton.ApproveOnce:
			granted = r.Profile
		case baton.ApproveSession:
			granted, scope = r.Profile, "session"
		}
		return map[string]any{"permissions": granted, "scope": scope}, cancel
	case askUser:
		answers := map[string]any{}
		if i.Decision != baton.Decline && !cancel {
			for key, given := range i.Answers {
				answers[key] = map[string]any{"answers": given}
			}
		}
		return map[string]any{"answers": answers}, cancel
	}
	decision := "decline"
	switch i.Decision {
	case baton.ApproveOnce:
		decision = "accept"
	case baton.ApproveSession:
		decision = "acceptForSession"
	case baton.CancelTurn:
		decision = "cancel"
	}
	return map[string]any{"decision": decision}, false
}

func (m *machine) resolved(msg jsonl.Message) {
	p := decode[struct {
		RequestID json.RawMessage `json:"requestId"`
	}](msg.Params)
	n := slices.IndexFunc(m.s.Requests, func(r request) bool { return bytes.Equal(r.ID, compact(p.RequestID)) })
	if n < 0 {
		return
	}
	r := m.s.Requests[n]
	m.s.Requests = slices.Delete(m.s.Requests, n, n+1)
	if r.Answered != "" {
		m.fact(baton.FactDeliveryAccepted{Delivery: r.Answered, Evidence: "serverRequest/resolved " + strconv.Quote(string(r.ID))})
		return
	}
	m.fact(baton.FactRequestGone{Key: r.Key, Reason: "codex no longer waits for it"})
}

// closeRequests ends what codex asked in a turn that is over.
func (m *machine) closeRequests(t turn) {
	m.s.Requests = slices.DeleteFunc(m.s.Requests, func(r request) bool {
		if r.Turn != t.ID || r.Answered != "" {
			return false
		}
		m.fact(baton.FactRequestGone{Key: r.Key, Reason: "its turn has ended"})
		return true
	})
}

// waitsFor says whether an item has not begun because of a request about it.
func (m *machine) waitsFor(o openItem) bool {
	return slices.ContainsFunc(m.s.Requests, func(r request) bool { return r.Item == o.Key })
}

// grant is the profile that was asked for in the form in which it is granted:
// without the parts that are null. It is nil for one that is too long to keep.
func grant(raw json.RawMessage) json.RawMessage {
	var parts map[string]json.RawMessage
	if len(raw) > maxProfile || json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	for k, v := range parts {
		if string(v) == "null" {
			delete(parts, k)
		}
	}
	return bytes.TrimRight(jsonl.Line(parts), "\n")
}

func joinLines(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}
