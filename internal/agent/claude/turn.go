package claude

import (
	"strings"

	"baton"
	"baton/internal/agent"
)

// begin takes system/init, with which every turn begins, and every handoff too.
func (m *machine) begin(f frame) {
	if m.s.Phase != phaseReady || m.onlyHandoffs(f.Messages) {
		return
	}
	if m.s.Turn == nil {
		m.open(f.Messages, baton.NativeRef{ID: f.UUID, Strength: baton.Weak})
		return
	}
	for _, uuid := range f.Messages { // it goes on, with more input
		if d := m.s.delivery(uuid); d != nil && d.Turn == "" {
			d.Turn = m.s.Turn.Key
		}
	}
}

// onlyHandoffs says whether the uuids are handoffs of ours and nothing else.
func (m *machine) onlyHandoffs(uuids []string) bool {
	for _, uuid := range uuids {
		if d := m.s.delivery(uuid); d == nil || !d.Handoff {
			return false
		}
	}
	return len(uuids) > 0
}

// open starts a turn with the messages that it names or that have started, and
// with the handoffs that wait in front of them.
func (m *machine) open(uuids []string, native baton.NativeRef) {
	m.s.Turns++
	t := &turn{Key: m.s.key("turn-")}
	m.s.Turn = t
	named := map[string]bool{}
	for _, uuid := range uuids {
		named[uuid] = true
	}
	var input, handoffs []baton.DeliveryID
	for i := range m.s.Deliveries {
		d := &m.s.Deliveries[i]
		switch {
		case d.Turn != "":
		case d.Handoff && d.Accepted:
			handoffs = append(handoffs, d.ID)
		case !d.Handoff && (d.Started || named[baton.UUID(d.ID)]):
			d.Turn = t.Key
			input = append(input, d.ID)
		}
	}
	if len(input) == 0 { // a turn that nobody asked for takes no handoff
		handoffs = nil
	}
	m.fact(baton.FactTurnStarted{Key: t.Key, Native: native, Deliveries: append(handoffs, input...)})
	for _, id := range handoffs {
		m.s.delivery(baton.UUID(id)).Turn = t.Key
		m.consume(id, "")
	}
}

// ensure opens a turn where the model speaks and no init was seen.
func (m *machine) ensure() {
	if m.s.Turn == nil {
		m.open(nil, baton.NativeRef{Strength: baton.None})
	}
}

// consumeAll consumes what the turn has taken.
func (m *machine) consumeAll() {
	var ids []baton.DeliveryID
	for _, d := range m.s.Deliveries {
		if d.Turn == m.s.Turn.Key {
			ids = append(ids, d.ID)
		}
	}
	for _, id := range ids {
		m.consume(id, "result")
	}
}

// result ends a turn, acknowledges a handoff, or says that the conversation
// can't be had.
func (m *machine) result(f frame) {
	text := strings.Join(f.Errors, "; ")
	switch {
	case m.s.Phase == phaseNew || m.lostConversation(text):
		m.refused(text)
		return
	case m.s.Phase != phaseReady:
		return
	case m.onlyHandoffs(f.Messages) && f.NumTurns == 0:
		for _, uuid := range f.Messages {
			m.accept(m.s.delivery(uuid), "result")
		}
		return
	}
	if m.s.Turn == nil {
		m.open(f.Messages, baton.NativeRef{Strength: baton.None})
	}
	for _, uuid := range f.Messages {
		if d := m.s.delivery(uuid); d != nil && d.Turn == "" {
			d.Turn = m.s.Turn.Key
		}
	}
	status, err := m.verdict(f)
	m.endTurn(status, err, f)
}

// lostConversation says whether claude, before any turn of this session, says
// that it does not have the conversation.
func (m *machine) lostConversation(text string) bool {
	return m.s.Resume && m.s.Turns == 0 && strings.Contains(text, "No conversation found")
}

func (m *machine) refused(text string) {
	if !m.s.Resume {
		m.fail(baton.Errorf(baton.CodeStartFailed, "Claude Code did not start").WithDetail("%s", agent.Head(text, 500)))
		return
	}
	class := baton.ResumeOther
	switch {
	case strings.Contains(text, "No conversation found"): // also where its file is empty or garbage
		class = baton.ResumeNotFound
	case strings.Contains(text, "already in use"):
		class = baton.ResumeInUse
	}
	m.over(baton.FactResumeFailed{Class: class, Detail: agent.Head(text, 500)})
}

// verdict judges a result by is_error and terminal_reason, never by subtype.
func (m *machine) verdict(f frame) (baton.TurnStatus, *baton.Error) {
	if strings.HasPrefix(f.Terminal, "aborted") {
		return baton.TurnInterrupted, nil
	}
	if !f.IsError {
		return baton.TurnCompleted, nil
	}
	detail := f.Text
	for _, e := range f.Errors {
		if !strings.HasPrefix(e, "[ede_diagnostic]") { // not for users
			detail = strings.TrimPrefix(detail+"; "+e, "; ")
		}
	}
	code, hint := classify(f, m.s.Turn.Error)
	return baton.TurnFailed, baton.Errorf(code, "Claude Code could not finish the turn").WithDetail("%s", agent.Head(detail, 1000)).WithHint("%s", hint)
}

// classify finds the code of a failure; kind is what the last line of the
// assistant called it.
func classify(f frame, kind string) (baton.Code, string) {
	status := f.APIStatus
	switch {
	case f.Terminal == "prompt_too_long":
		return baton.CodeContextTooLong, "go on with a clean context, or with another agent"
	case status == 429 || status == 529 || kind == "rate_limit" || kind == "overloaded":
		return baton.CodeRateLimited, "wait and send the message again, or go on with another agent"
	case status == 401 || status == 403 || kind == "authentication_failed":
		return baton.CodeUnauthorized, "sign in with `claude` and /login, or set ANTHROPIC_API_KEY for the provider"
	case kind == "server_error" && (status == 0 || status == 502 || status == 503 || status == 504):
		return baton.CodeModelUnreachable, "check the network and send the message again"
	case f.Terminal == "max_turns" || f.Terminal == "budget_exhausted":
		return baton.CodeAgentFailed, "raise the limit in the provider's command and send a message to go on"
	}
	return baton.CodeAgentFailed, "send a message to go on, or go on with another agent"
}

// endTurn closes what is open, then the turn.
func (m *machine) endTurn(status baton.TurnStatus, err *baton.Error, f frame) {
	t := m.s.Turn
	end := baton.NodeInterrupted // a call without a result has not completed
	if status == baton.TurnFailed {
		end = baton.NodeFailed
	}
	m.closeOpen(end, false)
	for _, r := range append([]request(nil), m.s.Requests...) {
		if !m.isBackground(r.Agent) {
			m.requestGone(r.ID, "the turn has ended")
		}
	}
	m.consumeAll()
	m.s.Turn = nil
	m.fact(baton.FactTurnEnded{Key: t.Key, Status: status, Err: err, Usage: total(f, t.Context), Head: m.s.Head})
	if status == baton.TurnInterrupted && t.Stopping {
		m.stopBackground()
	}
}

// stopBackground ends what an interrupt leaves running beside turns. Its end is
// told as any other, and makes no turn of its own (claude 2.1.332).
func (m *machine) stopBackground() {
	for _, id := range m.s.Background {
		m.writeLine(m.call("stop_task", map[string]any{"subtype": "stop_task", "task_id": id}))
	}
}

func total(f frame, context int64) baton.Usage {
	u := baton.Usage{InputTokens: f.Usage.input(), CachedTokens: f.Usage.Read, OutputTokens: f.Usage.Output,
		ReasoningTokens: f.Usage.Thinking.Tokens, ContextTokens: context}
	for _, model := range f.ModelUsage {
		u.ContextWindow = max(u.ContextWindow, model.Window)
	}
	return u
}

// interrupt asks for the end of the turn, and for what waits behind it to be
// withdrawn. A turn that has ended by now is left alone.
func (m *machine) interrupt(i baton.IntentInterrupt) {
	if m.s.Phase != phaseReady || i.TurnKey != "" && (m.s.Turn == nil || m.s.Turn.Key != i.TurnKey) {
		return
	}
	if m.s.Turn != nil {
		m.s.Turn.Stopping = true
	}
	m.writeLine(m.call("interrupt", map[string]any{"subtype": "interrupt", "cancel_queued": true}))
}
