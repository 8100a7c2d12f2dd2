package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// table prints rows in columns; the first row is the head. The last column is
// cut so that a line fits; where hardly anything would be left of it, each row
// becomes a paragraph instead. paint may colour a cell that is padded already.
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
	last := a.width() - used
	switch {
	case !a.tty:
		last = max(last, 20)
	case last < min(widths[len(widths)-1], 16):
		a.paragraphs(rows, paint)
		return
	}
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

// paragraphs prints a table's rows below each other, each cell with its head.
func (a *app) paragraphs(rows [][]string, paint func(row, col int, s string) string) {
	for n, r := range rows[1:] {
		fmt.Fprintln(a.out, a.style(bold, r[0]))
		var parts []part
		for i, s := range r[1:] {
			p := part{text: strings.ToLower(rows[0][i+1]) + " " + s}
			if paint != nil {
				p.paint = func(text string) string {
					head := text[:len(text)-len(s)]
					return a.style(dim, head) + paint(n+1, i+1, s)
				}
			}
			parts = append(parts, p)
		}
		a.fields("  ", parts...)
	}
}

// part is a piece of a line that stays in one piece.
type part struct {
	text  string
	color string
	paint func(string) string // instead of color
}

// fields prints parts side by side; on a terminal as many to a line as fit, with
// the further lines indented. What does not fit into a line by itself is wrapped.
func (a *app) fields(indent string, parts ...part) {
	column, line := 0, ""
	flush := func() {
		if line != "" {
			fmt.Fprintln(a.out, line)
		}
		column, line = 0, ""
		if indent == "" {
			indent = "  "
		}
	}
	for _, p := range parts {
		if p.text == "" {
			continue
		}
		n := utf8.RuneCountInString(p.text)
		switch {
		case a.tty && column > 0 && column+2+n > a.width():
			flush()
		case column > 0:
			line, column = line+"  ", column+2
		}
		if column == 0 {
			line, column = indent, utf8.RuneCountInString(indent)
		}
		text := p.text
		if a.tty && column+n > a.width() && strings.Contains(text, " ") {
			text = hang(a.wrap(text, indent+"  "))
		}
		if p.paint != nil && text == p.text {
			text = p.paint(text)
		} else {
			text = a.style(p.color, text)
		}
		line, column = line+text, column+n
	}
	flush()
}

// hang takes the indent off the first line, which something else stands before.
func hang(lines string) string { return strings.TrimLeft(lines, " ") }

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
