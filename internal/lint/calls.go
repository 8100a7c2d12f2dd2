package lint

import (
	"go/ast"
	"path"
	"slices"
)

// checkCalls looks at every use of a function or variable of an imported
// package: a call and a function that is passed on count alike.
func checkCalls(f *file) []Violation {
	_, isPure := f.pureImports()
	var found []Violation
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		use, ok := f.use(sel)
		if !ok {
			return true
		}
		add := func(r Rule) {
			if !f.excepted(r) {
				found = append(found, f.at(sel, r, "uses "+use))
			}
		}
		if (isPure || f.pkg == "." && !f.isTest()) && slices.Contains(clockCalls, use) {
			add(Pure)
		}
		if use == "time.Sleep" && f.inTests() {
			add(Sleep)
		}
		if f.inTests() {
			return true
		}
		if slices.Contains(processCalls, use) {
			add(Process)
		}
		if slices.Contains(environmentCalls, use) && !f.isCommand() {
			add(Environment)
		}
		return true
	})
	return found
}

// use gives "time.Now" for a selector on an imported package, whatever the
// import is called in this file.
func (f *file) use(sel *ast.SelectorExpr) (string, bool) {
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	p, ok := f.imports[id.Name]
	if !ok {
		return "", false
	}
	return path.Base(p) + "." + sel.Sel.Name, true
}
