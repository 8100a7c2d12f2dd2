package acp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// machine is an agent.Machine. out is the step that is being made.
type machine struct {
	s   state
	out agent.Output
}

func (m *machine) State() []byte {
	b, err := json.Marshal(m.s)
	if err != nil {
		panic("acp: " + err.Error()) // the state is of our making
	}
	return b
}

func (m *machine) Step(in agent.Input) agent.Output {
	if m.s.Stage != stageGone {
		switch {
		case in.Started:
			m.started()
		case in.Exited:
			m.exited()
		case m.s.Stage == stageFailed:
			// nothing that comes can be of use
		case in.Frame != nil:
			m.frame(in.Frame)
		case in.Intent != nil:
			m.intent(in.Intent)
		case in.Written != nil:
			m.written(in.Written.Tag)
		case in.Deadline != "":
			m.deadline(in.Deadline)
		}
	}
	return m.out.Take()
}

func (m *machine) frame(f *agent.Frame) {
	if f.Oversize != nil {
		m.oversize(f.Oversize)
		return
	}
	msg, kind := jsonl.Decode(f.Data)
	switch kind {
	case jsonl.Malformed:
		m.bad("the agent sent a line that is no message: %s", agent.Head(string(f.Data), 200))
	case jsonl.Response:
		m.response(msg)
	case jsonl.Notification:
		m.notification(msg)
	case jsonl.Request:
		switch msg.Method {
		case "session/request_permission":
			m.permission(msg)
		case "elicitation/create":
			m.elicitation(msg)
		default:
			m.refuse(msg, -32601, "Method not found")
			m.bad("the agent asked for %q, which is not offered, and was refused", agent.Head(msg.Method, 100))
		}
	}
}

func (m *machine) notification(msg jsonl.Message) {
	switch msg.Method {
	case "session/update":
		var p sessionParams
		if !m.decode(msg, &p) || !m.ours(p.SessionID) {
			return
		}
		var u update
		if err := json.Unmarshal(p.Update, &u); err != nil {
			m.bad("the agent sent an update that can't be read: %s", agent.Head(string(p.Update), 200))
			return
		}
		m.update(u)
	case "_baton/turn_started":
		var p sessionParams
		if m.decode(msg, &p) && m.ours(p.SessionID) && m.s.Own == nil && m.s.Stage == stageReady {
			m.s.Own = m.newTurn()
			m.see(m.s.Own, msg.Method)
		}
	case "_baton/turn_ended":
		var p turnEndedParams
		if m.decode(msg, &p) && m.ours(p.SessionID) && m.s.Own != nil {
			t := m.s.Own
			t.Usage = t.Usage.Add(p.Usage.usage())
			var err *baton.Error
			if p.Error != "" {
				err = baton.Errorf(baton.CodeAgentFailed, "the agent reported a failure").WithDetail("%s", agent.Head(p.Error, 2000))
			}
			m.endTurn(t, p.StopReason, err)
		}
	case "_baton/detached":
		var p detachedParams
		if m.decode(msg, &p) && m.ours(p.SessionID) {
			m.fact(baton.FactDetached{Names: p.Names})
		}
	}
	// Other notifications ($/…, elicitation/complete, vendors') ask for nothing.
}

// ours says whether a message is about our conversation. Agents that run
// subagents in sessions of their own send nothing about them (OpenCode), so
// whatever names another session is not for this thread. Before the session is
// open its id is not known, and a replay needs no look.
func (m *machine) ours(session string) bool {
	return m.s.Session == "" || session == "" || session == m.s.Session
}

func (m *machine) decode(msg jsonl.Message, into any) bool {
	if err := json.Unmarshal(msg.Params, into); err != nil {
		m.bad("the agent sent %s with parameters that can't be read: %s", agent.Head(msg.Method, 100), agent.Head(string(msg.Params), 200))
		return false
	}
	return true
}

// oversize stands for a line that nobody has. It may have been the answer that
// the turn waits for; its head tells.
func (m *machine) oversize(o *agent.Oversize) {
	t := m.s.Prompt
	if t != nil && bytes.Contains(o.Head, []byte(`"id":`+strconv.Quote(t.ID))) && !bytes.Contains(o.Head, []byte(`"method":`)) {
		m.see(t, "answer of session/prompt")
		m.endTurn(t, "", baton.Errorf(baton.CodeFrameRejected, "the agent's answer was too long to be read").WithDetail("%d bytes", o.Length))
		return
	}
	if t := m.s.current(); t != nil {
		m.closeChunk(t, baton.NodeFailed)
	}
	m.notice("warning", baton.CodeFrameRejected, "the agent sent a line of "+strconv.FormatInt(o.Length, 10)+" bytes, which is too long; it is left out", "")
}

// Making a step.

func (m *machine) fact(f baton.Fact) { m.out.Fact(f) }

func (m *machine) notice(level string, code baton.Code, text, hint string) {
	m.fact(baton.FactNotice{Level: level, Code: code, Text: text, Hint: hint})
}

// maxBad is how many senseless frames are shown; a broken agent can send
// thousands, and the first ones tell enough.
const maxBad = 5

func (m *machine) bad(format string, args ...any) {
	m.s.Bad++
	if m.s.Bad > maxBad {
		return
	}
	e := baton.Errorf(baton.CodeFrameRejected, format, args...)
	hint := ""
	if m.s.Bad == maxBad {
		hint = "further ones of this session are not shown"
	}
	m.notice("warning", e.Code, e.Title, hint)
}

func (m *machine) write(v any, tag string, deliveries ...baton.DeliveryID) {
	m.out.Writes = append(m.out.Writes, agent.Write{Data: jsonl.Line(v), Tag: tag, Deliveries: deliveries})
}

// request writes a request of ours and returns its id.
func (m *machine) request(method string, params any, deliveries ...baton.DeliveryID) string {
	m.s.Next++
	id := "b" + strconv.Itoa(m.s.Next)
	m.write(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}, "", deliveries...)
	return id
}

func (m *machine) notify(method string, params any) {
	m.write(map[string]any{"jsonrpc": "2.0", "method": method, "params": params}, "")
}

func (m *machine) answer(id json.RawMessage, result any, tag string, deliveries ...baton.DeliveryID) {
	m.write(map[string]any{"jsonrpc": "2.0", "id": id, "result": result}, tag, deliveries...)
}

func (m *machine) refuse(msg jsonl.Message, code int, text string) {
	m.write(map[string]any{"jsonrpc": "2.0", "id": msg.ID, "error": jsonl.RPCError{Code: code, Message: text}}, "")
}

func (m *machine) setDeadline(key string, d time.Duration) {
	m.out.SetDeadline(key, d)
}
