package acp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"baton"
	"baton/internal/agent"
)

// maxClosed is how many ended calls of a turn are remembered, so that a late
// word about one does not open it again.
const maxClosed = 32

// maxHeld bounds what is kept of a call that has not opened.
const maxHeld = 4 << 10

// key makes a short, unique key of an agent's id.
func key(id string) string {
	if len(id) <= 64 {
		return id
	}
	return "#" + hash(id)
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:12])
}

func (t *turn) call(id string) *call {
	for i := range t.Calls {
		if t.Calls[i].ID == id {
			return &t.Calls[i]
		}
	}
	return nil
}

// keyOf returns the key of the open call with the agent's id, or "".
func (t *turn) keyOf(id string) string {
	if c := t.call(key(id)); id != "" && c != nil {
		return c.Key
	}
	return ""
}

// toolUpdate takes tool_call and tool_call_update, which differ in name only:
// whichever names a call first makes it.
func (m *machine) toolUpdate(t *turn, u update) {
	c := m.upsert(t, u)
	if c == nil {
		return
	}
	out, hasOut := output(u)
	if !c.Open && (u.Status != "" && u.Status != "pending" || hasOut || u.Meta.Baton.Output != "") {
		m.openCall(c)
	}
	ended := u.Status == "completed" || u.Status == "failed"
	final := ""
	switch {
	case hasOut && c.grown(out):
		m.appendOutput(c, out[c.Len:])
	case hasOut && ended:
		final = out
	case hasOut:
		m.fact(baton.FactItemReset{Key: c.Key})
		c.Len = 0
		m.appendOutput(c, out)
	}
	if hasOut {
		c.Hash = hash(out)
	}
	if s := u.Meta.Baton.Output; s != "" {
		m.appendOutput(c, s)
		c.Hash = "" // unknown: what comes as content then replaces it
	}
	if ended {
		m.closeCall(t, c, u, final)
	}
}

// grown says whether out begins with what has streamed.
func (c *call) grown(out string) bool {
	return c.Len == 0 || c.Len <= len(out) && c.Hash == hash(out[:c.Len])
}

func (m *machine) appendOutput(c *call, text string) {
	if text == "" {
		return
	}
	c.Len += len(text)
	m.fact(baton.FactItemDelta{Key: c.Key, Text: text, Output: true})
}

// upsert finds or makes the call that u names, with what u adds to it. It
// returns nil for a call that has ended or has no id.
func (m *machine) upsert(t *turn, u update) *call {
	if u.ToolCallID == "" {
		m.bad("the agent sent a tool call without an id")
		return nil
	}
	id := key(u.ToolCallID)
	if slices.Contains(t.Closed, id) {
		return nil
	}
	c := t.call(id)
	if c == nil {
		m.closeChunk(t, baton.NodeCompleted)
		t.Calls = append(t.Calls, call{ID: id, Key: t.Key + ".call." + id, Parent: t.keyOf(u.Meta.Parent), Kind: baton.ItemTool})
		c = &t.Calls[len(t.Calls)-1]
	}
	if !c.Open {
		if k := itemKind(u); k != "" {
			c.Kind = k
		}
		c.Body = merge(c.Body, held(m.body(c.Kind, u)))
	}
	return c
}

func (m *machine) openCall(c *call) {
	c.Open = true
	m.fact(baton.FactItemOpened{Key: c.Key, Parent: c.Parent, Kind: c.Kind, Body: c.Body})
	c.Body = baton.ItemBody{}
}

func (m *machine) closeCall(t *turn, c *call, u update, out string) {
	body := m.body(c.Kind, u)
	body.Output = out
	body.ExitCode = exitCode(u.RawOutput)
	status := baton.NodeCompleted
	switch {
	case t.Cancelled: // OpenCode, Gemini and Qwen call what was killed "completed"
		status = baton.NodeInterrupted
	case u.Status == "failed" || c.Declined:
		status = baton.NodeFailed
	}
	m.fact(baton.FactItemClosed{Key: c.Key, Kind: c.Kind, Status: status, Body: body})
	id := c.ID // c lies in what is shortened below
	t.Closed = append(t.Closed, id)
	if n := len(t.Closed); n > maxClosed {
		t.Closed = slices.Clone(t.Closed[n-maxClosed:])
	}
	t.Calls = slices.DeleteFunc(t.Calls, func(o call) bool { return o.ID == id })
}

// itemKind maps a tool's kind. An agent's own subagent is a call whose input
// names its type (opencode 1.18.33 `task`, qwen-code 0.15.10 `agent`).
func itemKind(u update) baton.ItemKind {
	if in := input(u.RawInput); in.SubagentType != "" {
		return baton.ItemSubagent
	}
	switch u.ToolKind {
	case "":
		return ""
	case "execute":
		return baton.ItemCommand
	case "edit", "delete", "move":
		return baton.ItemFileChange
	case "search":
		return baton.ItemSearch
	}
	return baton.ItemTool
}

type toolInput struct {
	Command      string `json:"command"`
	Cwd          string `json:"cwd"`
	Description  string `json:"description"`
	Prompt       string `json:"prompt"`
	SubagentType string `json:"subagent_type"`
	Diff         string `json:"diff"` // copilot 1.0.102, in a permission
}

func input(raw json.RawMessage) (in toolInput) {
	// Members of another type than expected leave theirs empty.
	var all map[string]json.RawMessage
	_ = json.Unmarshal(raw, &all)
	for name, into := range map[string]*string{"command": &in.Command, "cwd": &in.Cwd, "description": &in.Description,
		"prompt": &in.Prompt, "subagent_type": &in.SubagentType, "diff": &in.Diff} {
		_ = json.Unmarshal(all[name], into)
	}
	return in
}

// exitCode reads a command's exit code out of the three places where agents
// put it: metadata.exit (opencode 1.18.33), contents[].exitCode (copilot
// 1.0.102) and exitCode itself.
func exitCode(raw json.RawMessage) *int {
	var r struct {
		ExitCode *int `json:"exitCode"`
		Metadata struct {
			Exit *int `json:"exit"`
		} `json:"metadata"`
		Contents []struct {
			ExitCode *int `json:"exitCode"`
		} `json:"contents"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return nil
	}
	switch {
	case r.ExitCode != nil:
		return r.ExitCode
	case r.Metadata.Exit != nil:
		return r.Metadata.Exit
	case len(r.Contents) > 0:
		return r.Contents[0].ExitCode
	}
	return nil
}

// merge returns a with the non-empty fields of b, as far as calls have them.
func merge(a, b baton.ItemBody) baton.ItemBody {
	set := func(into *string, from string) {
		if from != "" {
			*into = from
		}
	}
	set(&a.Title, b.Title)
	set(&a.Command, b.Command)
	set(&a.Cwd, b.Cwd)
	set(&a.Tool, b.Tool)
	set(&a.Input, b.Input)
	set(&a.Text, b.Text)
	if len(b.Files) > 0 && (len(a.Files) == 0 || b.Files[0].Diff != "") { // a place says less than a diff
		a.Files = b.Files
	}
	return a
}

// held cuts a body to what may stay in the state.
func held(b baton.ItemBody) baton.ItemBody {
	b.Command, b.Input, b.Text = clipped(b.Command), clipped(b.Input), clipped(b.Text)
	var files []baton.FileChange
	for i, f := range b.Files {
		if i == 20 {
			break
		}
		f.Diff = clipped(f.Diff)
		files = append(files, f)
	}
	b.Files = files
	return b
}

func clipped(s string) string {
	if s == "" {
		return ""
	}
	return agent.Head(s, maxHeld)
}
