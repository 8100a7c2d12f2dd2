package lint

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// tree is what the lint reads of a repository.
type tree struct {
	files     []*file
	lockfiles []lockfile
	broken    []Violation // files that do not parse
}

// file is one Go file.
type file struct {
	path    string // in the repository, with slashes
	pkg     string // its folder; "." is the root package
	fset    *token.FileSet
	ast     *ast.File
	imports map[string]string // name in this file → import path
	lines   int
}

type lockfile struct {
	path string
	text string
}

// ignored are folders that hold nothing of ours, or nothing that is built.
var ignored = []string{".git", "bin", "dist", "node_modules", "testdata", "vendor"}

func load(dir string) (*tree, error) {
	t := &tree{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != dir && slices.Contains(ignored, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		return t.add(name, filepath.ToSlash(rel))
	})
	return t, err
}

func (t *tree) add(name, rel string) error {
	isLock := path.Base(rel) == "package-lock.json"
	if !isLock && path.Ext(rel) != ".go" {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if isLock {
		t.lockfiles = append(t.lockfiles, lockfile{rel, string(text)})
		return nil
	}
	f := &file{path: rel, pkg: path.Dir(rel), fset: token.NewFileSet(), imports: map[string]string{},
		lines: strings.Count(string(text), "\n")}
	f.ast, err = parser.ParseFile(f.fset, rel, text, parser.SkipObjectResolution)
	if err != nil {
		line := 1
		if list, ok := err.(scanner.ErrorList); ok {
			line = list[0].Pos.Line
		}
		t.broken = append(t.broken, Violation{rel, line, Syntax, "does not parse: " + err.Error()})
		return nil
	}
	for _, s := range f.ast.Imports {
		p := importPath(s)
		f.imports[localName(s, p)] = p
	}
	t.files = append(t.files, f)
	return nil
}

func importPath(s *ast.ImportSpec) string {
	p, _ := strconv.Unquote(s.Path.Value) // the parser has checked it
	return p
}

// localName is the name of an import in its file: its own, or the last element
// of the path that is no version.
func localName(s *ast.ImportSpec, p string) string {
	if s.Name != nil {
		return s.Name.Name
	}
	base := path.Base(p)
	if n, ok := strings.CutPrefix(base, "v"); ok && strings.Contains(p, "/") {
		if _, err := strconv.Atoi(n); err == nil {
			return path.Base(path.Dir(p))
		}
	}
	return base
}

// at makes a violation at a node of the file.
func (f *file) at(n ast.Node, r Rule, what string) Violation {
	return Violation{f.path, f.fset.Position(n.Pos()).Line, r, what}
}

func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// inTests says that only tests use the file: it is one, or lies in a package
// that supports them.
func (f *file) inTests() bool {
	return f.isTest() || strings.HasSuffix(path.Base(f.pkg), "test") || slices.Contains(support, f.pkg)
}

// isCommand says that the file belongs to a program: some folder of it is cmd.
func (f *file) isCommand() bool { return slices.Contains(strings.Split(f.pkg, "/"), "cmd") }

// excepted says that a row of the exceptions lets the file break the rule.
func (f *file) excepted(r Rule) bool {
	return slices.ContainsFunc(exceptions, func(e Exception) bool {
		return e.Rule == r.Name && (f.pkg == e.Package || strings.HasPrefix(f.pkg, e.Package+"/"))
	})
}

// pureImports returns what a file of the pure core may import of this module,
// and false for a file that is not of it.
func (f *file) pureImports() ([]string, bool) {
	if f.inTests() {
		return nil, false
	}
	if list, ok := pure[f.pkg]; ok {
		return list, true
	}
	return driverImports, strings.HasPrefix(f.pkg, "internal/agent/")
}
