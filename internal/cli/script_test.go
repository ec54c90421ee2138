package cli

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tare-bench/tare/store/postgres/postgrestest"
)

// The test binary is also the program, and so the processes that it starts:
// those of the catalogue, and contenders that misbehave.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tare": func() {
			s := Process()
			s.Self = []string{"tare", peerCommand}
			os.Exit(Main(os.Args[1:], faultyCatalog(), s))
		},
	})
}

// Each file below testdata/script shows one behaviour of the program.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv(markName, e.WorkDir) // tells the processes of one script from all others
			peer, err := filepath.Abs(filepath.Join("testdata", "payment.py"))
			e.Setenv("PEER", peer)
			stored, errStored := filepath.Abs(filepath.Join("..", "..", "report", "testdata", "results.jsonl"))
			e.Setenv("STORED", stored)
			return errors.Join(err, errStored)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Getuid() == 0, nil
			case "tunnel":
				return tunnels()
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await":    await,
			"answers":  answers,
			"get":      get,
			"faraway":  faraway,
			"exits":    exits,
			"sound":    sound,
			"freeport": freePort,
			"small":    smallDisk,
			"nobody":   nobody,
			"database": database,
		},
	})
}

const markName = "TARE_TEST_SCRIPT"

// patience is how long a script waits for what must happen.
const patience = time.Minute

// await FILE TEXT waits until a file contains a text.
func await(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 2 {
		ts.Fatalf("usage: await FILE TEXT")
	}
	eventually(ts, fmt.Sprintf("%s has %q", args[0], args[1]), func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && strings.Contains(string(text), args[1])
	})
}

// exits CODE COMMAND… runs a command that must end with this exit code.
func exits(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	code := 0
	var ended *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &ended) {
		code = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got := strconv.Itoa(code); got != args[0] {
		ts.Fatalf("it ended with exit code %s, and not %s", got, args[0])
	}
}

// answers PORT waits until somebody listens on a port.
func answers(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 1 {
		ts.Fatalf("usage: answers PORT")
	}
	eventually(ts, "somebody listens on port "+args[0], func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+args[0])
		return err == nil && c.Close() == nil
	})
}

// get URL TEXT asks for a page, whose status or text must contain a text.
func get(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 2 {
		ts.Fatalf("usage: get URL TEXT")
	}
	res, err := http.Get(args[0])
	ts.Check(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	ts.Check(err)
	if text := res.Status + "\n" + string(body); !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %q: %s", args[0], args[1], text)
	}
}

func eventually(ts *testscript.TestScript, what string, holds func() bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-end:
			ts.Fatalf("after %v it is still not so that %s", patience, what)
		}
	}
}

// freeport NAME puts the number of a free port into a variable.
func freePort(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 1 {
		ts.Fatalf("usage: freeport NAME")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv(args[0], port)
}

// database NAME starts a PostgreSQL server, and puts the folder of its socket
// into a variable.
func database(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 1 {
		ts.Fatalf("usage: database NAME")
	}
	s, err := postgrestest.Launch("fsync=off")
	ts.Check(err)
	ts.Defer(func() {
		if err := s.End(); err != nil {
			ts.Logf("%v", err)
		}
	})
	ts.Setenv(args[0], s.Folder())
}

// small FOLDER [SIZE] makes a folder on a disk of 64 KiB, or of that size.
func smallDisk(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: small FOLDER [SIZE]")
	}
	dir, size := ts.MkAbs(args[0]), "64k"
	if len(args) > 1 {
		size = args[1]
	}
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size))
	ts.Defer(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// nobody waits until no process of this script is left.
func nobody(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 0 {
		ts.Fatalf("usage: nobody")
	}
	mark := markName + "=" + ts.Getenv(markName)
	eventually(ts, "no process is left", func() bool {
		environs, err := filepath.Glob("/proc/[0-9]*/environ")
		ts.Check(err)
		for _, path := range environs {
			text, err := os.ReadFile(path) // a process may end meanwhile
			if err == nil && strings.Contains(string(text), mark) {
				return false
			}
		}
		return true
	})
}
