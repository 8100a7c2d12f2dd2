package directive

import (
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Directive
	}{
		{"none", "hello [there] [[ no ]] [[]]", nil},
		{"two in order", "a [[say hi there]] b [[gate]] c", []Directive{{"say", "hi there"}, {"gate", ""}}},
		{"escapes", `[[say a\nb \]\] \\ \q]]`, []Directive{{"say", "a\nb ]] \\ \\q"}}},
		{"unclosed", "[[say hi", nil},
		{"another syntax", "[[note:x]] [[say y]]", []Directive{{"say", "y"}}},
		{"many lines", "[[write a.txt\none\ntwo]]", []Directive{{"write", "a.txt\none\ntwo"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Parse(tt.text); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Parse(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[[say hi]]")
	f.Add(`[[a \]] ]]`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range Parse(text) {
			if d.Verb == "" {
				t.Errorf("empty verb in %q", text)
			}
		}
	})
}
