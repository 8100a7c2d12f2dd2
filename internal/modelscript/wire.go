package modelscript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"baton/internal/directive"
	"baton/internal/jsonl"
)

// The wires.
const (
	WireResponses = "responses"
	WireMessages  = "messages"
)

// turn is a request as its wire reads it.
type turn struct {
	blocks []Block
	tools  []tool
	model  string
	stream bool   // false: the answer is one JSON document
	seed   string // from the conversation; ids are made of it
}

// tool is one tool that the request offers.
type tool struct {
	namespace, name string
	custom          bool // takes free text
}

// wire is one protocol.
type wire interface {
	parse(body []byte) (turn, error)
	calls(t turn, m directive.Directive) ([]call, error)
	// sink answers on w. It writes nothing before open.
	sink(w http.ResponseWriter, t turn, usage usage) sink
	// fault is the body of an HTTP error.
	fault(f fault) any
}

// sink writes one answer. An error means that the client is gone.
type sink interface {
	open() error
	say(deltas []string) error
	think(deltas []string) error
	call(c call) error
	fault(f fault) error // ends the answer
	close() error        // ends the answer well
}

type usage struct{ in, out int }

// defaultUsage is small, so that no agent thinks of compacting before a script says so.
var defaultUsage = usage{100, 20}

// seedOf derives the stem of ids from the conversation, so that the same
// request gets the same ids and the next one others.
func seedOf(conversation []byte) string {
	sum := sha256.Sum256(conversation)
	return hex.EncodeToString(sum[:8])
}

// namedCall makes the call of [[tool NAME JSON]] with the help of what the
// request offers. A tool that isn't offered is called as it is written.
func namedCall(t turn, arg string) (call, error) {
	name, input := arg, ""
	if i := strings.IndexAny(arg, " \n\t"); i >= 0 {
		name, input = arg[:i], strings.TrimSpace(arg[i:])
	}
	if name == "" {
		return call{}, fmt.Errorf("want a tool's name")
	}
	c := call{Name: name}
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		c.Namespace, c.Name = name[:i], name[i+1:]
	}
	for _, o := range t.tools {
		if o.namespace == c.Namespace && o.name == c.Name || o.namespace+o.name == name || o.namespace+"__"+o.name == name {
			c.Namespace, c.Name, c.Custom = o.namespace, o.name, o.custom
			break
		}
	}
	if c.Custom {
		c.Input = input
		return c, nil
	}
	if input == "" {
		input = "{}"
	}
	c.Args = json.RawMessage(escapeControls(input))
	if !json.Valid(c.Args) || input[0] != '{' {
		return call{}, fmt.Errorf("want a JSON object after the tool's name")
	}
	return c, nil
}

// escapeControls writes line breaks and tabs inside JSON strings as escapes,
// since a mark's own escapes have made real ones of them.
func escapeControls(s string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\' && i+1 < len(s):
			b.WriteByte(c)
			i++
			b.WriteByte(s[i])
		case quoted && c == '\n':
			b.WriteString(`\n`)
		case quoted && c == '\t':
			b.WriteString(`\t`)
		default:
			if c == '"' {
				quoted = !quoted
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// object encodes a tool's arguments.
func object(v map[string]any) json.RawMessage { return bytes.TrimSpace(jsonl.Line(v)) }

// fileArg reads "PATH⏎CONTENT". The content ends in a line break, since
// apply_patch can't make a file that doesn't.
func fileArg(arg string) (path, content string, err error) {
	path, content, _ = strings.Cut(arg, "\n")
	if path = strings.TrimSpace(path); path == "" {
		return "", "", fmt.Errorf("want a path on the first line")
	}
	if !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	return path, content, nil
}

// planStep is one entry of [[plan a|b|c]].
type planStep struct{ text, status string }

func planArg(arg string) ([]planStep, error) {
	var steps []planStep
	marked := false
	for _, s := range strings.Split(arg, "|") {
		p := planStep{strings.TrimSpace(s), "pending"}
		if rest, ok := strings.CutPrefix(p.text, "+"); ok {
			p, marked = planStep{strings.TrimSpace(rest), "completed"}, true
		} else if rest, ok := strings.CutPrefix(p.text, ">"); ok {
			p, marked = planStep{strings.TrimSpace(rest), "in_progress"}, true
		}
		if p.text == "" {
			return nil, fmt.Errorf("want steps between bars")
		}
		steps = append(steps, p)
	}
	if !marked {
		steps[0].status = "in_progress"
	}
	return steps, nil
}

// contentText returns the text of a content member: a string, or a list of
// parts with a text each.
func contentText(raw json.RawMessage) []string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []string{s}
	}
	var parts []struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	var out []string
	for _, p := range parts {
		if p.Text != nil {
			out = append(out, *p.Text)
		}
	}
	return out
}

var cwdLine = regexp.MustCompile(`(?m)^[ \-*]*(?:Primary w|W)orking directory: (.+)$`)

// inDir makes path absolute by the working directory that the agent told the
// model; it stays as it is where none is told.
func inDir(blocks []Block, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	for _, b := range blocks {
		if m := cwdLine.FindStringSubmatch(b.Text); m != nil && b.Kind == KindText {
			return filepath.Join(strings.TrimSpace(m[1]), path)
		}
	}
	return path
}

// statusKind names an HTTP status where a mark gives no type.
func statusKind(table map[int]string, f fault) string {
	if f.kind != "" {
		return f.kind
	}
	if k, ok := table[f.status]; ok {
		return k
	}
	return "error_" + strconv.Itoa(f.status)
}
