package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// flow writes a paragraph that comes bit by bit: on a terminal broken into
// lines at spaces, elsewhere as it is. Lines are indented.
type flow struct {
	a      *app
	indent string
	color  string
	first  string // stands before the first line, as wide as indent
	begun  bool
	column int
	word   strings.Builder // not written yet: it may not fit
	space  int             // spaces that are owed before the word
}

func (f *flow) write(s string) {
	for _, r := range s {
		switch r {
		case '\n':
			f.flushWord()
			f.newline()
		case ' ':
			f.flushWord()
			f.space++
		default:
			f.word.WriteRune(r)
		}
	}
	if f.a.tty && f.word.Len() > 0 && utf8.RuneCountInString(f.word.String()) > 24 {
		f.flushWord() // no word: let it be seen
	}
}

func (f *flow) end() {
	f.flushWord()
	if f.begun {
		f.newline()
	}
}

func (f *flow) newline() {
	if !f.begun {
		f.start()
	}
	fmt.Fprintln(f.a.out)
	f.column, f.space = 0, 0
}

// start writes what stands before the first line.
func (f *flow) start() {
	lead := f.indent
	if f.first != "" {
		lead = f.first
	}
	fmt.Fprint(f.a.out, f.a.style(dim, lead))
	f.begun, f.column = true, utf8.RuneCountInString(lead)
}

func (f *flow) flushWord() {
	if f.word.Len() == 0 {
		return
	}
	word := f.word.String()
	f.word.Reset()
	n := utf8.RuneCountInString(word)
	if !f.begun {
		f.start()
	}
	indent := utf8.RuneCountInString(f.indent)
	if f.a.tty && f.column > indent && f.column+n+f.space > f.a.width() {
		f.newline()
	}
	if f.column == 0 {
		fmt.Fprint(f.a.out, f.indent)
		f.column = indent
	}
	word, n = strings.Repeat(" ", f.space)+word, n+f.space
	f.space = 0
	fmt.Fprint(f.a.out, f.a.style(f.color, word))
	f.column += n
}
