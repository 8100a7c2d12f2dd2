package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// table prints rows in columns; the first row is the head. The last column is
// cut so that a line fits. paint may colour a cell that is padded already.
func (a *app) table(rows [][]string, paint func(row, col int, s string) string) {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, s := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(s))
		}
	}
	used := 0
	for _, w := range widths[:len(widths)-1] {
		used += w + 2
	}
	last := max(a.width()-used, 20)
	for n, r := range rows {
		var b strings.Builder
		for i, s := range r {
			if i == len(r)-1 {
				s = cut(s, last)
			} else {
				s += strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s)+2)
			}
			switch {
			case n == 0:
				s = a.style(dim, s)
			case paint != nil:
				s = paint(n, i, s)
			}
			b.WriteString(s)
		}
		fmt.Fprintln(a.out, strings.TrimRight(b.String(), " "))
	}
}

// cut shortens a text to one line of at most n characters.
func cut(s string, n int) string {
	s = oneLine(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:max(n-1, 0)]) + "…"
}

// oneLine makes one line of a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// wrap breaks text into lines of at most width characters, at spaces where
// there are some, and indents each of them. Line breaks of the text stay.
func wrap(text string, width int, indent string) string {
	room := max(width-utf8.RuneCountInString(indent), 20)
	var out []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\r\n"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		for utf8.RuneCountInString(line) > room {
			runes := []rune(line)
			at := room
			if i := strings.LastIndexByte(string(runes[:room+1]), ' '); i > 0 {
				at = utf8.RuneCountInString(string(runes[:room+1])[:i])
			}
			if strings.TrimSpace(string(runes[:at])) == "" {
				at = room
			}
			out = append(out, indent+strings.TrimRight(string(runes[:at]), " "))
			line = strings.TrimLeft(string(runes[at:]), " ")
		}
		out = append(out, strings.TrimRight(indent+line, " "))
	}
	return strings.Join(out, "\n")
}

// wrap breaks text for a terminal. Elsewhere lines stay whole, so that they can
// be searched.
func (a *app) wrap(text, indent string) string {
	if !a.tty {
		return wrap(text, 1<<20, indent)
	}
	return wrap(text, a.width(), indent)
}
