package codex

import "baton"

type planStep struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

// todo opens a todo list in place of the one before it.
func (m *machine) todo(e event) {
	t := m.s.turnByID(e.TurnID)
	if t == nil {
		return
	}
	if t.Todo != "" {
		m.fact(baton.FactItemClosed{Key: t.Todo, Kind: baton.ItemTodo, Status: baton.NodeCompleted})
	}
	t.Todo = newKey(t, "todo")
	body := baton.ItemBody{}
	for _, s := range e.Plan {
		status := s.Status
		if status == "inProgress" {
			status = "in_progress"
		}
		body.Steps = append(body.Steps, baton.TodoStep{Text: s.Step, Status: status})
	}
	m.fact(baton.FactItemOpened{Key: t.Todo, Parent: t.Item, Kind: baton.ItemTodo, Body: body})
}

// tokens are codex's figures for one response or a whole thread.
type tokens struct {
	Total     int64 `json:"totalTokens"`
	Input     int64 `json:"inputTokens"`
	Cached    int64 `json:"cachedInputTokens"`
	Output    int64 `json:"outputTokens"`
	Reasoning int64 `json:"reasoningOutputTokens"`
}

// usage adds by the difference of totals: a response that is retried tells its
// figures again.
func (m *machine) usage(e event) {
	if e.ThreadID != m.s.Thread {
		return
	}
	total, last := e.TokenUsage.Total, e.TokenUsage.Last
	before := m.s.Total
	if before == nil {
		before = &tokens{}
		if m.s.Spec.NativeID != "" { // it counts what earlier sessions used
			before = &tokens{Input: total.Input - last.Input, Cached: total.Cached - last.Cached,
				Output: total.Output - last.Output, Reasoning: total.Reasoning - last.Reasoning}
		}
	}
	m.s.Total = &total
	if t := m.s.turnByID(e.TurnID); t != nil {
		t.Usage = t.Usage.Add(baton.Usage{
			InputTokens: max(0, total.Input-before.Input), CachedTokens: max(0, total.Cached-before.Cached),
			OutputTokens: max(0, total.Output-before.Output), ReasoningTokens: max(0, total.Reasoning-before.Reasoning),
			ContextTokens: last.Total, ContextWindow: e.TokenUsage.Window,
		})
	}
}
