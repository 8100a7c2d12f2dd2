package decide

import (
	"strings"
	"unicode/utf8"

	"baton"
)

// Keep is how much of a long text's head, and again of its tail, an item's body shows.
const Keep = 32 << 10

// Text is what has streamed into an open item: its text and its output, each as
// head and tail, so that an endless output needs no endless memory.
type Text struct {
	Text, Output Stream
}

// Stream is one growing text.
type Stream struct {
	Len        int64 // bytes so far
	head, tail string
}

// Append adds text.
func (s *Stream) Append(text string) {
	s.Len += int64(len(text))
	if room := Keep - len(s.head); room > 0 && s.tail == "" {
		part := runeHead(text, room)
		s.head += part
		text = text[len(part):]
	}
	if text == "" {
		return
	}
	s.tail += text
	// Let the tail grow to twice its size before it is cut, so that appending
	// stays cheap.
	if len(s.tail) > 2*Keep {
		s.tail = strings.Clone(runeTail(s.tail, Keep))
	}
}

// Body returns the text for an item's body: whole, or head and tail with what
// was left out.
func (s *Stream) Body() (string, *baton.Cut) {
	if s.Len <= int64(len(s.head)+Keep) {
		return s.head + s.tail, nil
	}
	tail := runeTail(s.tail, Keep)
	omitted := s.Len - int64(len(s.head)) - int64(len(tail))
	return s.head + tail, &baton.Cut{Bytes: s.Len, Omitted: omitted, Head: len(s.head)}
}

// keeps says whether a text can be shown as it is: it is short enough for a
// body, or it is what has streamed, as far as head, tail and length tell.
func (s *Stream) keeps(text string) bool {
	return len(text) <= 2*Keep ||
		int64(len(text)) == s.Len && strings.HasPrefix(text, s.head) && strings.HasSuffix(text, s.tail)
}

// Head returns what of a text is kept as its head.
func Head(s string) string { return runeHead(s, Keep) }

func runeHead(s string, n int) string {
	cut := min(n, len(s))
	for cut > 0 && cut < len(s) && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

func runeTail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	from := len(s) - n
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}

// Restore makes a stream of its length, its head (see Head) and what follows
// the head, of which only the last Keep bytes need be there.
func Restore(length int64, head, rest string) Stream {
	if int64(len(head)+len(rest)) < length { // it may begin inside a rune
		for rest != "" && !utf8.RuneStart(rest[0]) {
			rest = rest[1:]
		}
	}
	return Stream{Len: length, head: head, tail: runeTail(rest, Keep)}
}
