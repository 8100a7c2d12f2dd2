package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal says whether w is one that a person looks at.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// width is how many columns text may take: the terminal's up to 100, else 80.
func (a *app) width() int {
	f, ok := raw(a.out).(*os.File)
	if !ok {
		return 80
	}
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || ws.Col < 40 {
		return 80
	}
	return min(int(ws.Col), 100)
}

// The styles of a terminal. Anywhere else text is plain.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
	violet = "35"
	cyan   = "36"
)

// style paints s on a terminal.
func (a *app) style(code, s string) string {
	out, ok := a.out.(*screen)
	if !ok || !a.tty || code == "" || a.env["NO_COLOR"] != "" || a.env["TERM"] == "dumb" || s == "" {
		return s
	}
	return out.style(code, s)
}
