package modelscript

import "strings"

// deltas cuts text between words into at most about 64 pieces; joined they are
// the text.
func deltas(text string) []string {
	least := len(text) / 64
	var out []string
	start := 0
	for i := 1; i < len(text); i++ {
		if isSpace(text[i-1]) && !isSpace(text[i]) && i-start > least {
			out = append(out, text[start:i])
			start = i
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// flood makes exactly total bytes of varied words with line breaks, in pieces
// of about size bytes. The same numbers give the same text.
func flood(total, size int) []string {
	var b strings.Builder
	b.Grow(total + 16)
	seed := uint32(total)
	for line := 0; b.Len() < total; {
		seed = seed*1664525 + 1013904223
		word := floodWords[seed>>16%uint32(len(floodWords))]
		b.WriteString(word)
		if line += len(word) + 1; line > 90 {
			b.WriteString(".\n")
			line = 0
		} else {
			b.WriteByte(' ')
		}
	}
	text := b.String()[:total]
	var out []string
	for len(text) > size {
		out = append(out, text[:size])
		text = text[size:]
	}
	return append(out, text)
}

var floodWords = strings.Fields(`amber basin cedar delta ember fjord grove harbor inlet juniper kelp lagoon
meadow nectar orchard pebble quarry ridge spruce thicket umber valley willow yarrow zephyr stone river
cloud field light water under over between along beside 12 345 6789 north south east west`)
