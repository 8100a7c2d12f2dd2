package lint

import (
	"go/ast"
	"go/token"
	"slices"
)

// checkTests finds tests that are skipped without a reason. (Tests that sleep
// are found by checkCalls.)
func checkTests(f *file) []Violation {
	if !f.inTests() {
		return nil
	}
	names := f.testingParams()
	var found []Violation
	ast.Inspect(f.ast, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); !ok || !slices.Contains(names, id.Name) {
			return true
		}
		switch sel.Sel.Name {
		case "SkipNow":
			found = append(found, f.at(call, Skip, "skips without a reason"))
		case "Skip", "Skipf":
			if len(call.Args) == 0 || isEmptyString(call.Args[0]) {
				found = append(found, f.at(call, Skip, "skips without a reason"))
			}
		}
		return true
	})
	return found
}

// testingParams are the names that parameters of testing's types have in the file.
func (f *file) testingParams() []string {
	var names []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		t := field.Type
		if star, ok := t.(*ast.StarExpr); ok {
			t = star.X
		}
		sel, ok := t.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if use, _ := f.use(sel); slices.Contains([]string{"testing.T", "testing.B", "testing.F", "testing.TB"}, use) {
			for _, id := range field.Names {
				names = append(names, id.Name)
			}
		}
		return true
	})
	return names
}

func isEmptyString(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING && len(lit.Value) == 2
}
