package journal

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"Hello, World!":             "hello world",
		"foo_bar.Baz2 x-y":          "foo bar baz2 x y",
		"Größe ÉCOLE naïve Łódź":    "grosse ecole naive lodz",
		"cafe\u0301 ångström":       "cafe angstrom",
		"Ελλάδα ΟΔΟΣ":               "ελλαδα οδοσ",
		"Привет, мир":               "привет мир",
		"解析器 slow 慢":                "解 析 器 slow 慢",
		"ひらがなカタカナ":                  "ひ ら が な カ タ カ ナ",
		"\xff\xfea\xffb":            "a b",
		"🙂 ok":                      "ok",
		strings.Repeat("x", 10_000): strings.Repeat("x", maxWord),
	} {
		var got []string
		for _, w := range Words(text) {
			got = append(got, w.Text)
			if w.Start < 0 || w.End > len(text) || w.Start >= w.End {
				t.Errorf("%q: %+v", text, w)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q has the words %q, want %q", text, s, want)
		}
	}
}

func TestSnippet(t *testing.T) {
	show := func(parts []Part) string {
		var b strings.Builder
		for _, p := range parts {
			if p.Match {
				b.WriteString("[" + p.Text + "]")
				continue
			}
			b.WriteString(p.Text)
		}
		return b.String()
	}
	long := strings.Repeat("before ", 50) + "the NEEDLE\n\t in it " + strings.Repeat("after ", 50)
	for _, c := range []struct{ text, query, want string }{
		{"why is parsing slow", "pars slow", "why is [parsing] [slow]"},
		{"why is it slow", "nothing", "why is it slow"},
		{"a Größe b", "grosse", "a [Größe] b"},
		{"x foo.bar y foo bar", "foo.bar", "x [foo.bar] y [foo bar]"},
		{"解析器为什么慢", "什么", "解析器为[什么]慢"},
		{long, "needle", "…before the [NEEDLE] in it after after after after after afte…"},
		{"", "x", ""},
	} {
		if got := show(Snippet(c.text, Phrases(c.query), 60)); got != c.want {
			t.Errorf("%q in %.30q is shown as %q, want %q", c.query, c.text, got, c.want)
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("why is parsing slow", `"pars`, 10)
	f.Add("解析器 é\xff", "器 e", 3)
	f.Fuzz(func(t *testing.T, text, query string, size int) {
		phrases := Phrases(query)
		for _, p := range phrases {
			for _, w := range p {
				if w == "" || strings.ContainsAny(w, "\" *:^(){}") {
					t.Errorf("%q has the word %q", query, w)
				}
			}
		}
		if size < 1 || size > 1000 {
			return
		}
		for _, p := range Snippet(text, phrases, size) {
			if utf8.ValidString(text) && !utf8.ValidString(p.Text) {
				t.Errorf("%q: the part %q is cut inside of a character", text, p.Text)
			}
		}
	})
}
