package tare_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	maxFileLines    = 400
	maxFuncLines    = 60
	maxCommentLines = 10
)

// source is one Go file of the tree.
type source struct {
	path, dir string // from the root: "codec/json/json.go", "codec/json"
	lines     int
	file      *ast.File
	set       *token.FileSet
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// supportsTests says whether only tests run the file.
func (s source) supportsTests() bool {
	return s.isTest() || strings.Contains(s.dir+"/", "test/")
}

func (s source) at(n ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.set.Position(n.Pos()).Line, fmt.Sprintf(format, args...))
}

// parseTree parses the Go files of tare's own module that people write.
func parseTree(fsys fs.FS) (all []source, err error) {
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if _, err := fs.Stat(fsys, path.Join(p, "go.mod")); err == nil && p != "." {
				return fs.SkipDir // another module
			}
			if slices.Contains([]string{"gen", "testdata", "docs", "node_modules"}, d.Name()) || len(p) > 1 && d.Name()[0] == '.' {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(p) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, p, text, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, source{p, path.Dir(p), bytes.Count(text, []byte("\n")), file, set})
		return err
	})
	return all, err
}

// matches says whether a folder matches one of the patterns.
func matches(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if root, ok := strings.CutSuffix(pattern, "/..."); ok {
			return dir == root || strings.HasPrefix(dir, root+"/")
		}
		ok, err := path.Match(pattern, dir)
		if err != nil {
			panic(err)
		}
		return ok
	})
}

// from gives patterns as they are seen from the root, where some count from dir.
func from(dir string, patterns []string) (all []string) {
	for _, pattern := range patterns {
		if pattern[0] == '.' {
			pattern = path.Join(dir, pattern)
		}
		all = append(all, pattern)
	}
	return all
}

func checkImports(tree []source, rules []importRule) (violations []string) {
	for _, s := range tree {
		i := slices.IndexFunc(rules, func(r importRule) bool { return matches(s.dir, []string{r.pattern}) })
		if i < 0 {
			violations = append(violations, s.at(s.file.Name, "no rule for package %s: say in importRules what it may import, and why", s.dir))
			continue
		}
		rule := rules[i]
		for _, spec := range s.file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				panic(err)
			}
			dir, ours := strings.CutPrefix(imported, module+"/")
			allowed := matches(dir, from(s.dir, rule.allowed)) || s.isTest() && (dir == s.dir || matches(dir, from(s.dir, rule.tests)))
			if ours && !allowed {
				violations = append(violations, s.at(spec, "%s may not import %s: %s", s.dir, dir, rule.reason))
			}
		}
	}
	return violations
}

// clock are the functions of package time that depend on when they are called.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

func checkPurity(tree []source, pure []string) (violations []string) {
	for _, s := range tree {
		if s.isTest() || !matches(s.dir, pure) {
			continue
		}
		for _, spec := range s.file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if matches(imported, []string{"net/...", "os/exec", "syscall", "golang.org/x/sys/..."}) {
				violations = append(violations, s.at(spec, "%s computes: it may not import %s", s.dir, imported))
			}
		}
		for _, used := range uses(s, "time", clock) {
			violations = append(violations, s.at(used, "%s computes: it may not use time.%s; take the time as an argument", s.dir, used.Sel.Name))
		}
	}
	return violations
}

// uses finds where a file refers to names of an imported package, under
// whatever name the file imports it.
func uses(s source, imported string, names []string) (found []*ast.SelectorExpr) {
	local := ""
	for _, spec := range s.file.Imports {
		if spec.Path.Value != strconv.Quote(imported) {
			continue
		}
		local = path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
	}
	if local == "" {
		return nil
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if ok && slices.Contains(names, sel.Sel.Name) {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == local {
				found = append(found, sel)
			}
		}
		return true
	})
	return found
}

func imports(s source, imported string) bool {
	return slices.ContainsFunc(s.file.Imports, func(spec *ast.ImportSpec) bool {
		return spec.Path.Value == strconv.Quote(imported)
	})
}

// checkNames finds string literals that equal the name of a folder below one
// of roots, outside folders of that name, catalog and tests.
func checkNames(tree []source, roots []string, exceptions []exception) (violations []string) {
	names := map[string]bool{}
	for _, s := range tree {
		if parent, name := path.Split(s.dir); matches(path.Clean(parent), roots) && !strings.HasSuffix(name, "test") {
			names[name] = true
		}
	}
	used := map[exception]bool{}
	for _, s := range tree {
		if s.isTest() || s.dir == "catalog" {
			continue
		}
		for _, lit := range literals(s.file) {
			text, err := strconv.Unquote(lit.Value)
			if err != nil || !names[text] || slices.Contains(strings.Split(s.dir, "/"), text) {
				continue
			}
			i := slices.IndexFunc(exceptions, func(e exception) bool { return e.where == s.dir && e.what == text })
			if i >= 0 {
				used[exceptions[i]] = true
				continue
			}
			violations = append(violations, s.at(lit, "the name %q is written outside its folder and catalog: take it from Spec()", text))
		}
	}
	return append(violations, stale(exceptions, used)...)
}

// literals gives a file's string literals but for import paths and tags.
func literals(file *ast.File) (found []*ast.BasicLit) {
	tags := map[*ast.BasicLit]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field: // comes before its tag
			tags[n.Tag] = true
		case *ast.BasicLit:
			if n.Kind == token.STRING && !tags[n] {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

func stale(exceptions []exception, used map[exception]bool) (violations []string) {
	for _, e := range exceptions {
		if !used[e] {
			violations = append(violations, fmt.Sprintf("%s needs no exception for %q any more: remove it", e.where, e.what))
		}
	}
	return violations
}

func checkComments(tree []source) (violations []string) {
	comments, packages := map[string][]*ast.CommentGroup{}, map[string]source{}
	for _, s := range tree {
		if s.isTest() {
			continue
		}
		packages[s.dir] = s
		if doc := s.file.Doc; doc != nil {
			comments[s.dir] = append(comments[s.dir], doc)
			if n := strings.Count(strings.TrimSuffix(doc.Text(), "\n"), "\n") + 1; n > maxCommentLines {
				violations = append(violations, s.at(doc, "package comment of %d lines; %d must do", n, maxCommentLines))
			}
		}
	}
	for dir, s := range packages {
		if n := len(comments[dir]); n != 1 {
			violations = append(violations, s.at(s.file.Name, "package %s has %d package comments; it needs one", dir, n))
		}
	}
	return violations
}

func checkInit(tree []source) (violations []string) {
	for _, s := range tree {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				violations = append(violations, s.at(f, "init acts at a distance: let the caller do it"))
			}
		}
	}
	return violations
}

// checkSleep allows time.Sleep where time is virtual.
func checkSleep(tree []source) (violations []string) {
	for _, s := range tree {
		if !s.supportsTests() || imports(s, "testing/synctest") {
			continue
		}
		for _, used := range uses(s, "time", []string{"Sleep"}) {
			violations = append(violations, s.at(used, "a test that sleeps is slow or flaky: wait for readiness, or use testing/synctest"))
		}
	}
	return violations
}

func checkSizes(tree []source, exceptions []exception) (violations []string) {
	used := map[exception]bool{}
	report := func(s source, n ast.Node, what string, lines, limit int) {
		if lines <= limit {
			return
		}
		i := slices.IndexFunc(exceptions, func(e exception) bool { return e.where == s.path && e.what == what })
		if i >= 0 {
			used[exceptions[i]] = true
			return
		}
		violations = append(violations, s.at(n, "%s has %d lines; %d must do, or a reason in sizeExceptions", what, lines, limit))
	}
	for _, s := range tree {
		report(s, s.file.Name, "file", s.lines, maxFileLines)
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				lines := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1
				report(s, f, f.Name.Name, lines, maxFuncLines)
			}
		}
	}
	return append(violations, stale(exceptions, used)...)
}
