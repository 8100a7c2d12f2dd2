package lint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func checkSize(f *file) []Violation {
	if f.isTest() || f.lines <= MaxLines {
		return nil
	}
	return []Violation{{f.path, 0, FileSize, fmt.Sprintf("has %d lines", f.lines)}}
}

func checkLockfile(l lockfile) []Violation {
	var found []Violation
	n := 0
	for line := range strings.Lines(l.text) {
		n++
		if strings.HasPrefix(strings.TrimSpace(line), `"resolved": "http`) {
			found = append(found, Violation{l.path, n, Lockfile, "names the registry that it was made with"})
		}
	}
	return found
}

func checkDocument(dir string, d Document) []Violation {
	got, err := os.ReadFile(filepath.Join(dir, d.Path))
	switch {
	case err != nil:
		return []Violation{{d.Path, 0, Generated, "can't be read: " + err.Error()}}
	case !bytes.Equal(got, []byte(d.Render())):
		return []Violation{{d.Path, firstDifference(string(got), d.Render()), Generated, "differs from what the code gives"}}
	}
	return nil
}

// firstDifference is the number of the first line in which the two differ.
func firstDifference(a, b string) int {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	n := 0
	for n < len(as) && n < len(bs) && as[n] == bs[n] {
		n++
	}
	return n + 1
}

// Generate writes all documents into the tree at dir.
func Generate(dir string, documents []Document) error {
	for _, d := range documents {
		name := filepath.Join(dir, d.Path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(d.Render()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
