package tare_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

// Each check is shown a small tree that it must refuse, and one that it must
// not: a check that cannot fail keeps nothing.
func TestChecks(t *testing.T) {
	const sleeper = "package x\nimport \"time\"\nfunc f() { time.Sleep(1) }\n"
	long := func(lines int) string { return "func f() {\n" + strings.Repeat("\n", lines-2) + "}\n" }
	for _, c := range []struct {
		about string
		check func([]source) []string
		files map[string]string
		want  []string // what each violation contains, in order
	}{
		{"an import that its rule allows", withRules, map[string]string{"a/a.go": importing("a", "b")}, nil},
		{"an import of another's package", withRules, map[string]string{"a/a.go": "package a\nimport _ \"golang.org/x/net\"\n"}, nil},
		{"an import that no rule allows", withRules, map[string]string{"b/b.go": importing("b", "a")}, []string{"b/b.go:2: b may not import a: b is below"}},
		{"a sibling", withRules, map[string]string{"c/x/x.go": importing("x", "c/y")}, []string{"c/x may not import c/y: siblings"}},
		{"a sibling, of a test", withRules, map[string]string{"c/x/x_test.go": importing("x_test", "c/y", "c/x")}, nil},
		{"folders of its own", withRules, map[string]string{"d/x/x.go": importing("x", "d/x/part"), "d/x/part/x.go": importing("part", "d/x/other")}, nil},
		{"folders of a sibling's", withRules, map[string]string{"d/x/part/x.go": importing("part", "d/y/other"), "d/x/x.go": importing("x", "d/y/part")}, []string{"d/x/part may not import d/y/other: own parts", "d/x may not import d/y/part: own parts"}},
		{"a whole tree", withRules, map[string]string{"c/x/x.go": importing("x", "g/deep/v1")}, nil},
		{"a package without a rule", withRules, map[string]string{"z/z.go": "package z\n"}, []string{"no rule for package z"}},
		{"generated code and other modules", withRules, map[string]string{"gen/z.go": "package z\n", "m/go.mod": "", "m/m.go": "package m\n"}, nil},

		{"a clock in a pure package", withPure, map[string]string{"a/a.go": "package a\nimport \"time\"\nvar t = time.Now()\n"}, []string{"a/a.go:3: a computes: it may not use time.Now"}},
		{"a clock by another name", withPure, map[string]string{"a/a.go": "package a\nimport clock \"time\"\nvar f = clock.Since\n"}, []string{"time.Since"}},
		{"a duration in a pure package", withPure, map[string]string{"a/a.go": "package a\nimport \"time\"\nvar t = time.Second\n"}, nil},
		{"a clock elsewhere", withPure, map[string]string{"b/b.go": "package b\nimport \"time\"\nvar t = time.Now()\n"}, nil},
		{"a clock in a pure package's test", withPure, map[string]string{"a/a_test.go": "package a\nimport \"time\"\nvar t = time.Now()\n"}, nil},
		{"a socket in a pure package", withPure, map[string]string{"a/a.go": "package a\nimport _ \"net/http\"\n"}, []string{"may not import net/http"}},
		{"a process in a pure package", withPure, map[string]string{"a/a.go": "package a\nimport _ \"os/exec\"\n"}, []string{"may not import os/exec"}},

		{"a name at home", withNames, map[string]string{"c/yaml/y.go": "package y\nconst n = \"yaml\"\n", "catalog/c.go": "package c\nconst n = `yaml`\n"}, nil},
		{"a name from home", withNames, map[string]string{"c/yaml/y.go": "package y\n", "b/b.go": "package b\nconst n = \"yaml\"\n"}, []string{"b/b.go:2: the name \"yaml\""}},
		{"a name at a sibling's", withNames, map[string]string{"c/yaml/y.go": "package y\n", "c/x/b.go": "package b\nconst n = `yaml`\n"}, []string{"the name \"yaml\""}},
		{"a name as part of more", withNames, map[string]string{"c/yaml/y.go": "package y\n", "b/b.go": "package b\nimport _ \"yaml\"\nconst n = \"yaml+x\"\ntype t struct { a int `yaml` }\n"}, nil},
		{"a name in a test", withNames, map[string]string{"c/yaml/y.go": "package y\n", "b/b_test.go": "package b\nconst n = \"yaml\"\n"}, nil},
		{"a contract's name", withNames, map[string]string{"c/ctest/y.go": "package y\n", "b/b.go": "package b\nconst n = \"ctest\"\n"}, nil},
		{"a name under exception", exceptName("b"), map[string]string{"c/yaml/y.go": "package y\n", "b/b.go": "package b\nconst n = \"yaml\"\n"}, nil},
		{"an exception without need", exceptName("b"), map[string]string{"c/yaml/y.go": "package y\n", "b/b.go": "package b\n"}, []string{"b needs no exception for \"yaml\""}},

		{"one package comment", checkComments, map[string]string{"a/a.go": "// Package a.\npackage a\n", "a/b.go": "package a\n", "a/a_test.go": "// Test.\npackage a\n"}, nil},
		{"no package comment", checkComments, map[string]string{"a/a.go": "package a\n"}, []string{"package a has 0 package comments"}},
		{"two package comments", checkComments, map[string]string{"a/a.go": "// A.\npackage a\n", "a/b.go": "// B.\npackage a\n"}, []string{"package a has 2 package comments"}},
		{"a long package comment", checkComments, map[string]string{"a/a.go": strings.Repeat("// A.\n", 11) + "package a\n"}, []string{"package comment of 11 lines"}},

		{"an init", checkInit, map[string]string{"a/a.go": "package a\nfunc init() {}\n"}, []string{"a/a.go:2: init"}},
		{"a method called init", checkInit, map[string]string{"a/a.go": "package a\ntype t int\nfunc (t) init() {}\n"}, nil},

		{"a sleep in a test", checkSleep, map[string]string{"a/a_test.go": sleeper}, []string{"a/a_test.go:3: a test that sleeps"}},
		{"a sleep in a contract", checkSleep, map[string]string{"a/atest/a.go": sleeper}, []string{"a test that sleeps"}},
		{"a sleep elsewhere", checkSleep, map[string]string{"a/a.go": sleeper}, nil},
		{"a sleep in virtual time", checkSleep, map[string]string{"a/a_test.go": strings.Replace(sleeper, "import", "import _ \"testing/synctest\"\nimport", 1)}, nil},

		{"a function of 60 lines", withSizes, map[string]string{"a/a.go": "package a\n" + long(60)}, nil},
		{"a function of 61 lines", withSizes, map[string]string{"a/a.go": "package a\n" + long(61)}, []string{"a/a.go:2: f has 61 lines"}},
		{"a file of 400 lines", withSizes, map[string]string{"a/a.go": "package a\n" + strings.Repeat("\n", 399)}, nil},
		{"a file of 401 lines", withSizes, map[string]string{"a/a.go": "package a\n" + strings.Repeat("\n", 400)}, []string{"file has 401 lines"}},
		{"a long function under exception", exceptSize, map[string]string{"a/a.go": "package a\n" + long(61)}, nil},
		{"an exception for a short function", exceptSize, map[string]string{"a/a.go": "package a\n" + long(6)}, []string{"a/a.go needs no exception for \"f\""}},
	} {
		t.Run(c.about, func(t *testing.T) { expect(t, c.check, c.files, c.want) })
	}
}

func expect(t *testing.T, check func([]source) []string, files map[string]string, want []string) {
	t.Helper()
	fsys := fstest.MapFS{}
	for path, text := range files {
		fsys[path] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := parseTree(fsys)
	if err != nil {
		t.Fatal(err)
	}
	got := check(tree)
	for i, violation := range got {
		if i >= len(want) || !strings.Contains(violation, want[i]) {
			t.Errorf("violation %q is not among those wanted: %q", violation, want)
		}
	}
	if len(got) < len(want) {
		t.Errorf("got %q; want %q", got, want)
	}
}

func importing(name string, dirs ...string) string {
	text := "package " + name + "\n"
	for _, dir := range dirs {
		text += "import _ \"" + module + "/" + dir + "\"\n"
	}
	return text
}

func withRules(tree []source) []string {
	return checkImports(tree, []importRule{
		{"a", []string{"b"}, nil, "a stands on b"},
		{"b", nil, nil, "b is below"},
		{"c/*", []string{"c", "g/..."}, []string{"c/*"}, "siblings"},
		{"d/*", []string{"./*"}, nil, "own parts"},
		{"d/*/*", []string{"../*"}, nil, "own parts"},
	})
}

func withPure(tree []source) []string  { return checkPurity(tree, []string{"a"}) }
func withNames(tree []source) []string { return checkNames(tree, []string{"c"}, nil) }
func withSizes(tree []source) []string { return checkSizes(tree, nil) }

func exceptName(where string) func([]source) []string {
	return func(tree []source) []string {
		return checkNames(tree, []string{"c"}, []exception{{where, "yaml", "a reason"}})
	}
}

func exceptSize(tree []source) []string {
	return checkSizes(tree, []exception{{"a/a.go", "f", "a reason"}})
}
