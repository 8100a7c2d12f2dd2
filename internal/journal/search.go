package journal

import (
	"encoding/json"
	"strings"

	"baton"
)

// What is searched: the titles of threads and the texts of items that are
// closed, as their documents have them. A text that is head and tail in its
// document is searched as such. Each text is a list of words (see Words), and a
// query a list of phrases; all phrases must stand in one text.

// SearchQuery asks for texts. Any string is a query: what has no words in it
// finds nothing.
type SearchQuery struct {
	Text   string
	Offset int // skips that many of the best
	Limit  int // 0: 20
}

// Hit is a text that was found.
type Hit struct {
	Thread baton.ThreadID
	Run    baton.RunID    // none for a title, and for an item of no run
	Item   baton.ItemID   // none for a title
	Kind   baton.ItemKind // KindTitle for a title
}

// KindTitle is the kind of a hit that is a thread's title.
const KindTitle baton.ItemKind = "title"

// Phrase is a sequence of words that must stand one behind the other. The last
// one may be longer in the text than in the query.
type Phrase []string

// maxPhrases is how many phrases of a query count; who asks for more means the
// first ones.
const maxPhrases = 24

// Phrases reads a query. What stands between spaces is a phrase, such as
// `foo.bar`, and so is what stands in double quotes.
func Phrases(query string) []Phrase {
	var out []Phrase
	add := func(s string) {
		if words := Words(s); len(words) > 0 && len(out) < maxPhrases {
			p := make(Phrase, len(words))
			for i, w := range words {
				p[i] = w.Text
			}
			out = append(out, p)
		}
	}
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			add(part)
			continue
		}
		for _, s := range strings.Fields(part) {
			add(s)
		}
	}
	return out
}

// At returns where in words the phrase begins, from the given index on, or -1.
func (p Phrase) At(words []Word, from int) int {
next:
	for i := from; i+len(p) <= len(words); i++ {
		for j, w := range p {
			if got := words[i+j].Text; got != w && (j < len(p)-1 || !strings.HasPrefix(got, w)) {
				continue next
			}
		}
		return i
	}
	return -1
}

// Found says whether all phrases stand in the words.
func Found(phrases []Phrase, words []Word) bool {
	for _, p := range phrases {
		if p.At(words, 0) < 0 {
			return false
		}
	}
	return len(phrases) > 0
}

// TitleText is what is searched of a thread's document: its title.
func TitleText(doc json.RawMessage) (string, error) {
	var t struct{ Title string }
	err := json.Unmarshal(doc, &t)
	return t.Title, err
}

// ItemText is what is searched of an item's document, and what kind of item it
// is. An item that is open has no text yet.
func ItemText(doc json.RawMessage) (text string, kind baton.ItemKind, err error) {
	var it struct {
		Kind baton.ItemKind
		Open bool
		Body baton.ItemBody
	}
	if err := json.Unmarshal(doc, &it); err != nil || it.Open {
		return "", it.Kind, err
	}
	b := it.Body.Marked()
	parts := []string{b.Title, b.Command, b.Text, b.Output, b.Tool, b.Input, b.Answer}
	for _, f := range b.Files {
		parts = append(parts, f.Path)
	}
	for _, s := range b.Steps {
		parts = append(parts, s.Text)
	}
	for _, q := range b.Questions {
		parts = append(parts, q.Text)
	}
	parts = compact(parts)
	return strings.Join(parts, "\n"), it.Kind, nil
}

// compact leaves out what is empty and what only says again what went before.
func compact(parts []string) []string {
	var out []string
	for _, s := range parts {
		if s != "" && (len(out) == 0 || out[len(out)-1] != s) {
			out = append(out, s)
		}
	}
	return out
}
