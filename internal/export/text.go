package export

import (
	"fmt"
	"strings"
	"time"
)

// fence puts a text into a code block that it can't end: the fence is longer
// than any run of the same character in it. Control characters that could drive
// a terminal are left out.
func fence(kind, text string) string {
	text = strings.TrimRight(printable(strings.ReplaceAll(text, "\r\n", "\n")), "\n")
	f := strings.Repeat("`", max(3, longest(text, '`')+1))
	return f + kind + "\n" + text + "\n" + f + "\n"
}

// code puts a short text into a code span that it can't end.
func code(text string) string {
	text = strings.Join(strings.Fields(printable(text)), " ")
	if text == "" {
		return "–"
	}
	f := strings.Repeat("`", longest(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		return f + " " + text + " " + f
	}
	return f + text + f
}

// inline makes one line of a text in which nothing is Markdown.
func inline(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(printable(text)), " ") {
		if r < 0x80 && strings.ContainsRune("\\`*_{}[]<>()#+-.!|&~:", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func longest(text string, of byte) (most int) {
	n := 0
	for i := range len(text) {
		if text[i] != of {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func when(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
