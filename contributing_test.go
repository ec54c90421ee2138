package tare_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The worked example of CONTRIBUTING.md is laid over the tree and built, and
// its own test is run: so it is true that a codec is one folder and one entry.
func TestContributingExample(t *testing.T) {
	guide, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	tree := copyTree(t)
	lay := func(path, text string) {
		target := filepath.Join(tree, path)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := regexp.MustCompile("(?s)```go\n// (\\S+\\.go)\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
	if len(files) != 2 {
		t.Fatalf("the guide shows %d files, and not a codec and its test", len(files))
	}
	for _, f := range files {
		lay(f[1], f[2])
	}
	list, err := os.ReadFile("catalog/default.go")
	if err != nil {
		t.Fatal(err)
	}
	edited := string(list)
	for _, line := range regexp.MustCompile(`(?m)^\+\s*(.*) // after: (.*)$`).FindAllStringSubmatch(string(guide), -1) {
		before := edited
		edited = strings.Replace(edited, line[2], line[2]+"\n"+line[1], 1)
		if edited == before {
			t.Fatalf("catalog/default.go has no %q", line[2])
		}
	}
	lay("catalog/default.go", edited)

	run := func(args ...string) string {
		t.Helper()
		out, err := goIn(t, tree, args...)
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("test", "./codec/prototext")
	if out := run("run", "./cmd/tare", "stacks"); !strings.Contains(out, "prototext") {
		t.Errorf("tare stacks does not list the example's codec:\n%s", out)
	}
	run("run", "./cmd/tare", "compare", "orders", "--leg", "payment",
		"--stacks", "rest+prototext,grpc+prototext", "--for", "1s", "--blocks", "1", "--out", t.TempDir()+"/run")
}

func goIn(t *testing.T, dir string, args ...string) ([]byte, error) {
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir = dir
	return c.CombinedOutput()
}

// builds are the kinds of files that a build reads: code, and lists within it.
var builds = map[string]bool{".go": true, ".tsv": true}

// copyTree copies what builds to a folder of its own.
func copyTree(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "node_modules" || name == "testdata" || name == "tare-results" || len(name) > 1 && name[0] == '.'):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(tree, path), 0o755)
		case !builds[filepath.Ext(name)] && name != "go.mod" && name != "go.sum":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(tree, path), text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// A decision is known by its number, and pages that name one by it find it.
func TestDecisionsAreNumberedOnce(t *testing.T) {
	all, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range all { // in order
		if want := fmt.Sprintf("%04d-", i+1); !strings.HasPrefix(filepath.Base(path), want) {
			t.Fatalf("%s stands where %s… should: number decisions one after the other", path, want)
		}
	}
}
