package handoff

import (
	"strings"
	"unicode/utf8"
)

// Tokens estimates how many tokens a model makes of a text. It knows no model's
// vocabulary and errs on the high side for prose and code: three letters or
// spaces are a token, three digits or signs are two, a character beyond ASCII is
// one, beyond the basic plane (emoji) two. Long runs of Base64 can be more.
func Tokens(s string) int { return (units(s) + unitsPerToken - 1) / unitsPerToken }

// A unit is a third of a token. Units add up: the units of two texts together
// are the sum of theirs, and valid UTF-8 has at least as many units as bytes.
const unitsPerToken = 3

// units counts by the first byte of each character.
func units(s string) int {
	n := 0
	for i := range len(s) {
		n += int(weight[s[i]])
	}
	return n
}

var weight = func() (w [256]uint8) {
	for c := range w {
		switch {
		case c == ' ' || c == '\n' || c == '\t' || 'a' <= c|0x20 && c|0x20 <= 'z' && c < 0x80:
			w[c] = 1
		case c < 0x80:
			w[c] = 2
		case c < 0xc0: // within a character
		case c < 0xf0:
			w[c] = 3
		default:
			w[c] = 6
		}
	}
	return w
}()

// mark begins each quoted line.
const mark = "> "

// markUnits is what a line of a quote costs above its text: mark.
const markUnits = 3

// quoteUnits is what a quote of s costs: its text, its marks, its last line end.
func quoteUnits(s string) int {
	n := units(s) + markUnits + 1
	for i := 0; i < len(s); i++ {
		if w := lineEnd(s[i:]); w > 0 {
			n += markUnits
			i += w - 1
		}
	}
	return n
}

// writeQuote writes s with a mark before each line, and a line end after it.
// Every character that a reader might take for the end of a line counts as one.
func writeQuote(b *strings.Builder, s string) {
	b.WriteString(mark)
	for i := 0; i < len(s); {
		w := lineEnd(s[i:])
		if w == 0 {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString(s[i : i+w])
		b.WriteString(mark)
		i += w
	}
	b.WriteByte('\n')
}

// lineEnd returns the length of the line end at the head of s, or 0.
func lineEnd(s string) int {
	switch c := s[0]; {
	case c > '\r' && c < 0x1c, c > 0x1e && c < 0xc2, c > 0xe2, c < '\n':
		return 0
	case c == '\r' && len(s) > 1 && s[1] == '\n':
		return 2
	case c <= 0x1e:
		return 1
	case strings.HasPrefix(s, "\u0085"):
		return 2
	case strings.HasPrefix(s, "\u2028"), strings.HasPrefix(s, "\u2029"):
		return 3
	}
	return 0
}

// head returns the longest beginning of s whose quote costs at most limit, cut
// between characters.
func head(s string, limit int) string {
	cost := markUnits + 1
	for i := 0; i < len(s); {
		w, c := step(s[i:])
		if cost += c; cost > limit {
			return s[:i]
		}
		i += w
	}
	return s
}

// tail returns the longest end of s whose quote costs at most limit.
func tail(s string, limit int) string {
	cost, i := markUnits+1, len(s)
	for i > 0 {
		_, w := utf8.DecodeLastRuneInString(s[:i])
		if i >= 2 && s[i-2:i] == "\r\n" {
			w = 2
		}
		_, c := step(s[i-w : i])
		if cost += c; cost > limit {
			break
		}
		i -= w
	}
	return s[i:]
}

// step returns the length of the character at the head of s, a line end being
// one, and what it costs in a quote.
func step(s string) (width, cost int) {
	if w := lineEnd(s); w > 0 {
		return w, units(s[:w]) + markUnits
	}
	_, w := utf8.DecodeRuneInString(s)
	return w, units(s[:w])
}

// verbatim makes text of a person fit to be stored: what is no UTF-8 and NUL
// become U+FFFD, all else stays.
func verbatim(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// printable makes text of an agent, a tool or a file fit to be read: line ends
// become "\n", control characters and a terminal's escape sequences go.
func printable(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, control) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\x1b':
			w = sequence(s[i:])
		case r == '\r' && !strings.HasPrefix(s[i:], "\r\n"):
			b.WriteByte('\n')
		case !control(r):
			b.WriteRune(r)
		}
		i += w
	}
	return b.String()
}

func control(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r < 0xa0 }

// sequence returns the length of the terminal sequence at the head of s: ESC [
// up to its letter, or ESC alone.
func sequence(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	i := 2
	for i < len(s) && i < 32 && ' ' <= s[i] && s[i] < '@' {
		i++
	}
	if i < len(s) && '@' <= s[i] && s[i] <= '~' {
		i++
	}
	return i
}

// name reduces a name from the outside to one short line of plain characters.
func name(s string) string {
	if len(s) <= 40 && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	for _, r := range s {
		if b.Len() == 40 {
			break
		}
		if plain(r) {
			b.WriteRune(r)
		} else {
			b.WriteByte('?')
		}
	}
	return strings.TrimSpace(b.String())
}

// plain says whether a character may stand in a name.
func plain(r rune) bool {
	return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.@/+ ", r)
}
