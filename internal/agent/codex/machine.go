package codex

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// machine is the driver of one session.
type machine struct {
	s   state
	out agent.Output // of the step under way
}

// answerTime is how long codex may take for an answer. It answers before it
// asks its model, but drops a line that it can't read without a word, so an
// unanswered request must end.
const answerTime = 60 * time.Second

// The keys of deadlines; a call's is callPrefix and its id.
const (
	deadlineHandshake = "handshake"
	deadlineInput     = "input"
	callPrefix        = "call "
)

// Step takes one input.
func (m *machine) Step(in agent.Input) agent.Output {
	switch {
	case in.Started:
		m.start()
	case in.Frame != nil && in.Frame.Oversize != nil:
		m.oversize(*in.Frame.Oversize)
	case in.Frame != nil:
		m.frame(in.Frame.Data)
	case in.Intent != nil:
		m.intent(in.Intent)
	case in.Deadline != "":
		m.deadline(in.Deadline)
	case in.Exited:
		m.exited()
	}
	return m.out.Take()
}

func (m *machine) intent(i baton.Intent) {
	switch i := i.(type) {
	case baton.IntentDeliver:
		m.deliver(i)
	case baton.IntentAnswer:
		m.answer(i)
	case baton.IntentInterrupt:
		m.interrupt(i)
	}
}

func (m *machine) frame(data []byte) {
	msg, kind := jsonl.Decode(data)
	if m.s.Phase == phaseFailed {
		if kind == jsonl.Request {
			m.refuse(msg.ID, "the session has failed")
		}
		return
	}
	switch kind {
	case jsonl.Response:
		m.response(msg)
	case jsonl.Request:
		m.request(msg)
	case jsonl.Notification:
		m.notification(msg)
	default:
		m.notice("malformed", 1, baton.FactNotice{Level: "warning", Code: baton.CodeFrameRejected,
			Text: "Codex wrote a line that is no message: " + agent.Head(string(data), 200)})
	}
}

// response takes the answer to a request of ours.
func (m *machine) response(msg jsonl.Message) {
	id, ok := msg.StringID()
	c, known := m.s.Calls[id]
	if !ok || !known {
		return
	}
	delete(m.s.Calls, id)
	if m.s.Phase == phaseReady {
		m.setDeadline(callPrefix+id, 0)
	}
	switch c.Kind {
	case callInitialize:
		m.initialized(msg)
	case callConfig:
		m.configured(msg)
	case callOpen:
		m.opened(msg)
	case callInject:
		m.injected(c, msg.Error)
	case callTurn:
		m.turnAnswered(msg)
	case callInterrupt:
		m.interruptAnswered(c, msg.Error)
	case callClean:
		m.cleaned(msg.Error)
	case callStopChild: // its turn/completed tells
	}
}

// call writes a request. In the handshake one deadline covers all of them.
func (m *machine) call(c call, method string, params any, deliveries ...baton.DeliveryID) {
	m.s.Next++
	id := string(m.s.Spec.Session) + "-" + strconv.Itoa(m.s.Next)
	if m.s.Calls == nil {
		m.s.Calls = map[string]call{}
	}
	m.s.Calls[id] = c
	if m.s.Phase == phaseReady {
		m.setDeadline(callPrefix+id, answerTime)
	}
	m.write(map[string]any{"id": id, "method": method, "params": params}, deliveries...)
}

func (m *machine) write(v any, deliveries ...baton.DeliveryID) {
	m.out.Writes = append(m.out.Writes, agent.Write{Data: jsonl.Line(v), Deliveries: deliveries})
}

// refuse answers a request of codex with an error, which its model or the part
// that asked takes as a failure.
func (m *machine) refuse(id json.RawMessage, why string) {
	m.write(map[string]any{"id": id, "error": jsonl.RPCError{Code: -32601, Message: why}})
}

func (m *machine) fact(f ...baton.Fact) { m.out.Fact(f...) }

// notice gives a notice at most limit times for its class.
func (m *machine) notice(class string, limit int, n baton.FactNotice) {
	m.s.Notices.Notice(&m.out, class, limit, n)
}

func (m *machine) setDeadline(key string, d time.Duration) {
	m.out.SetDeadline(key, d)
}

// fail gives up on the session.
func (m *machine) fail(err *baton.Error) {
	m.s.Phase = phaseFailed
	m.setDeadline(deadlineHandshake, 0)
	m.fact(baton.FactSessionFailed{Err: err})
}

// deadline takes one that has come. An answer that never came leaves the
// session of no use: what codex has of it, its own files tell.
func (m *machine) deadline(key string) {
	if m.s.Phase == phaseFailed {
		return
	}
	silent := baton.Errorf(baton.CodeStartFailed, "codex does not answer").
		WithHint("try again; if it stays, run the command of the provider in a terminal and look at what it prints")
	switch {
	case key == deadlineHandshake:
		if m.s.Phase != phaseReady {
			m.fail(silent.WithDetail("no answer to %s within %s", m.s.Phase, answerTime))
		}
	case key == deadlineInput:
		if m.s.Input != nil {
			m.fail(silent.WithDetail("the message was given to a turn that ended without it"))
		}
	default:
		id := key[min(len(callPrefix), len(key)):]
		c, ok := m.s.Calls[id]
		if !ok {
			return
		}
		delete(m.s.Calls, id)
		switch c.Kind {
		case callInject, callTurn:
			m.fail(silent.WithDetail("no answer to what was given to it (%s) within %s", c.Kind, answerTime))
		default:
			m.notice("silent", 3, baton.FactNotice{Level: "warning", Code: baton.CodeTimedOut,
				Text: "Codex did not answer a request (" + string(c.Kind) + ")"})
		}
	}
}

// exited closes what is open. The turn itself is left to whoever knows how the
// process ended.
func (m *machine) exited() {
	switch m.s.Phase {
	case phaseReady, phaseFailed:
	default:
		m.fail(baton.Errorf(baton.CodeStartFailed, "codex ended before it was ready").
			WithHint("run the command of the provider in a terminal and look at what it prints"))
	}
	for _, id := range slices.Sorted(maps.Keys(m.s.Calls)) {
		m.setDeadline(callPrefix+id, 0)
	}
	m.setDeadline(deadlineInput, 0)
	m.s.Calls = nil
	for _, o := range m.s.Open {
		m.fact(baton.FactItemClosed{Key: o.Key, Kind: o.Kind, Status: baton.NodeInterrupted})
	}
	m.s.Open = nil
	for _, t := range slices.Backward(m.s.Turns) {
		if t.Item != "" {
			m.fact(baton.FactItemClosed{Key: t.Item, Kind: baton.ItemSubagent, Status: baton.NodeInterrupted})
		}
	}
	for _, d := range m.s.Detached {
		if d.Key != "" {
			m.fact(baton.FactItemClosed{Key: d.Key, Kind: baton.ItemCommand, Status: baton.NodeInterrupted})
		}
	}
	if len(m.s.Detached) > 0 || m.childTurns() {
		m.fact(baton.FactDetached{})
	}
	m.s.Turns, m.s.Detached = nil, nil
	for _, r := range m.s.Requests {
		if r.Answered == "" {
			m.fact(baton.FactRequestGone{Key: r.Key, Reason: "codex has ended"})
		}
	}
	m.s.Requests, m.s.Input = nil, nil
}

// decode reads params or a result as far as its types allow: what a newer codex
// made of another type is left empty.
func decode[T any](raw json.RawMessage) T {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		var other *json.UnmarshalTypeError
		if !errors.As(err, &other) {
			var zero T
			return zero
		}
	}
	return v
}
