package acp

import (
	"encoding/json"
	"strconv"
	"strings"

	"baton"
	"baton/internal/agent"
)

// text is what a block shows.
func (b block) text() string {
	switch b.Type {
	case "text":
		return b.Text
	case "resource_link":
		return strings.TrimSpace(b.Name + " <" + b.URI + ">")
	case "resource":
		if b.Resource.Text != "" {
			return b.Resource.Text
		}
		return "<" + b.Resource.URI + ">"
	case "image", "audio":
		return "[" + b.Type + " " + b.MimeType + "]"
	}
	return ""
}

// body is what an update tells of its call.
func (m *machine) body(kind baton.ItemKind, u update) baton.ItemBody {
	in := input(u.RawInput)
	b := baton.ItemBody{Title: agent.Head(u.Title, 500)}
	switch kind {
	case baton.ItemCommand:
		b.Command, b.Cwd = in.Command, in.Cwd
		if b.Command == "" && u.Title != "" {
			b.Command = u.Title // Gemini CLI 0.61.0 sends no input
		}
	case baton.ItemFileChange:
		b.Files = m.files(u)
	case baton.ItemSubagent:
		b.Tool, b.Input = in.SubagentType, in.Prompt
		if in.Description != "" {
			b.Title = in.Description
		}
	default:
		b.Tool = u.Meta.ToolName
		if b.Tool == "" {
			b.Tool = u.ToolKind
		}
		if s := string(u.RawInput); s != "" && s != "null" && s != "{}" {
			b.Input = agent.Head(s, maxHeld)
		}
	}
	return b
}

// contents decodes the list of a tool call; entries that can't be read are left out.
func contents(raw json.RawMessage) []toolContent {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list)
	var out []toolContent
	for _, r := range list {
		var c toolContent
		if json.Unmarshal(r, &c) == nil {
			out = append(out, c)
		}
	}
	return out
}

// output is the text of a call's content, and whether there is any. A raw
// output that is text wins: Qwen Code's content wraps it in a report.
func output(u update) (string, bool) {
	var raw string
	if len(u.RawOutput) > 0 && json.Unmarshal(u.RawOutput, &raw) == nil && raw != "" {
		return raw, true
	}
	var b strings.Builder
	for _, c := range contents(u.Content) {
		if c.Type == "content" {
			b.WriteString(c.Content.text())
		}
	}
	return b.String(), b.Len() > 0
}

// files lists what a call changes: its diffs, or else its places.
func (m *machine) files(u update) []baton.FileChange {
	var out []baton.FileChange
	for _, c := range contents(u.Content) {
		if c.Type != "diff" {
			continue
		}
		old, change := "", "modify"
		if c.OldText == nil || *c.OldText == "" {
			change = "add"
		} else {
			old = *c.OldText
		}
		if u.ToolKind == "delete" {
			change = "delete"
		}
		f := baton.FileChange{Path: m.relative(c.Path), Change: change}
		f.Diff, f.Additions, f.Deletions = diff(old, c.NewText)
		out = append(out, f)
	}
	if len(out) > 0 {
		return out
	}
	change := map[string]string{"delete": "delete", "move": "rename"}[u.ToolKind]
	if change == "" {
		change = "modify"
	}
	for _, l := range u.Locations {
		if l.Path != "" {
			out = append(out, baton.FileChange{Path: m.relative(l.Path), Change: change})
		}
	}
	return out
}

// relative shortens a path below the session's directory.
func (m *machine) relative(path string) string {
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(m.s.Spec.Dir, "/")+"/"); ok && rest != "" {
		return rest
	}
	return path
}

const maxDiff = 16 << 10

// diff is one unified hunk from the first line that differs to the last, its
// head only, and the numbers of lines that it adds and deletes.
func diff(old, new string) (text string, added, deleted int) {
	a, b := lines(old), lines(new)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	gone, come := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(gone)+len(come) == 0 {
		return "", 0, 0
	}
	var s strings.Builder
	s.WriteString("@@ -" + span(head, len(gone)) + " +" + span(head, len(come)) + " @@\n")
	for _, side := range []struct {
		mark  string
		lines []string
	}{{"-", gone}, {"+", come}} {
		for _, l := range side.lines {
			if s.Len() > maxDiff {
				break
			}
			s.WriteString(side.mark + l + "\n")
		}
	}
	return agent.Head(s.String(), maxDiff), len(come), len(gone)
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

func span(head, n int) string {
	if n == 0 {
		return strconv.Itoa(head) + ",0"
	}
	return strconv.Itoa(head+1) + "," + strconv.Itoa(n)
}
