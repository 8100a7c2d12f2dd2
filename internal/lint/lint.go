package lint

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// Violation is one place that breaks a rule.
type Violation struct {
	File string // in the repository, with slashes
	Line int    // 0 where it is about the file as a whole
	Rule Rule
	What string // what is there, such as `uses time.Now`
}

// String gives the violation with why and instead, on three lines.
func (v Violation) String() string {
	at := v.File
	if v.Line > 0 {
		at = fmt.Sprintf("%s:%d", v.File, v.Line)
	}
	return fmt.Sprintf("%s: %s: %s\n    why: %s\n    instead: %s\n", at, v.Rule.Name, v.What, v.Rule.Why, v.Rule.Instead)
}

// Check holds the tree at dir to all rules. The violations come sorted by
// place. An error means that the tree could not be read.
func Check(dir string, documents []Document) ([]Violation, error) {
	t, err := load(dir)
	if err != nil {
		return nil, err
	}
	found := t.broken
	for _, f := range t.files {
		found = append(found, checkImports(f)...)
		found = append(found, checkCalls(f)...)
		found = append(found, checkTests(f)...)
		found = append(found, checkSize(f)...)
	}
	for _, l := range t.lockfiles {
		found = append(found, checkLockfile(l)...)
	}
	for _, d := range documents {
		found = append(found, checkDocument(dir, d)...)
	}
	slices.SortStableFunc(found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule.Name, b.Rule.Name))
	})
	return found, nil
}

// Report prints the violations and, where there are any, how many.
func Report(w io.Writer, found []Violation) {
	for _, v := range found {
		fmt.Fprintln(w, v)
	}
	switch len(found) {
	case 0:
	case 1:
		fmt.Fprintln(w, "1 house rule broken")
	default:
		fmt.Fprintf(w, "%d house rules broken\n", len(found))
	}
}
