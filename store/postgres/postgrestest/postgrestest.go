// Package postgrestest gives tests a PostgreSQL server: one that an environment
// variable names, or one of their own below a temporary folder, on a socket
// there and nowhere else, which ends with the test binary.
package postgrestest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Named is the environment variable that may name a server for tests: an
// address of a database in which they may make and remove schemas.
const Named = "TARE_TEST_POSTGRES"

// ErrNoServer says that there are no binaries to start a server with.
var ErrNoServer = errors.New("PostgreSQL is not installed: run `make servers` as root, or name a server's address in " + Named)

var shared struct {
	sync.Mutex
	server *Server
}

// Main runs a test binary's tests, and then stops the server that Address
// started, if it did.
func Main(m *testing.M) int {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		if err := shared.server.End(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return max(code, 1)
		}
	}
	return code
}

// Address is of a server for all tests of a binary that calls Main. It does not
// wait for disks, and so outlives a killed process, but no loss of power.
func Address(t testing.TB) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if address := os.Getenv(Named); address != "" {
		return address
	}
	s, err := Launch("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	shared.server = s
	// What the tests start uses the same.
	if err := os.Setenv(Named, s.Address()); err != nil {
		t.Fatal(err)
	}
	return s.Address()
}

// New starts a server of the test's own, with settings as "fsync=off", which
// ends with the test.
func New(t testing.TB, settings ...string) *Server {
	t.Helper()
	s, err := Launch(settings...)
	if errors.Is(err, ErrNoServer) && os.Getenv(Named) != "" {
		t.Skipf("this takes a server that can be stopped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.End(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Server is a server that the test binary started.
type Server struct {
	binaries string
	dir      string
	settings []string
	as       *syscall.SysProcAttr
	postgres *postmaster // nil while stopped
}

// Address is the store address of the server's own database.
func (s *Server) Address() string { return "postgres://postgres@/postgres?host=" + s.Folder() }

// Folder is where the server's socket is.
func (s *Server) Folder() string { return s.dir }

// Launch makes a cluster and serves it, with settings as "fsync=off", until End.
func Launch(settings ...string) (*Server, error) {
	binaries, err := findBinaries()
	if err != nil {
		return nil, err
	}
	s := &Server{binaries: binaries, settings: settings}
	if s.dir, err = os.MkdirTemp("", "tare-postgres-"); err != nil {
		return nil, err
	}
	if err := errors.Join(s.own(), s.initialize(), s.Start()); err != nil {
		return nil, errors.Join(fmt.Errorf("start PostgreSQL of %s: %w", binaries, err), os.RemoveAll(s.dir))
	}
	return s, nil
}

// findBinaries gives the folder of the newest PostgreSQL.
func findBinaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real // initdb looks for its siblings there
		}
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian's
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", ErrNoServer
	}
	version := func(path string) float64 {
		v, _ := strconv.ParseFloat(strings.Split(path, "/")[4], 64)
		return v
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return int(version(a) - version(b)) })), nil
}

// own gives the folder to an ordinary user where root runs the tests: as root
// PostgreSQL refuses to run.
func (s *Server) own() error {
	s.as = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() != 0 {
		return nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		if who, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	if err != nil {
		return err
	}
	s.as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(s.dir, int(uid), int(gid))
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.binaries, name), args...)
	// A zone of half hours shows whoever takes its time for UTC.
	c.Dir, c.Env, c.SysProcAttr = s.dir, []string{"LC_ALL=C", "TZ=America/St_Johns"}, s.as
	return c
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) initialize() error {
	said, err := s.command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, said)
	}
	return nil
}

// Start serves the cluster again, and waits until it answers.
func (s *Server) Start() error {
	args := []string{"-D", s.data(), "-k", s.dir, "-c", "listen_addresses="}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	p, err := serve(s.command("postgres", args...))
	s.postgres = p
	return err
}

// Stop ends the server in good order: those connected are told.
func (s *Server) Stop() error { return s.signal(syscall.SIGINT) }

// Crash ends the server as if it had failed: it recovers when it starts again.
func (s *Server) Crash() error { return s.signal(syscall.SIGQUIT) }

func (s *Server) signal(how syscall.Signal) error {
	if s.postgres == nil {
		return nil
	}
	p := s.postgres
	s.postgres = nil
	return p.end(how)
}

// End stops the server and removes all that it kept.
func (s *Server) End() error { return errors.Join(s.Stop(), os.RemoveAll(s.dir)) }

// postmaster is the server's first process.
type postmaster struct {
	cmd   *exec.Cmd
	ready chan struct{}
	ended chan error
	log   []string // read once ended
}

const (
	readyLine   = "database system is ready to accept connections"
	readyWithin = time.Minute
)

func serve(c *exec.Cmd) (*postmaster, error) {
	out, err := c.StderrPipe()
	if err != nil {
		return nil, err
	}
	p := &postmaster{cmd: c, ready: make(chan struct{}), ended: make(chan error, 1)}
	started := make(chan error)
	go func() {
		// The kernel ends the server with the thread that started it, so that
		// none is left where the test binary is killed: the thread waits here.
		runtime.LockOSThread()
		err := c.Start()
		started <- err
		if err == nil {
			p.listen(out)
			p.ended <- c.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	late := time.NewTimer(readyWithin)
	defer late.Stop()
	select {
	case <-p.ready:
		return p, nil
	case err := <-p.ended:
		return nil, fmt.Errorf("it ended: %w\n%s", err, strings.Join(p.log, "\n"))
	case <-late.C:
		return nil, errors.Join(fmt.Errorf("it was not ready within %v", readyWithin), p.end(syscall.SIGQUIT))
	}
}

// listen reads the log until the server ends.
func (p *postmaster) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		p.log = append(p.log, lines.Text())
		if strings.Contains(lines.Text(), readyLine) {
			close(p.ready)
		}
	}
}

func (p *postmaster) end(how syscall.Signal) error {
	if err := p.cmd.Process.Signal(how); err != nil {
		return fmt.Errorf("stop PostgreSQL: %w", err)
	}
	var exit *exec.ExitError
	if err := <-p.ended; err != nil && (how == syscall.SIGINT || !errors.As(err, &exit)) {
		return fmt.Errorf("stop PostgreSQL: %w\n%s", err, strings.Join(p.log, "\n"))
	}
	return nil
}
