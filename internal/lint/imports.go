package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// checkImports holds a file's imports to the layers of the house.
func checkImports(f *file) []Violation {
	var found []Violation
	for _, s := range f.ast.Imports {
		p := importPath(s)
		add := func(r Rule) {
			if !f.excepted(r) {
				found = append(found, f.at(s, r, fmt.Sprintf("imports %q", p)))
			}
		}
		if f.pkg == "." && !f.isTest() && (!isStandard(p) || slices.Contains(impurePackages, p)) {
			add(Root)
		}
		if allowed, ok := f.pureImports(); ok {
			switch {
			case !isStandard(p):
				if !allowedHere(p, allowed) {
					add(Layer)
				}
			case path.Base(f.path) == evidenceFile && slices.Contains(evidencePackages, p):
			case slices.Contains(impurePackages, p):
				add(Pure)
			}
		}
		if p == "os/exec" && !f.inTests() {
			add(Process)
		}
		if p == "flag" && !f.inTests() && !f.isCommand() {
			add(Environment)
		}
		if slices.Contains(sqlPackages, p) && !f.isTest() {
			add(SQL)
		}
	}
	return found
}

// isStandard tells the standard library by its first path element, which has no
// dot, and our own module by its name.
func isStandard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return first != Module && !strings.Contains(first, ".")
}

func allowedHere(p string, allowed []string) bool {
	rel, ours := strings.CutPrefix(p, Module+"/")
	return p == Module || ours && slices.Contains(allowed, rel)
}
