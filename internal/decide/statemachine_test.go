package decide

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTablesAreWhole: every state that a table names can be reached, and every
// state constant is in its table.
func TestTablesAreWhole(t *testing.T) {
	constants := stateConstants(t)
	types := map[string]string{"thread": "ThreadState", "provider turn": "TurnStatus", "provider thread": "ProviderThreadStatus"}
	for _, table := range Tables() {
		typ := types[table.Name]
		if typ == "" {
			typ = strings.ToUpper(table.Name[:1]) + table.Name[1:] + "Status"
		}
		want := constants[typ]
		if len(want) == 0 {
			t.Errorf("%s: no constants of type %s", table.Name, typ)
		}
		for from, all := range table.Next {
			for _, s := range append([]string{from}, all...) {
				if s != "" && !slices.Contains(table.States, s) {
					t.Errorf("%s: %q can't be reached", table.Name, s)
				}
			}
		}
		slices.Sort(want)
		got := slices.Sorted(slices.Values(table.States))
		if !slices.Equal(got, want) {
			t.Errorf("%s: the table has %v, the constants are %v", table.Name, got, want)
		}
		delete(constants, typ)
	}
	for typ := range constants {
		t.Errorf("the states of %s stand in no table of the page", typ)
	}
}

// stateConstants reads the constants of states.go by type.
func stateConstants(t *testing.T) map[string][]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../states.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		typ, named := spec.Type.(*ast.Ident)
		lit, text := spec.Values[0].(*ast.BasicLit)
		if named && text {
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			found[typ.Name] = append(found[typ.Name], s)
		}
		return true
	})
	return found
}

func TestStateMachinePage(t *testing.T) {
	page := StateMachine()
	for range 20 { // maps give another order each time
		if StateMachine() != page {
			t.Fatal("the page differs from one rendering to the next")
		}
	}
	for _, want := range []string{"## provider thread", "| *(made)* | queued |", "| queued | starting · cancelled |", "| completed ∎ | rolled_back |",
		"    [*] --> offered", "    written --> uncertain", "    dropped --> [*]"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
