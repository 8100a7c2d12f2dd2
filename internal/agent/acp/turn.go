package acp

import (
	"encoding/json"
	"strconv"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

func (m *machine) intent(in baton.Intent) {
	switch i := in.(type) {
	case baton.IntentDeliver:
		m.deliver(i)
	case baton.IntentAnswer:
		m.answerRequest(i)
	case baton.IntentInterrupt:
		m.interrupt(i.TurnKey)
	}
}

// deliver writes one prompt with the handoffs and the message.
func (m *machine) deliver(in baton.IntentDeliver) {
	t := m.newTurn()
	var blocks []any
	add := func(p baton.Payload, role string) {
		blocks = append(blocks, map[string]any{"type": "text", "text": p.Text,
			"_meta": map[string]any{"baton": map[string]any{"delivery": p.Delivery, "role": role}}})
		t.Deliveries = append(t.Deliveries, p.Delivery)
	}
	for _, h := range in.Handoffs {
		add(h, "handoff")
		if n := len(h.Text); n == 0 || h.Text[n-1] != '\n' {
			blocks = append(blocks, map[string]any{"type": "text", "text": "\n"})
		}
	}
	add(in.Message, "message")

	if m.s.Stage != stageReady || m.s.Prompt != nil {
		err := baton.Errorf(baton.CodeConflict, "the agent can't take a message now").WithDetail("the session is %s and a prompt is open: %t", m.s.Stage, m.s.Prompt != nil)
		for _, d := range t.Deliveries {
			m.fact(baton.FactDeliveryDropped{Delivery: d, Err: err})
		}
		return
	}
	m.s.Prompt = t
	t.ID = m.request("session/prompt", map[string]any{"sessionId": m.s.Session, "prompt": blocks}, t.Deliveries...)
}

func (m *machine) newTurn() *turn {
	m.s.Turns++
	m.s.Stray = false
	return &turn{Key: "t" + strconv.Itoa(m.s.Turns)}
}

// see notes the first sign that the agent has the turn's input.
func (m *machine) see(t *turn, evidence string) {
	if t.Seen {
		return
	}
	t.Seen = true
	for _, d := range t.Deliveries {
		m.fact(baton.FactDeliveryAccepted{Delivery: d, Evidence: evidence})
	}
	m.fact(baton.FactTurnStarted{Key: t.Key, Native: baton.NativeRef{Strength: baton.None}, Deliveries: append([]baton.DeliveryID(nil), t.Deliveries...)})
	for _, d := range t.Deliveries {
		m.fact(baton.FactDeliveryConsumed{Delivery: d, TurnKey: t.Key})
	}
}

// interrupt asks the agent to end what it does. ACP cancels the session's
// work, whichever turn that is, so all that is open counts as cancelled. A
// turn that has ended in the meantime needs no cancel, which could only hit
// the next one.
func (m *machine) interrupt(key string) {
	hit := false
	for _, t := range []*turn{m.s.Own, m.s.Prompt} {
		hit = hit || t != nil && (key == "" || key == t.Key)
	}
	if hit {
		m.cancel()
	}
}

func (m *machine) cancel() {
	for _, t := range []*turn{m.s.Own, m.s.Prompt} {
		if t != nil {
			t.Cancelled = true
		}
	}
	m.notify("session/cancel", map[string]any{"sessionId": m.s.Session})
	// Gemini CLI and Qwen Code end the turn only after this answer.
	m.cancelRequests("interrupted")
}

func (m *machine) promptAnswered(msg jsonl.Message) {
	t := m.s.Prompt
	if e := msg.Error; e != nil {
		err := m.authHint(rpcError(e, baton.CodeAgentFailed))
		if !t.Seen && !t.Cancelled && refusal(e) {
			m.s.Prompt = nil
			for _, d := range t.Deliveries {
				m.fact(baton.FactDeliveryDropped{Delivery: d, Err: err})
			}
			return
		}
		m.see(t, "answer of session/prompt")
		m.endTurn(t, "", err)
		return
	}
	var r promptResult
	if err := json.Unmarshal(msg.Result, &r); err != nil {
		m.bad("the agent ended its turn with an answer that can't be read: %s", agent.Head(string(msg.Result), 200))
	}
	u := r.Usage
	if u == nil {
		u = r.Meta.Usage
	}
	if u == nil {
		u = &wireUsage{InputTokens: r.Meta.Quota.TokenCount.Input, OutputTokens: r.Meta.Quota.TokenCount.Output}
	}
	m.see(t, "answer of session/prompt")
	used := u.usage()
	if used != (baton.Usage{}) { // the whole turn's; what streamed were its parts
		used.ContextTokens, used.ContextWindow = t.Usage.ContextTokens, t.Usage.ContextWindow
		t.Usage = used
	}
	m.endTurn(t, r.StopReason, nil)
}

// endTurn closes what is open and ends the turn with err or the stop reason.
func (m *machine) endTurn(t *turn, stop string, err *baton.Error) {
	status, call := baton.TurnCompleted, baton.NodeCompleted
	switch {
	case t.Cancelled || stop == "cancelled" || err != nil && err.Code == baton.CodeInterrupted:
		status, call, err = baton.TurnInterrupted, baton.NodeInterrupted, nil
	case err != nil:
		status, call = baton.TurnFailed, baton.NodeFailed
	case stop == "refusal":
		status, call = baton.TurnFailed, baton.NodeFailed
		err = baton.Errorf(baton.CodeAgentFailed, "the model refused to answer").WithHint("put it in other words, or go on with another provider")
	}
	m.closeItems(t, call)
	m.cancelRequests("the turn has ended")
	switch {
	case status != baton.TurnCompleted || stop == "end_turn":
	case stop == "max_tokens":
		m.notice("warning", baton.CodeAgentFailed, "the answer was cut: it reached the model's limit of tokens", "send a message to go on")
	case stop == "max_turn_requests":
		m.notice("warning", baton.CodeAgentFailed, "the agent stopped: it reached its limit of model requests in one turn", "send a message to go on")
	default:
		m.notice("info", baton.CodeAgentFailed, "the agent stopped for a reason that is not known: "+agent.Head(stop, 100), "")
	}
	m.fact(baton.FactTurnEnded{Key: t.Key, Status: status, Err: err, Usage: t.Usage})
	if t == m.s.Own {
		m.s.Own = nil
	} else {
		m.s.Prompt = nil
	}
}

// closeItems closes what the agent left open; Copilot CLI leaves a cancelled
// call, Gemini CLI and Qwen Code a declined one.
func (m *machine) closeItems(t *turn, status baton.NodeStatus) {
	m.closeChunk(t, status)
	for _, c := range t.Calls {
		s := status
		if c.Declined && s == baton.NodeCompleted {
			s = baton.NodeFailed
		}
		body := baton.ItemBody{}
		if !c.Open {
			body = c.Body
		}
		m.fact(baton.FactItemClosed{Key: c.Key, Kind: c.Kind, Status: s, Body: body})
	}
	t.Calls = nil
	m.closeTodo(t, status)
}

// exited closes what is open: there will be no more frames. The turn's own end
// is left to the session's, and what the agent took to evidence.
func (m *machine) exited() {
	before := m.s.Stage
	m.s.Stage = stageGone
	if before == stageReady {
		for _, t := range []*turn{m.s.Own, m.s.Prompt} {
			if t != nil {
				m.closeItems(t, baton.NodeInterrupted)
			}
		}
		m.cancelRequests("the agent's process has ended")
		m.out.Writes = nil // nobody reads them
		return
	}
	if before != stageFailed {
		m.setDeadline(deadlineHandshake, 0)
		m.fact(baton.FactSessionFailed{Err: baton.Errorf(baton.CodeStartFailed, "the agent's process ended before it was ready").
			WithHint("check the provider's command with `baton doctor`")})
	}
}

func (u *wireUsage) usage() baton.Usage {
	if u == nil {
		return baton.Usage{}
	}
	return baton.Usage{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CachedTokens: u.CachedReadTokens, ReasoningTokens: u.ThoughtTokens}
}
