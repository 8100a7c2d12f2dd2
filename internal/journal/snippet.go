package journal

import (
	"strings"
	"unicode/utf8"
)

// Part is a piece of a snippet.
type Part struct {
	Text  string
	Match bool // what the query asked for
}

// Snippet shows where in the text the query stands: about size bytes around
// the first match, on one line, with every match in it marked. A text in which
// the query does not stand is shown from its beginning.
func Snippet(text string, phrases []Phrase, size int) []Part {
	words := Words(text)
	var spans [][2]int
	for _, p := range phrases {
		for i := p.At(words, 0); i >= 0 && len(spans) < 1000; i = p.At(words, i+len(p)) {
			spans = append(spans, [2]int{words[i].Start, words[i+len(p)-1].End})
		}
	}
	first := len(text)
	for _, s := range spans {
		first = min(first, s[0])
	}
	if len(spans) == 0 {
		first = 0
	}
	from, to := around(text, words, first, size)
	// Marks on bytes, since matches may overlap.
	marked := make([]bool, to-from)
	for _, s := range spans {
		for i := max(s[0], from); i < min(s[1], to); i++ {
			marked[i-from] = true
		}
	}
	var out []Part
	add := func(s string, match bool) {
		if s == "" {
			return
		}
		if n := len(out); n > 0 && out[n-1].Match == match {
			out[n-1].Text += s
			return
		}
		out = append(out, Part{s, match})
	}
	if from > 0 {
		add("…", false)
	}
	for i := from; i < to; {
		j := i
		for j < to && marked[j-from] == marked[i-from] {
			j++
		}
		add(oneLine(text[i:j]), marked[i-from])
		i = j
	}
	if to < len(text) {
		add("…", false)
	}
	return out
}

// around chooses what of the text is shown: from the beginning of a word a
// little before at, and not within a character.
func around(text string, words []Word, at, size int) (from, to int) {
	if from = at - size/4; from <= 0 {
		from = 0
	} else {
		for _, w := range words {
			if w.Start >= from {
				from = min(w.Start, at)
				break
			}
		}
	}
	to = min(from+size, len(text))
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return from, to
}

// oneLine makes single spaces of line breaks and what is around them, and keeps
// a space at either end.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\n\t\r") && !strings.Contains(s, "  ") {
		return s
	}
	out := strings.Join(strings.Fields(s), " ")
	if out == "" {
		return " "
	}
	if strings.ContainsAny(s[:1], " \n\t\r") {
		out = " " + out
	}
	if strings.ContainsAny(s[len(s)-1:], " \n\t\r") {
		out += " "
	}
	return out
}
