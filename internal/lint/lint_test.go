package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRepository holds this repository to its rules.
func TestRepository(t *testing.T) {
	found, err := Check("../..", Documents)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

// TestRules runs the lint over testdata/house, a small house whose files name
// in comments what is wrong with each line: `// want pure; layer`.
func TestRules(t *testing.T) {
	const dir = "testdata/house"
	found, err := Check(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range found {
		got = append(got, fmt.Sprintf("%s:%d %s", v.File, v.Line, v.Rule.Name))
	}
	want := append(wanted(t, dir), "package-lock.json:6 lockfile")
	slices.Sort(want)
	slices.Sort(got)
	for _, w := range want {
		if i := slices.Index(got, w); i >= 0 {
			got = slices.Delete(got, i, i+1)
		} else {
			t.Errorf("not found: %s", w)
		}
	}
	for _, g := range got {
		t.Errorf("found, and not wanted: %s", g)
	}
}

// TestRulesAreTried says that no rule about Go files is without a line in
// testdata that breaks it.
func TestRulesAreTried(t *testing.T) {
	want := strings.Join(wanted(t, "testdata/house"), "\n") + "\n"
	for _, r := range []Rule{Root, Layer, Pure, Process, Environment, SQL, Sleep, Skip} {
		if !strings.Contains(want, " "+r.Name+"\n") {
			t.Errorf("no line breaks the rule %q", r.Name)
		}
	}
}

func wanted(t *testing.T, dir string) []string {
	t.Helper()
	var want []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if _, rules, ok := strings.Cut(strings.TrimSpace(line), "// want "); ok {
				for r := range strings.SplitSeq(rules, "; ") {
					want = append(want, fmt.Sprintf("%s:%d %s", filepath.ToSlash(rel), n, r))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func TestViolationExplainsItself(t *testing.T) {
	v := Violation{"internal/decide/run.go", 12, Pure, "uses time.Now"}
	for _, want := range []string{"internal/decide/run.go:12: pure: uses time.Now\n", "why: " + Pure.Why, "instead: " + Pure.Instead} {
		if !strings.Contains(v.String(), want) {
			t.Errorf("%q lacks %q", v, want)
		}
	}
	var b strings.Builder
	Report(&b, []Violation{v, v})
	if !strings.HasSuffix(b.String(), "\n2 house rules broken\n") {
		t.Errorf("the report ends with %q", b.String())
	}
}

func TestFileSize(t *testing.T) {
	dir := t.TempDir()
	text := "package x\n" + strings.Repeat("// …\n", MaxLines)
	for _, name := range []string{"long.go", "long_test.go"} {
		write(t, filepath.Join(dir, "internal", "x", name), text)
	}
	write(t, filepath.Join(dir, "internal", "x", "fits.go"), text[:len(text)-len("// …\n")])
	found, err := Check(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].File != "internal/x/long.go" || found[0].Rule.Name != FileSize.Name {
		t.Errorf("found %v", found)
	}
}

func TestDocuments(t *testing.T) {
	dir := t.TempDir()
	text := "one\ntwo\n"
	docs := []Document{{Path: "docs/states.md", Render: func() string { return text }}}
	check := func(want ...string) {
		t.Helper()
		found, err := Check(dir, docs)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range found {
			got = append(got, fmt.Sprintf("%s:%d %s", v.File, v.Line, v.Rule.Name))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check("docs/states.md:0 generated") // is missing
	if err := Generate(dir, docs); err != nil {
		t.Fatal(err)
	}
	check()
	text = "one\n2\n"
	check("docs/states.md:2 generated")
}

func TestExceptionsHaveReasons(t *testing.T) {
	for _, e := range exceptions {
		if e.Rule == "" || e.Package == "" || e.Reason == "" {
			t.Errorf("incomplete: %+v", e)
		}
	}
}

func TestSyntax(t *testing.T) {
	dir := t.TempDir()
	const broken = "package x\n\nfunc broken( {\n"
	for _, folder := range []string{"internal/x", "vendor/x", "agents/node_modules/x", "internal/x/testdata"} {
		write(t, filepath.Join(dir, folder, "broken.go"), broken)
	}
	found, err := Check(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].File != "internal/x/broken.go" || found[0].Line != 3 || found[0].Rule.Name != Syntax.Name {
		t.Errorf("found %v", found)
	}
}

func TestUnreadableTree(t *testing.T) {
	if _, err := Check(filepath.Join(t.TempDir(), "absent"), nil); err == nil {
		t.Error("a tree that isn't there passed")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
