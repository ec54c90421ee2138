package cli

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/catalog"
)

var update = flag.Bool("update", false, "write the README's excerpts anew")

// The marks of the README's table of codecs, and the words that print it.
const (
	excerptBegin = "<!-- begin: make excerpt -->\n```\n"
	excerptEnd   = "```\n<!-- end -->"
	weighed      = "docs/results/codecs-statements.jsonl"
)

// The README's table of codecs is what tare prints of the results that are kept.
func TestReadmeShowsWhatIsKept(t *testing.T) {
	root := filepath.Join("..", "..")
	path := filepath.Join(root, "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), excerptBegin)
	said, after, ended := strings.Cut(rest, excerptEnd)
	if !found || !ended {
		t.Fatalf("%s has not the two marks of the excerpt", path)
	}
	words := []string{"codecs", "--from", weighed, "--message", "batch"}
	if shown := "tare " + strings.Join(words, " "); !strings.Contains(before, shown) {
		t.Errorf("README.md does not tell the command of its excerpt: %s", shown)
	}
	words[2] = filepath.Join(root, weighed)
	var out strings.Builder
	none := func(string) string { return "" }
	code := Main(words, catalog.Default(), System{
		In: strings.NewReader(""), Out: &out, Err: io.Discard, Env: none, Now: time.Now, Self: []string{"tare", peerCommand},
		Environ:  func() []string { return nil },
		Terminal: func(io.Writer) (int, bool) { return 0, false },
	})
	if code != exitFine {
		t.Fatalf("tare %v ends with %d", words, code)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+excerptBegin+out.String()+excerptEnd+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if said != out.String() {
		t.Errorf("README.md does not show what is kept in %s; make excerpt writes it anew", weighed)
	}
}
