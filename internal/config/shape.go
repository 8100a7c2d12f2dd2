package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"baton"
)

// shape compares the kinds of a file's values with those of the struct that it
// is decoded into, before it is: the decoder's own errors speak of Go types, and
// it panics at a date where a number belongs. It returns the first mismatch. A
// file that can't be parsed is left to the decoder; keys that are not known are
// passed over here.
func shape(path string, data []byte) *baton.Error {
	s := shaper{path: path}
	s.parser.Reset(data)
	var table []string
	for s.err == nil && s.parser.NextExpression() {
		e := s.parser.Expression()
		key, line := s.key(e)
		switch e.Kind {
		case unstable.Table:
			table = key
			s.under(table, line, "a table", isTable)
		case unstable.ArrayTable:
			table = key
			s.under(table, line, "a list of tables", func(reflect.Type) bool { return false })
		case unstable.KeyValue:
			s.keyValue(table, e)
		}
	}
	if s.parser.Error() != nil {
		return nil
	}
	return s.err
}

type shaper struct {
	path   string
	parser unstable.Parser
	err    *baton.Error
}

func (s *shaper) key(e *unstable.Node) (key []string, line int) {
	if e.Kind == unstable.Comment {
		return nil, 0
	}
	for it := e.Key(); it.Next(); {
		key = append(key, string(it.Node().Data))
		line = s.parser.Shape(it.Node().Raw).Start.Line
	}
	return key, line
}

func (s *shaper) fail(key []string, line int, expected reflect.Type, found string) {
	if s.err == nil {
		s.err = at(s.path, line, strings.Join(key, ".")).WithDetail("expected %s, found %s", expectation(expected), found)
	}
}

// under checks that a key may stand where it does, and what is found there. A
// key that is not known gives no type.
func (s *shaper) under(key []string, line int, found string, fits func(reflect.Type) bool) reflect.Type {
	t := reflect.TypeFor[file]()
	for i, k := range key {
		if !isTable(t) {
			s.fail(key[:i], line, t, "a table")
			return nil
		}
		if t = below(t, k); t == nil {
			return nil
		}
	}
	if fits != nil && !fits(t) {
		s.fail(key, line, t, found)
	}
	return t
}

func (s *shaper) keyValue(table []string, e *unstable.Node) {
	key, line := s.key(e)
	key = append(append([]string{}, table...), key...)
	v := e.Value()
	t := s.under(key, line, "", nil)
	switch {
	case t == nil:
	case v.Kind == unstable.InlineTable && isTable(t):
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				s.keyValue(key, it.Node())
			}
		}
	case v.Kind == unstable.Array && t.Kind() == reflect.Slice:
		for it := v.Children(); it.Next(); {
			if n := it.Node(); n.Kind != unstable.Comment && n.Kind != scalar(t.Elem()) {
				s.fail(key, line, t, "a list with "+finding(n)+" in it")
			}
		}
	case v.Kind != scalar(t):
		s.fail(key, line, t, finding(v))
	}
}

// below is the type of a key in a table, nil where there is none.
func below(t reflect.Type, key string) reflect.Type {
	if t.Kind() == reflect.Map {
		return t.Elem()
	}
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("toml") == key {
			t := t.Field(i).Type
			if t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			return t
		}
	}
	return nil
}

func isTable(t reflect.Type) bool { return t.Kind() == reflect.Struct || t.Kind() == reflect.Map }

// scalar is the kind of TOML value that a type takes, Invalid where it takes no
// single one.
func scalar(t reflect.Type) unstable.Kind {
	switch {
	case t == reflect.TypeFor[duration](), t.Kind() == reflect.String:
		return unstable.String
	case t.Kind() == reflect.Int:
		return unstable.Integer
	}
	return unstable.Invalid
}

func expectation(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[duration]():
		return `a time such as "90s" or "15m"`
	case t.Kind() == reflect.String:
		return "a text in quotes"
	case t.Kind() == reflect.Int:
		return "a whole number"
	case t.Kind() == reflect.Slice:
		return `a list of texts such as ["codex", "app-server"]`
	case t == reflect.TypeFor[map[string]string]():
		return `a table of texts such as { NAME = "value" }`
	}
	return "a table"
}

func finding(n *unstable.Node) string {
	text := head(string(n.Data))
	switch n.Kind {
	case unstable.String:
		return fmt.Sprintf("the text %q", text)
	case unstable.Bool, unstable.Integer, unstable.Float:
		return text
	case unstable.Array:
		return "a list"
	case unstable.InlineTable:
		return "a table"
	}
	return "the date or time " + text
}
