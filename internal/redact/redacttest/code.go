package redacttest

import (
	"io/fs"
	"strings"
	"unicode/utf8"

	"baton/internal/redact"
)

// Alarm is a place that was taken for a secret.
type Alarm struct {
	Path, Kind string
	Line       int    // from 1, of the first line that changed
	Text       string // that line, redacted
}

// Count is what a body of code holds.
type Count struct {
	Files, Bytes, Lines, Secrets int
	Alarms                       []Alarm
}

// Rate is how many lines of a thousand raise an alarm.
func (c Count) Rate() float64 { return 1000 * float64(c.Secrets) / float64(max(1, c.Lines)) }

// Code reads the files of fsys that want accepts and counts what redact.Text
// finds in them. Files that are no UTF-8 are left out.
func Code(fsys fs.FS, want func(path string) bool) (Count, error) {
	var c Count
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && skipped[d.Name()] {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if !d.Type().IsRegular() || !want(path) {
			return nil
		}
		b, err := fs.ReadFile(fsys, path)
		if err != nil || !utf8.Valid(b) {
			return err
		}
		c.add(path, string(b))
		return nil
	})
	return c, err
}

// skipped are directories that hold nobody's code or somebody else's.
var skipped = map[string]bool{".git": true, "node_modules": true, "bin": true}

func (c *Count) add(path, text string) {
	c.Files++
	c.Bytes += len(text)
	c.Lines += strings.Count(text, "\n")
	got, n := redact.Text(text)
	c.Secrets += n
	if n == 0 {
		return
	}
	was, at := strings.Split(text, "\n"), 0
	for _, line := range strings.Split(got, "\n") {
		if _, kind, ok := strings.Cut(line, "[redacted:"); ok && (at == len(was) || was[at] != line) {
			kind, _, _ = strings.Cut(kind, "]")
			c.Alarms = append(c.Alarms, Alarm{Path: path, Kind: kind, Line: at + 1, Text: line})
			at++
			continue
		}
		for i := at; i < len(was); i++ { // further down where a block of lines has become one
			if was[i] == line {
				at = i + 1
				break
			}
		}
	}
}
