package modelscript

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"baton/internal/directive"
)

// verbs are the verbs of marks; true for all of them, so that it reads as a set.
var verbs = map[string]bool{
	"say": true, "think": true, "flood": true, "usage": true,
	"run": true, "run-escalated": true, "run-background": true, "write": true, "plan": true, "tool": true,
	"gate": true, "stall": true, "fail": true, "error": true, "cut": true,
}

var callVerbs = map[string]bool{
	"run": true, "run-escalated": true, "run-background": true, "write": true, "plan": true, "tool": true,
}

// action is one thing that a response does.
type action struct {
	verb   string // say, think, calls, gate, stall, fail, error, cut
	deltas []string
	calls  []call
	gate   string // of gate and stall
	until  string // the gate whose release makes the mark void
	fault  fault  // of fail and error
}

// call is one use of a tool.
type call struct {
	Namespace, Name string
	Args            json.RawMessage // a JSON object
	Custom          bool            // takes Input instead of Args
	Input           string
}

// fault is what an error tells.
type fault struct {
	status        int // 0 where the mark has none
	kind, message string
}

// reply is one response.
type reply struct {
	actions []action
	usage   usage
}

// translator makes the calls of a mark on one wire.
type translator func(directive.Directive) ([]call, error)

// plan decides what to answer to a conversation.
func plan(blocks []Block, translate translator) (reply, error) {
	marks, echo := due(blocks)
	r := reply{usage: defaultUsage}
	spoken := false
	for _, m := range marks {
		a, err := compile(m, translate)
		if err != nil {
			return reply{}, fmt.Errorf("mark [[%s %s]]: %w", m.Verb, m.Arg, err)
		}
		if m.Verb == "usage" {
			if _, err := fmt.Sscan(m.Arg, &r.usage.in, &r.usage.out); err != nil {
				return reply{}, fmt.Errorf("mark [[usage %s]]: want two numbers", m.Arg)
			}
			continue
		}
		spoken = spoken || a.verb == "say" || a.verb == "calls"
		r.actions = append(r.actions, a)
	}
	if !spoken {
		r.actions = append(r.actions, action{verb: "say", deltas: deltas(echo)})
	}
	return r, nil
}

// due returns the marks of the response that is due, and the text to say where
// they have none.
func due(blocks []Block) ([]directive.Directive, string) {
	at, marks := -1, []directive.Directive(nil)
	for i := len(blocks) - 1; i >= 0 && at < 0; i-- {
		if marks = blocks[i].script(); marks != nil {
			at = i
		}
	}
	newer, over := "", false
	round, texts, acting := 0, 0, false // texts since the last call; acting: a call came last
	for i, b := range blocks[at+1:] {
		switch {
		case b.Role == RoleModel && b.Kind == KindText:
			texts, acting = texts+1, false
		case b.Role == RoleModel && b.Kind == KindCall:
			if i == 0 || blocks[at+i].Kind != KindCall {
				round++
			}
			texts, acting = 0, true
		case b.breaks():
			over = true
		case b.Said() != "":
			newer = b.Said()
			over = over || !acting
		}
	}
	echo := "done"
	if newer != "" {
		echo = "You said: " + firstRunes(newer, 200)
	} else if at < 0 {
		echo = "ok"
	}
	parts := split(marks)
	if at < 0 || over || round >= len(parts) {
		return nil, echo
	}
	rest, left := after(parts[round], texts)
	if texts > 0 && left == 0 && round == len(parts)-1 {
		return nil, echo
	}
	return rest, "done"
}

// after returns the marks that follow the first n which make a text, and not
// the faults before the next such: those have happened. left is how many of the
// rest make a text.
func after(marks []directive.Directive, n int) (rest []directive.Directive, left int) {
	start := 0
	for i, m := range marks {
		switch m.Verb {
		case "say", "flood":
			if left += 1; left <= n {
				start = i + 1
			}
		case "cut", "error", "fail":
			if n > 0 && left == n {
				start = i + 1
			}
		}
	}
	return marks[start:], max(left-n, 0)
}

// split cuts marks after each tool call; the last part may be empty.
func split(marks []directive.Directive) [][]directive.Directive {
	var parts [][]directive.Directive
	start := 0
	for i, m := range marks {
		if callVerbs[m.Verb] {
			parts = append(parts, marks[start:i+1])
			start = i + 1
		}
	}
	return append(parts, marks[start:])
}

func compile(m directive.Directive, translate translator) (action, error) {
	a := action{verb: m.Verb}
	switch m.Verb {
	case "say", "think":
		a.deltas = deltas(m.Arg)
	case "flood":
		n, size, _ := strings.Cut(m.Arg, " ")
		total, err := strconv.Atoi(n)
		if err != nil || total < 1 {
			return a, fmt.Errorf("want a number of bytes")
		}
		each := 256
		if size != "" {
			if each, err = strconv.Atoi(strings.TrimSpace(size)); err != nil || each < 1 {
				return a, fmt.Errorf("want a size in bytes after the number")
			}
		}
		a.verb, a.deltas = "say", flood(total, each)
	case "gate":
		if a.gate = m.Arg; a.gate == "" || strings.Contains(a.gate, "/") {
			return a, fmt.Errorf("want a name without a slash")
		}
	case "stall":
		if a.gate = m.Arg; a.gate == "" {
			a.gate = "stall"
		}
	case "fail", "error", "cut":
		return a, a.parseFault(m.Arg)
	case "usage":
	default:
		if !callVerbs[m.Verb] {
			return a, fmt.Errorf("there is no such verb")
		}
		a.verb = "calls"
		var err error
		a.calls, err = translate(m)
		return a, err
	}
	return a, nil
}

// parseFault reads "STATUS [TYPE] [until GATE] [: MESSAGE]", as far as the verb has it.
func (a *action) parseFault(arg string) error {
	head, message, _ := strings.Cut(arg, ":")
	a.fault.message = strings.TrimSpace(message)
	words := strings.Fields(head)
	if n := len(words); n >= 2 && words[n-2] == "until" {
		a.until, words = words[n-1], words[:n-2]
	}
	if a.verb == "fail" {
		if len(words) == 0 {
			return fmt.Errorf("want an HTTP status")
		}
		var err error
		if a.fault.status, err = strconv.Atoi(words[0]); err != nil || a.fault.status < 400 || a.fault.status > 599 {
			return fmt.Errorf("want an HTTP status from 400 to 599")
		}
		words = words[1:]
	}
	if len(words) > 0 {
		a.fault.kind, words = words[0], words[1:]
	}
	if len(words) > 0 || a.verb == "error" && a.fault.kind == "" ||
		a.verb == "cut" && a.fault.kind != "" && a.fault.kind != "streams" {
		return fmt.Errorf("can't read the argument")
	}
	if a.fault.message == "" {
		a.fault.message = "scripted failure"
	}
	return nil
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
