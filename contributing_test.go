package tare_test

import (
	"encoding/json"
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
	overlay := map[string]string{}
	lay := func(path, text string) {
		target, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		source := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[target] = source
	}
	for _, block := range regexp.MustCompile("(?s)```go\n// (\\S+\\.go)\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		lay(block[1], block[2])
	}
	if len(overlay) != 2 {
		t.Fatalf("the guide shows %d files, and not a codec and its test", len(overlay))
	}
	list, err := os.ReadFile("catalog/default.go")
	if err != nil {
		t.Fatal(err)
	}
	edited := string(list)
	for _, line := range regexp.MustCompile("(?m)^\\+\\s*(.*) // after: (.*)$").FindAllStringSubmatch(string(guide), -1) {
		before := edited
		edited = strings.Replace(edited, line[2], line[2]+"\n"+line[1], 1)
		if edited == before {
			t.Fatalf("catalog/default.go has no %q", line[2])
		}
	}
	lay("catalog/default.go", edited)

	file := filepath.Join(t.TempDir(), "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("test", "-overlay", file, "./codec/prototext")
	if out := run("run", "-overlay", file, "./cmd/tare", "stacks"); !strings.Contains(out, "prototext") {
		t.Errorf("tare stacks does not list the example's codec:\n%s", out)
	}
	run("run", "-overlay", file, "./cmd/tare", "compare", "orders", "--leg", "payment",
		"--stacks", "rest+prototext,grpc+prototext", "--for", "1s", "--blocks", "1", "--out", t.TempDir()+"/run")
}
