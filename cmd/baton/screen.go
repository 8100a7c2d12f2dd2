package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// screen is what all text for a person goes through, so that no command has to
// think of it: what an agent, a file or an error says can't drive the terminal.
// Only the styles of ours pass, which carry a mark that nobody else knows.
type screen struct {
	w    io.Writer
	mark string
	rest []byte // the beginning of a character that is not whole yet
}

// newMark makes the mark of our styles: the screens of one program share it.
func newMark() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails
	return "\x1b" + hex.EncodeToString(b)
}

func (s *screen) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	whole := len(text)
	for i := max(0, whole-utf8.UTFMax+1); i < whole; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			whole = i
		}
	}
	s.rest = append([]byte(nil), text[whole:]...)
	parts := strings.Split(string(text[:whole]), s.mark)
	out := printable(parts[0])
	for _, part := range parts[1:] {
		code, after, _ := strings.Cut(part, "m")
		out += "\x1b[" + code + "m" + printable(after)
	}
	if _, err := io.WriteString(s.w, out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// style marks text to be painted. Styles don't nest.
func (s *screen) style(code, text string) string {
	return s.mark + code + "m" + text + s.mark + "0m"
}

// printable shows characters that would drive a terminal instead of passing
// them on: control characters as their pictures, those that turn the direction
// of text around or break lines unseen as a replacement character. One
// character stays one character, so widths stay what they were.
func printable(s string) string {
	if strings.Contains(s, "\r\n") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20:
			return '␀' + r
		case r == 0x7f:
			return '␡'
		case hidden(r):
			return utf8.RuneError
		}
		return r
	}, s)
}

// hidden says whether a character, though no ASCII control, changes what a
// person sees of others: C1 controls, line separators, embeddings, overrides and
// isolates of bidirectional text.
func hidden(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// escaped writes JSON to a terminal: the same values, with what would drive the
// terminal written as JSON escapes.
type escaped struct{ w io.Writer }

func (e escaped) Write(p []byte) (int, error) {
	var b strings.Builder
	for _, r := range string(p) {
		if hidden(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	_, err := io.WriteString(e.w, b.String())
	return len(p), err
}

// raw is the writer behind a screen: for bytes that a program reads.
func raw(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.w
	}
	return w
}

// jsonTo is where JSON for w goes: as it is, but for what it would do to a terminal.
func jsonTo(w io.Writer) io.Writer {
	if isTerminal(raw(w)) {
		return escaped{raw(w)}
	}
	return raw(w)
}

// exact writes text byte for byte where a program reads it, and what a person
// may see of it on a terminal.
func (a *app) exact(text string) error {
	w := a.out
	if !a.tty {
		w = raw(w)
	}
	_, err := io.WriteString(w, text)
	return err
}
