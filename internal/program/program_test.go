package program

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// The test binary is also what is started: it does as its first word says.
func TestMain(m *testing.M) {
	if !Asked() {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	how := os.Args[1]
	if how == "fails" {
		fmt.Fprintln(os.Stderr, "tare: error: no store")
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, "order of orders on 127.0.0.2:4711; Ctrl-C ends it")
	if how == "vanishes" {
		os.Exit(0)
	}
	<-ctx.Done()
	fmt.Fprintln(os.Stderr, "ended")
	if how == "ends badly" {
		os.Exit(3)
	}
	os.Exit(0)
}

func start(t *testing.T, how string) *Program {
	t.Helper()
	p, err := Start(t.Context(), how)
	if err != nil {
		t.Fatal(err)
	}
	if p.Addr() != "127.0.0.2:4711" {
		t.Errorf("it is said to listen on %q", p.Addr())
	}
	return p
}

func TestStop(t *testing.T) {
	p := start(t, "serves")
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if said := p.Said(); !strings.HasSuffix(said, "ended\n") {
		t.Errorf("it said %q, and no more", said)
	}
	names(t, p.Stop(), "ended by itself")
}

func TestKill(t *testing.T) {
	p := start(t, "serves")
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	if said := p.Said(); strings.Contains(said, "ended") {
		t.Errorf("killed, it still said %q", said)
	}
	names(t, p.Kill(), "ended by itself")
}

// What went wrong is told with what the program said of it.
func TestFailures(t *testing.T) {
	_, err := Start(t.Context(), "fails")
	names(t, err, "ended before it listened (exit status 1)", "tare: error: no store")

	vanished := start(t, "vanishes")
	<-vanished.Ended()
	names(t, vanished.Kill(), "ended by itself (exit status 0)")

	names(t, start(t, "ends badly").Stop(), "did not stop in good order (exit status 3)")
}

func names(t *testing.T, err error, what ...string) {
	t.Helper()
	for _, w := range what {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("error %v does not say %q", err, w)
		}
	}
}
