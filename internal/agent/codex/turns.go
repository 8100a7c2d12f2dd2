package codex

import (
	"slices"

	"baton"
	"baton/internal/jsonl"
)

// event holds what the params of notifications share.
type event struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Turn     struct {
		ID     string     `json:"id"`
		Status string     `json:"status"`
		Error  *turnError `json:"error"`
	} `json:"turn"`
	Item       item       `json:"item"`
	Delta      string     `json:"delta"`
	Index      int        `json:"summaryIndex"`
	Plan       []planStep `json:"plan"`
	TokenUsage struct {
		Total  tokens `json:"total"`
		Last   tokens `json:"last"`
		Window int64  `json:"modelContextWindow"`
	} `json:"tokenUsage"`
}

func (m *machine) notification(msg jsonl.Message) {
	switch msg.Method {
	case "error", "warning", "configWarning", "guardianWarning", "model/rerouted", "mcpServer/startupStatus/updated":
		m.told(msg)
		return
	case "serverRequest/resolved":
		m.resolved(msg)
		return
	}
	e := decode[event](msg.Params)
	if m.s.Phase != phaseReady || e.ThreadID == "" {
		return
	}
	if e.ThreadID != m.s.Thread {
		m.meet(e.ThreadID, "", "")
	}
	switch msg.Method {
	case "turn/started":
		m.turnStarted(e.ThreadID, e.Turn.ID)
	case "turn/completed":
		m.turnCompleted(e)
	case "turn/plan/updated":
		m.todo(e)
	case "thread/tokenUsage/updated":
		m.usage(e)
	case "item/started":
		m.itemStarted(e)
	case "item/completed":
		m.itemCompleted(e)
	case "item/agentMessage/delta":
		m.delta(e, baton.ItemAssistantMessage)
	case "item/plan/delta":
		m.delta(e, baton.ItemPlan)
	case "item/reasoning/summaryTextDelta":
		m.delta(e, baton.ItemReasoning)
	case "item/reasoning/summaryPartAdded":
		if o := m.s.item(e.TurnID, e.ItemID); o != nil && e.Index > 0 {
			m.fact(baton.FactItemDelta{Key: o.Key, Text: "\n\n"})
		}
	case "item/commandExecution/outputDelta":
		if o := m.s.item(e.TurnID, e.ItemID); o != nil {
			m.fact(baton.FactItemDelta{Key: o.Key, Text: e.Delta, Output: true})
		}
	}
}

func (m *machine) turnStarted(thread, id string) {
	if id == "" || m.s.turnByID(id) != nil {
		return
	}
	if old := m.s.turnOf(thread); old != nil { // codex has one turn a thread; its end was lost
		m.endTurn(*old, baton.TurnInterrupted, nil)
	}
	if thread != m.s.Thread {
		m.childStarted(thread, id)
		return
	}
	delete(m.s.Notices, "retry")
	m.s.Turns = append(m.s.Turns, turn{ID: id, Thread: thread})
	f := baton.FactTurnStarted{Key: id, Native: baton.NativeRef{ID: id, Strength: baton.Strong}}
	if in := m.s.Input; in != nil && in.Turn == id {
		f.Deliveries = slices.Concat(in.Handoffs, []baton.DeliveryID{in.Message})
	}
	m.fact(f)
}

func (m *machine) turnCompleted(e event) {
	if in := m.s.Input; in != nil && in.Turn == e.Turn.ID && e.ThreadID == m.s.Thread {
		m.turnStarted(e.ThreadID, e.Turn.ID) // in case its beginning was not told
	}
	t := m.s.turnByID(e.Turn.ID)
	if t == nil {
		return
	}
	status := baton.TurnCompleted
	var err *baton.Error
	switch e.Turn.Status {
	case "interrupted":
		status = baton.TurnInterrupted
	case "failed":
		status = baton.TurnFailed
		cause := turnError{}
		if t.Failed != nil {
			cause = *t.Failed
		}
		if e.Turn.Error != nil {
			cause = *e.Turn.Error
		}
		err = cause.asError()
	}
	m.endTurn(*t, status, err)
}

// endTurn closes what codex leaves open, then the turn. Commands that run on
// are detached; after an interrupt codex is told to end them.
func (m *machine) endTurn(t turn, status baton.TurnStatus, err *baton.Error) {
	m.s.Turns = slices.DeleteFunc(m.s.Turns, func(o turn) bool { return o.ID == t.ID })
	leftovers := m.closeItems(t, status)
	m.closeRequests(t)
	if t.Todo != "" {
		m.fact(baton.FactItemClosed{Key: t.Todo, Kind: baton.ItemTodo, Status: nodeStatus(status)})
	}
	if t.Thread != m.s.Thread {
		m.fact(baton.FactItemClosed{Key: t.Item, Kind: baton.ItemSubagent, Status: nodeStatus(status),
			Body: baton.ItemBody{Title: m.childTitle(t.Thread)}})
		if m.s.turnOf(m.s.Thread) == nil {
			m.tellDetached()
		}
		return
	}
	if leftovers || m.childTurns() {
		m.tellDetached()
	}
	m.inputEnded(t, err)
	m.fact(baton.FactTurnEnded{Key: t.ID, Status: status, Err: err, Usage: t.Usage, Head: t.ID})
	if status == baton.TurnInterrupted {
		m.stopLeftovers()
	}
}

// closeItems closes the open items of a turn. It says whether there is
// something new that lives on.
func (m *machine) closeItems(t turn, status baton.TurnStatus) (leftovers bool) {
	var rest []openItem
	for _, o := range m.s.Open {
		if o.Turn != t.ID {
			rest = append(rest, o)
			continue
		}
		end := baton.NodeInterrupted
		if status == baton.TurnFailed {
			end = baton.NodeFailed
		}
		if o.Kind == baton.ItemCommand && !m.waitsFor(o) && len(m.s.Detached) < maxOpen {
			d := detached{Turn: o.Turn, Native: o.Native, Label: o.Label}
			if status != baton.TurnInterrupted {
				end, d.Key = baton.NodeDetached, o.Key
			}
			m.s.Detached = append(m.s.Detached, d)
			leftovers = true
		}
		m.fact(baton.FactItemClosed{Key: o.Key, Kind: o.Kind, Status: end})
	}
	m.s.Open = rest
	return leftovers
}

// stopLeftovers ends what an interrupt leaves running: codex keeps commands and
// subagents alive (0.171.0).
func (m *machine) stopLeftovers() {
	if len(m.s.Detached) > 0 {
		m.call(call{Kind: callClean}, "thread/backgroundTerminals/clean", map[string]any{"threadId": m.s.Thread})
	}
	for _, t := range m.s.Turns {
		m.call(call{Kind: callStopChild, Turn: t.ID}, "turn/interrupt", map[string]any{"threadId": t.Thread, "turnId": t.ID})
	}
}

// cleaned takes the answer to that: what ran on has been ended.
func (m *machine) cleaned(e *jsonl.RPCError) {
	if e != nil {
		m.notice("clean", 1, baton.FactNotice{Level: "warning", Code: baton.CodeUnsupported,
			Text: "Codex could not end the commands that it left running: " + e.Message,
			Hint: "they end with the session"})
		return
	}
	for _, d := range m.s.Detached {
		if d.Key != "" {
			m.fact(baton.FactItemClosed{Key: d.Key, Kind: baton.ItemCommand, Status: baton.NodeInterrupted})
		}
	}
	m.s.Detached = nil
	m.tellDetached()
}

func (m *machine) tellDetached() {
	var names []string
	for _, d := range m.s.Detached {
		names = append(names, d.Label)
	}
	for _, t := range m.s.Turns {
		if t.Thread != m.s.Thread {
			names = append(names, m.childTitle(t.Thread))
		}
	}
	m.fact(baton.FactDetached{Names: names})
}

func (m *machine) interrupt(i baton.IntentInterrupt) {
	if m.s.Phase != phaseReady || m.s.turnByID(i.TurnKey) == nil && (m.s.Input == nil || m.s.Input.Turn != i.TurnKey) {
		return // it has ended already
	}
	m.call(call{Kind: callInterrupt, Turn: i.TurnKey}, "turn/interrupt", map[string]any{"threadId": m.s.Thread, "turnId": i.TurnKey})
}

func (m *machine) interruptAnswered(c call, e *jsonl.RPCError) {
	if e == nil || m.s.turnByID(c.Turn) == nil {
		return
	}
	m.notice("interrupt", 5, baton.FactNotice{Level: "warning", Code: baton.CodeAgentFailed,
		Text: "Codex did not take the interrupt: " + e.Message, Hint: "stop the session if it goes on"})
}

func nodeStatus(s baton.TurnStatus) baton.NodeStatus {
	switch s {
	case baton.TurnInterrupted:
		return baton.NodeInterrupted
	case baton.TurnFailed:
		return baton.NodeFailed
	}
	return baton.NodeCompleted
}
