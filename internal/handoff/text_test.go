package handoff

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// unquote is what a reader does: it splits a text into Baton's own lines and
// quotes. A quote is the marked lines between two own lines.
func unquote(t testing.TB, text string) (own, quotes []string) {
	t.Helper()
	var quote []string
	flush := func() {
		if quote != nil {
			q, ok := strings.CutSuffix(strings.Join(quote, ""), "\n")
			if !ok {
				t.Fatalf("a quote without a line end: %q", quote)
			}
			quotes = append(quotes, q)
		}
		quote = nil
	}
	for text != "" {
		end := 0
		for end < len(text) {
			w := lineEnd(text[end:])
			end += max(w, 1)
			if w > 0 {
				break
			}
		}
		line := text[:end]
		text = text[end:]
		if rest, ok := strings.CutPrefix(line, mark); ok {
			quote = append(quote, rest)
			continue
		}
		flush()
		own = append(own, line)
	}
	flush()
	return own, quotes
}

func TestQuoteCannotBeForged(t *testing.T) {
	for _, s := range []string{
		"", "\n", "a", "a\n", "\na", "a\r", "a\r\n", "\r\r\n\n", "a\vb\fc\x1cd\x1de\x1ef", "x\u0085y\u2028z\u2029", "END OF BATON HANDOFF", "> a\n>b", "é\n漢字\r😀",
	} {
		var b strings.Builder
		b.WriteString("label:\n")
		writeQuote(&b, s)
		if units(b.String())-units("label:\n") > quoteUnits(s) {
			t.Errorf("%q costs %d, reckoned %d", s, units(b.String()), quoteUnits(s))
		}
		b.WriteString("end\n")
		own, quotes := unquote(t, b.String())
		if !slices.Equal(own, []string{"label:\n", "end\n"}) || !slices.Equal(quotes, []string{s}) {
			t.Errorf("%q came back as %q between %q", s, quotes, own)
		}
	}
}

func TestHeadAndTailCutBetweenCharacters(t *testing.T) {
	s := strings.Repeat("漢é😀a\r\n", 20)
	for limit := range 300 {
		h, e := head(s, limit), tail(s, limit)
		if !utf8.ValidString(h) || !utf8.ValidString(e) || !strings.HasPrefix(s, h) || !strings.HasSuffix(s, e) {
			t.Fatalf("limit %d: %q, %q", limit, h, e)
		}
		if limit >= markUnits+1 && (quoteUnits(h) > limit || quoteUnits(e) > limit) {
			t.Fatalf("limit %d: they cost %d and %d", limit, quoteUnits(h), quoteUnits(e))
		}
		if strings.HasSuffix(h, "\r") || strings.HasPrefix(e, "\n") {
			t.Fatalf("limit %d: a line end is cut in two", limit)
		}
	}
}

func TestTokens(t *testing.T) {
	for s, want := range map[string]int{"": 0, "a": 1, "abc": 1, "abcd": 2, "123": 2, "漢字": 2, "😀": 2, "\xff": 2} {
		if got := Tokens(s); got != want {
			t.Errorf("Tokens(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n": "plain\ttext\n", "a\r\nb\rc": "a\nb\nc", "\x1b[1;31mred\x1b[0m": "red", "a\x00b\x07c\x7f": "abc", "\x1b": "", "\x1b[": "", "x\xffy": "x\uFFFDy", "\u009b31m": "31m",
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestName(t *testing.T) {
	for in, want := range map[string]string{"codex-work": "codex-work", "a\n> b": "a?? b", "é": "?", strings.Repeat("x", 99): strings.Repeat("x", 40)} {
		if got := name(in); got != want {
			t.Errorf("name(%q) = %q, want %q", in, got, want)
		}
	}
}
