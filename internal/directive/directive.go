// Package directive reads the marks that a message may carry for a scripted
// peer: the `script` agent does what they say, and the scripted model server
// answers as they say. A mark is written in the message itself, so that a
// script needs no state beside the conversation:
//
//	please [[run go test ./...]] and then [[say all green]]
//
// A mark starts with two opening brackets directly followed by a lower-case
// verb and ends with the next two closing brackets. All that lies between the
// verb and the end, less the surrounding space, is the argument. In it \n, \t,
// \\ and \] stand for a line break, a tab, a backslash and a bracket; any
// other backslash stands for itself. Text outside of marks means nothing here.
package directive

import "strings"

// Directive is one mark of a message.
type Directive struct {
	Verb string // lower-case letters and hyphens, never empty
	Arg  string // unescaped; empty where the mark has none
}

// Parse returns the marks of text in their order. What is not a whole mark is
// ordinary text and skipped.
func Parse(text string) []Directive {
	var out []Directive
	for {
		start := strings.Index(text, "[[")
		if start < 0 {
			return out
		}
		text = text[start+2:]
		verb := text[:verbLen(text)]
		if verb == "" {
			continue
		}
		end := closing(text)
		if end < 0 {
			return out
		}
		body := text[len(verb):end]
		text = text[end+2:]
		if body != "" && body[0] != ' ' && body[0] != '\n' && body[0] != '\t' {
			continue // "[[verb:x]]" and the like belong to somebody else
		}
		out = append(out, Directive{Verb: verb, Arg: unescape(strings.TrimSpace(body))})
	}
}

// Has says whether text carries at least one mark.
func Has(text string) bool { return len(Parse(text)) > 0 }

func verbLen(s string) int {
	n := 0
	for n < len(s) && (s[n] >= 'a' && s[n] <= 'z' || s[n] == '-' && n > 0) {
		n++
	}
	return n
}

// closing finds the two brackets that end a mark, passing over escaped ones.
func closing(s string) int {
	for i := 0; i+1 < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == ']' && s[i+1] == ']':
			return i
		}
	}
	return -1
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if r, ok := escapes[s[i+1]]; ok {
				b.WriteByte(r)
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', '\\': '\\', ']': ']'}
