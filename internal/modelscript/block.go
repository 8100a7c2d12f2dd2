package modelscript

import (
	"strings"

	"baton/internal/directive"
)

// The roles of blocks, and their kinds.
const (
	RoleUser   = "user"
	RoleModel  = "assistant"
	RoleSystem = "system" // system prompt, developer messages, instructions

	KindText     = "text"
	KindThinking = "thinking"
	KindCall     = "call"   // of a tool, by the model
	KindResult   = "result" // of a call
	KindFold     = "fold"   // a user's message that an agent put inside a tool result
)

// Block is one piece of the conversation that a request carries, alike for
// both wires and in the order of the request.
type Block struct {
	Role   string `json:"role"`
	Kind   string `json:"kind"`
	Text   string `json:"text"`              // of a call its arguments, of a fold the user's words
	Name   string `json:"name,omitempty"`    // of a called tool, with its namespace and a dot where it has one
	CallID string `json:"call_id,omitempty"` // of calls and results
	Failed bool   `json:"failed,omitempty"`  // a result marked as an error
}

// Said returns what the user said in the block, or "".
func (b Block) Said() string {
	if b.Role != RoleUser || b.Kind != KindText && b.Kind != KindFold {
		return ""
	}
	text := strings.TrimSpace(stripElements(b.Text))
	for _, p := range notSaid {
		if strings.HasPrefix(text, p) {
			return ""
		}
	}
	return text
}

// notSaid are beginnings of user texts that agents write themselves.
var notSaid = []string{
	"[MESSAGE FROM NON-USER SOURCE", // claude 2.1.332: isSynthetic
	"[Request interrupted by user",  // claude 2.1.332
	"# AGENTS.md instructions",      // codex 0.171.0
}

// breaks says that the agent ended here what went on before.
func (b Block) breaks() bool {
	return b.Role == RoleUser && b.Kind == KindText &&
		(strings.HasPrefix(b.Text, "[Request interrupted by user") || strings.HasPrefix(b.Text, "<turn_aborted>"))
}

// script returns the marks that the user said in the block, or none where it
// has no mark of ours.
func (b Block) script() []directive.Directive {
	marks := directive.Parse(b.Said())
	for _, m := range marks {
		if verbs[m.Verb] {
			return marks
		}
	}
	return nil
}

// The frame that claude 2.1.332 puts around a message sent while a tool runs.
const (
	foldOpen  = "The user sent a new message while you were working:\n"
	foldClose = "\n\nThis is how Claude Code surfaces"
)

// folds returns the messages of the user inside a tool result or a reminder.
func folds(text string) []Block {
	var out []Block
	for {
		_, rest, ok := strings.Cut(text, foldOpen)
		if !ok {
			return out
		}
		inner, after, ok := strings.Cut(rest, foldClose)
		if !ok {
			inner, after, _ = strings.Cut(rest, "\n</system-reminder>")
		}
		out = append(out, Block{Role: RoleUser, Kind: KindFold, Text: strings.TrimSpace(inner)})
		text = after
	}
}

// stripElements removes <some-tag …>…</some-tag> where the tag's name has a
// hyphen or an underscore: what agents add to a user's text comes so.
func stripElements(text string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(text, '<')
		if start < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:start])
		text = text[start:]
		name := tagName(text[1:])
		end := strings.Index(text, "</"+name+">")
		if name == "" || end < 0 {
			b.WriteByte('<')
			text = text[1:]
			continue
		}
		text = text[end+len("</"+name+">"):]
	}
}

// tagName returns the compound tag name at the start of s, or "". A proposed plan
// is what a script says, and no addition of an agent.
func tagName(s string) string {
	n := 0
	for n < len(s) && (s[n] >= 'a' && s[n] <= 'z' || s[n] == '-' || s[n] == '_') {
		n++
	}
	if n == len(s) || s[n] != '>' && s[n] != ' ' || !strings.ContainsAny(s[:n], "-_") || s[:n] == "proposed_plan" {
		return ""
	}
	return s[:n]
}
