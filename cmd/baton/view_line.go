package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"baton"
	"baton/internal/httpapi"
)

// streamed are the kinds of items whose text comes bit by bit.
var streamed = map[baton.ItemKind]bool{baton.ItemAssistantMessage: true, baton.ItemReasoning: true, baton.ItemUserMessage: true, baton.ItemPlan: true}

// toolKinds are shown when they begin and again when they end.
var toolKinds = map[baton.ItemKind]bool{baton.ItemCommand: true, baton.ItemFileChange: true, baton.ItemSearch: true, baton.ItemTool: true, baton.ItemSubagent: true}

// marks begin the paragraphs of streamed items.
var marks = map[baton.ItemKind]string{baton.ItemUserMessage: "› ", baton.ItemReasoning: "~ ", baton.ItemPlan: "≡ ", baton.ItemAssistantMessage: "  "}

// line writes what is no running text: tools, requests, notices, switches.
func (v *view) line(it httpapi.Item, tail string) {
	v.end()
	b := it.Body
	mark, color := "·", dim
	var text string
	switch baton.ItemKind(it.Kind) {
	case baton.ItemCommand:
		mark, color, text = statusMark(b), statusColor(b), "$ "+first(b.Command, b.Title)
		if b.ExitCode != nil {
			text += fmt.Sprintf("  (exit %d)", *b.ExitCode)
		}
	case baton.ItemFileChange:
		mark, color, text = statusMark(b), statusColor(b), "files: "+files(b.Files, b.Title)
	case baton.ItemSearch, baton.ItemTool, baton.ItemSubagent:
		mark, color, text = statusMark(b), statusColor(b), first(b.Title, b.Tool, it.Kind)
	case baton.ItemTodo:
		v.todo(b)
		return
	case baton.ItemApproval, baton.ItemQuestion:
		v.request(b, it)
		return
	case baton.ItemProviderSwitch:
		mark, color, text = "⇄", violet, fmt.Sprintf("from %s to %s", first(b.From, "nothing"), b.To)
	case baton.ItemHandoff:
		mark, color, text = "⇄", violet, "handoff: "+first(b.Title, string(b.HandoffID))
	case baton.ItemNotice:
		mark, color, text = "!", yellow, first(b.Text, b.Title)
	case baton.ItemError:
		mark, color, text = "✗", red, first(b.Text, b.Title, string(b.Code))
	case baton.ItemInterruptAsked:
		text = "interrupt asked"
	case baton.ItemInterrupted:
		mark, color, text = "■", yellow, "interrupted"
	case baton.ItemCompaction:
		text = first(b.Title, b.Text, "the agent has shortened its own context")
	default:
		text = first(b.Title, b.Text, it.Kind)
	}
	v.mark(mark, color, text+tail)
	if b.Hint != "" {
		fmt.Fprintln(v.a.out, v.a.wrap("hint: "+b.Hint, "    "))
	}
}

func (v *view) mark(mark, color, text string) {
	lines := v.a.wrap(text, "    ")
	fmt.Fprintf(v.a.out, "  %s %s\n", v.a.style(color, mark), strings.TrimPrefix(lines, "    "))
}

func (v *view) todo(b baton.ItemBody) {
	for _, s := range b.Steps {
		mark, color := "○", dim
		switch s.Status {
		case "completed":
			mark, color = "●", green
		case "in_progress":
			mark, color = "◐", cyan
		}
		v.mark(mark, color, s.Text)
	}
}

// request writes what an agent asks, once, with the commands that answer it.
func (v *view) request(b baton.ItemBody, it httpapi.Item) {
	if !it.Open && b.Status != "" && b.Status != baton.NodeRunning {
		v.mark("?", dim, first(b.Title, "asked")+" → "+first(b.Answer, string(b.Status)))
		return
	}
	v.mark("?", yellow, first(b.Title, it.Kind))
	for _, q := range b.Questions {
		fmt.Fprintln(v.a.out, v.a.wrap(q.Text, "      "))
		for _, o := range q.Options {
			fmt.Fprintln(v.a.out, v.a.wrap("- "+o.Label, "      "))
		}
	}
	if b.RequestID == "" {
		return
	}
	v.a.showAnswers("      ", string(b.RequestID), b.Questions)
}

// showAnswers prints the command lines that answer a request; on a terminal that
// is too narrow for them they name it by its short id.
func (a *app) showAnswers(indent, id string, questions []baton.Question) {
	lines := answerCommands(id, questions)
	if a.tty && slices.ContainsFunc(lines, func(s string) bool { return utf8.RuneCountInString(indent+s) > a.width() }) {
		lines = answerCommands(shortID(id), questions)
	}
	for _, line := range lines {
		fmt.Fprintln(a.out, indent+a.style(cyan, line))
	}
}

// answerCommands are the command lines that answer a request.
func answerCommands(id string, questions []baton.Question) []string {
	if len(questions) == 0 {
		return []string{"baton approve " + id, "baton decline " + id + " -m \"why\""}
	}
	line := "baton answer " + id
	for _, q := range questions {
		value := "…"
		if len(q.Options) > 0 {
			value = q.Options[0].Label
		}
		line += fmt.Sprintf(" %s=%q", q.Key, value)
	}
	return []string{line}
}

func statusMark(b baton.ItemBody) string {
	switch b.Status {
	case baton.NodeFailed:
		return "✗"
	case baton.NodeInterrupted, baton.NodeCancelled:
		return "■"
	case baton.NodeCompleted:
		return "✓"
	}
	return "•"
}

func statusColor(b baton.ItemBody) string {
	switch b.Status {
	case baton.NodeFailed:
		return red
	case baton.NodeInterrupted, baton.NodeCancelled:
		return yellow
	case baton.NodeCompleted:
		return green
	}
	return cyan
}

func files(changes []baton.FileChange, otherwise string) string {
	var out []string
	for _, f := range changes {
		s := f.Change + " " + f.Path
		if f.Additions+f.Deletions > 0 {
			s += fmt.Sprintf(" +%d −%d", f.Additions, f.Deletions)
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return otherwise
	}
	return strings.Join(out, ", ")
}

func first(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
