package claude

import (
	"encoding/json"
	"slices"
	"strings"

	"baton"
	"baton/internal/agent"
)

// toolCall opens the item of a call. Todo lists and questions have none of
// their own: the list is one item, and a question is a request.
func (m *machine) toolCall(parent string, c content) {
	if c.Name == "AskUserQuestion" || parent == "" && isTask(c.Name) {
		m.s.Items = append(m.s.Items, openItem{ID: c.ID, Tool: c.Name, Parent: parent})
		return
	}
	o := openItem{ID: c.ID, Key: m.s.key("tool-"), Kind: toolKind(c.Name), Tool: c.Name, Parent: parent}
	body := callBody(o.Kind, c)
	if o.Kind == baton.ItemTodo && parent == "" {
		m.todo(body.Steps)
		o.Key, o.Kind = "", ""
	} else {
		m.fact(baton.FactItemOpened{Key: o.Key, Parent: m.s.keyOf(parent), Kind: o.Kind, Body: body})
	}
	m.s.Items = append(m.s.Items, o)
}

// toolResult closes the item of a call, unless it goes on in the background.
func (m *machine) toolResult(f frame, c content, whole json.RawMessage) {
	o := m.s.item(c.ToolUseID)
	if o == nil {
		return
	}
	if o.Key == "" {
		if isTask(o.Tool) && !c.IsError {
			m.tasks(o.Tool, whole)
		}
		m.drop(o.ID)
		return
	}
	var r toolUseResult
	loose(whole, &r)
	if r.BackgroundTask != "" || r.Async {
		o.Live = true
		return
	}
	status := baton.NodeCompleted
	if c.IsError {
		status = m.failure(f, o.ID)
	}
	body := resultBody(*o, c, r)
	if status == baton.NodeInterrupted || status == baton.NodeCancelled {
		body = baton.ItemBody{} // what claude tells its model about that is not for people
	}
	m.closeItem(o, status, body)
}

// failure tells a call that failed from one that was refused or stopped.
func (m *machine) failure(f frame, id string) baton.NodeStatus {
	for _, meta := range f.Meta {
		switch {
		case meta.ID != id:
		case meta.Kind == "user-rejected" && m.s.Turn != nil && m.s.Turn.Stopping:
			return baton.NodeInterrupted
		case meta.Kind == "user-rejected", meta.Decision.Source == "user_reject":
			return baton.NodeCancelled // it never ran
		}
	}
	return baton.NodeFailed
}

func (m *machine) closeItem(o *openItem, status baton.NodeStatus, body baton.ItemBody) {
	m.fact(baton.FactItemClosed{Key: o.Key, Kind: o.Kind, Status: status, Body: body})
	m.drop(o.ID)
}

func (m *machine) drop(id string) {
	m.s.Items = slices.DeleteFunc(m.s.Items, func(o openItem) bool { return o.ID == id })
}

// closeOpen closes what a turn leaves open: the streaming block, the todo list
// and the calls without a result. What lives on is detached, unless all is over.
func (m *machine) closeOpen(status baton.NodeStatus, all bool) {
	if b := m.s.Block; b != nil {
		m.closeBlock(status, "")
	}
	if m.s.Todo != "" {
		m.fact(baton.FactItemClosed{Key: m.s.Todo, Kind: baton.ItemTodo, Status: baton.NodeCompleted})
		m.s.Todo = ""
	}
	var rest []openItem
	var lives []bool
	for i := range m.s.Items {
		lives = append(lives, !all && m.s.livesOn(&m.s.Items[i]))
	}
	for i, o := range m.s.Items {
		switch {
		case !lives[i] && o.Key != "":
			m.fact(baton.FactItemClosed{Key: o.Key, Kind: o.Kind, Status: status})
		case lives[i]:
			if !o.Detached && o.Key != "" {
				m.fact(baton.FactItemClosed{Key: o.Key, Kind: o.Kind, Status: baton.NodeDetached})
			}
			o.Detached = true
			rest = append(rest, o)
		}
	}
	m.s.Items = rest
}

// taskStarted marks a call whose work was put into the background.
func (m *machine) taskStarted(f frame) {
	if o := m.s.item(f.ToolUse); o != nil && f.Backgrounded {
		o.Live = true
	}
}

// taskEnded closes background work. A subagent in the foreground has a result of
// its own.
func (m *machine) taskEnded(f frame) {
	o := m.s.item(f.ToolUse)
	if o == nil || !o.Live || o.Key == "" {
		return
	}
	status := baton.NodeCompleted
	switch f.Status {
	case "failed":
		status = baton.NodeFailed
	case "stopped", "killed":
		status = baton.NodeInterrupted
	}
	body := baton.ItemBody{Output: f.Summary}
	if o.Kind == baton.ItemSubagent {
		body = baton.ItemBody{Text: f.Summary}
		id := o.ID
		for _, child := range slices.Clone(m.s.Items) {
			switch {
			case child.Parent != id:
			case child.Key == "":
				m.drop(child.ID)
			default:
				m.closeItem(&child, baton.NodeInterrupted, baton.ItemBody{})
			}
		}
	}
	m.closeItem(m.s.item(f.ToolUse), status, body)
}

// background takes the list of what runs beside turns; it replaces the former.
func (m *machine) background(f frame) {
	var ids, names []string
	for _, t := range f.Tasks {
		ids = append(ids, t.ID)
		name := t.Description
		if name == "" {
			name = t.Type
		}
		names = append(names, agent.Head(name, maxSubject))
	}
	m.s.Background = ids
	m.fact(baton.FactDetached{Names: names})
}

// isBackground says whether a subagent runs beside turns: its id is its task's.
func (m *machine) isBackground(agent string) bool {
	return agent != "" && slices.Contains(m.s.Background, agent)
}

// isTask names the tools of the numbered todo list, the default of 2.1.332.
func isTask(tool string) bool {
	switch tool {
	case "TaskCreate", "TaskUpdate", "TaskList", "TaskGet":
		return true
	}
	return false
}

// tasks folds a result into the list. A session that was resumed learns older
// tasks only from TaskList.
func (m *machine) tasks(tool string, whole json.RawMessage) {
	var r struct {
		Created      struct{ ID, Subject string } `json:"task"`
		ID           string                       `json:"taskId"`
		StatusChange struct {
			To string `json:"to"`
		} `json:"statusChange"`
		Tasks []struct{ ID, Subject, Status string } `json:"tasks"`
	}
	loose(whole, &r)
	switch tool {
	case "TaskCreate":
		if r.Created.ID == "" || len(m.s.Tasks) >= maxTasks {
			return
		}
		m.s.Tasks = append(m.s.Tasks, task{ID: r.Created.ID, Text: agent.Head(r.Created.Subject, maxSubject), Status: "pending"})
	case "TaskUpdate":
		i := slices.IndexFunc(m.s.Tasks, func(t task) bool { return t.ID == r.ID })
		if i < 0 || r.StatusChange.To == "" {
			return
		}
		if m.s.Tasks[i].Status = r.StatusChange.To; r.StatusChange.To == "deleted" {
			m.s.Tasks = slices.Delete(m.s.Tasks, i, i+1)
		}
	case "TaskList":
		m.s.Tasks = nil
		for _, t := range r.Tasks[:min(len(r.Tasks), maxTasks)] {
			m.s.Tasks = append(m.s.Tasks, task{ID: t.ID, Text: agent.Head(t.Subject, maxSubject), Status: t.Status})
		}
	default:
		return
	}
	var steps []baton.TodoStep
	for _, t := range m.s.Tasks {
		steps = append(steps, baton.TodoStep{Text: t.Text, Status: t.Status})
	}
	m.todo(steps)
}

// todo shows the list as it is now, in place of the one before.
func (m *machine) todo(steps []baton.TodoStep) {
	if m.s.Todo != "" {
		m.fact(baton.FactItemClosed{Key: m.s.Todo, Kind: baton.ItemTodo, Status: baton.NodeCompleted})
	}
	m.s.Todo = m.s.key("todo-")
	m.fact(baton.FactItemOpened{Key: m.s.Todo, Kind: baton.ItemTodo, Body: baton.ItemBody{Steps: steps}})
}

func toolKind(tool string) baton.ItemKind {
	switch tool {
	case "Bash":
		return baton.ItemCommand
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		return baton.ItemFileChange
	case "Grep", "Glob", "WebSearch":
		return baton.ItemSearch
	case "TodoWrite":
		return baton.ItemTodo
	case "Agent", "Task":
		return baton.ItemSubagent
	case "ExitPlanMode":
		return baton.ItemPlan
	}
	return baton.ItemTool
}

// quoted is what claude puts around a tool's error.
var quoted = strings.NewReplacer("<tool_use_error>", "", "</tool_use_error>", "")
