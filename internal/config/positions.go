package config

import (
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// places holds the line of every key of a file, dotted, in the file's order.
// The decoder gives positions only with its own errors; what is checked later
// needs them too.
type places struct {
	keys  []string
	lines map[string]int
	twice string // the first key that is given two times, and where
	again int
}

// positions reads as much of the file as can be parsed.
func positions(data []byte) places {
	p := places{lines: map[string]int{}}
	defined := map[string]bool{}
	define := func(key string, line int) {
		if defined[key] && p.twice == "" {
			p.twice, p.again = key, line
		}
		defined[key] = true
	}
	var parser unstable.Parser
	parser.Reset(data)
	table := ""
	for parser.NextExpression() {
		e := parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			var line int
			if table, line = p.note(&parser, "", e); e.Kind == unstable.Table {
				define(table, line)
			}
		case unstable.KeyValue:
			define(p.keyValue(&parser, table, e))
		}
	}
	return p
}

// keyValue notes a key and those of an inline table behind it.
func (p *places) keyValue(parser *unstable.Parser, table string, e *unstable.Node) (key string, line int) {
	key, line = p.note(parser, table, e)
	if v := e.Value(); v.Valid() && v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			p.keyValue(parser, key, it.Node())
		}
	}
	return key, line
}

func (p *places) note(parser *unstable.Parser, table string, e *unstable.Node) (key string, line int) {
	key = table
	for it := e.Key(); it.Next(); {
		part := it.Node()
		if key != "" {
			key += "."
		}
		key += string(part.Data)
		line = parser.Shape(part.Raw).Start.Line
		if _, ok := p.lines[key]; !ok {
			p.lines[key] = line
			p.keys = append(p.keys, key)
		}
	}
	return key, line
}

// line returns the line of a key, or of the nearest key around it; 1 if none is there.
func (p places) line(key string) int {
	for key != "" {
		if n, ok := p.lines[key]; ok {
			return n
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			break
		}
		key = key[:i]
	}
	return 1
}

// keyAt returns the key that starts on the line, or "". A line that can't be
// parsed is read as far as its equals sign.
func (p places) keyAt(data []byte, line int) string {
	found := ""
	for _, k := range p.keys {
		if p.lines[k] == line {
			found = k
		}
	}
	lines := strings.Split(string(data), "\n")
	if found != "" || line < 1 || line > len(lines) {
		return found
	}
	key, _, ok := strings.Cut(lines[line-1], "=")
	if !ok {
		return ""
	}
	key = strings.TrimSpace(key)
	for i := line - 2; i >= 0; i-- {
		if table, ok := strings.CutPrefix(strings.TrimSpace(lines[i]), "["); ok {
			name, _, _ := strings.Cut(table, "]")
			return name + "." + key
		}
	}
	return key
}

// tables returns the names of the tables right below a key, in the file's
// order. A name with a dot in it is given whole where the caller knows it.
func (p places) tables(parent string) []string {
	var out []string
	seen := map[string]bool{}
	for _, k := range p.keys {
		rest, ok := strings.CutPrefix(k, parent+".")
		if !ok {
			continue
		}
		for name := rest; name != ""; {
			if !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
			i := strings.LastIndexByte(name, '.')
			if i < 0 {
				break
			}
			name = name[:i]
		}
	}
	return out
}
