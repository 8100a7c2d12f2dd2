package baton

import "testing"

func TestMarked(t *testing.T) {
	cut := &Cut{Bytes: 10, Omitted: 6, Head: 3}
	for name, c := range map[string]struct{ in, want ItemBody }{
		"whole":       {ItemBody{Text: "abcd"}, ItemBody{Text: "abcd"}},
		"text":        {ItemBody{Text: "abcj", Cut: cut}, ItemBody{Text: "abc\n[… 6 bytes left out …]\nj"}},
		"output":      {ItemBody{Text: "title", Output: "abcj", Cut: cut}, ItemBody{Text: "title", Output: "abc\n[… 6 bytes left out …]\nj"}},
		"an old body": {ItemBody{Text: "abcj", Cut: &Cut{Bytes: 10, Omitted: 6}}, ItemBody{Text: "abcj"}},
	} {
		if got := c.in.Marked(); got.Text != c.want.Text || got.Output != c.want.Output {
			t.Errorf("%s: %q %q", name, got.Text, got.Output)
		}
	}
}
