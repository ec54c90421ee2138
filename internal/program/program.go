// Package program runs tare as users do: in a process of its own, from the words
// of a command line, until it is stopped or killed. What runs is the executable
// that imports this package, so that it is always made of the same tree; its
// main asks Asked first.
package program

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	marker   = "TARE_PROGRAM"
	endsIn   = 30 * time.Second // for calls in flight, and the store's last commit
	readyIn  = 30 * time.Second // on a machine that does much else
	mostSaid = 64 << 10         // of what a process says, kept for errors
)

// Asked says whether Start started this process, which is to be tare then.
func Asked() bool { return os.Getenv(marker) != "" }

// Program is tare, serving. Its methods are not to be called at the same time.
type Program struct {
	addr  string
	cmd   *exec.Cmd
	ended chan struct{} // closed once it is gone
	how   error         // how it ended; read after ended

	mu   sync.Mutex
	said bytes.Buffer
}

// Start runs tare with these arguments and waits until it says where it
// listens. Whatever happens to this process, it ends too.
func Start(ctx context.Context, args ...string) (*Program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	p := &Program{cmd: exec.Command(self, args...), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), marker+"=1")
	// A group of its own keeps a terminal's Ctrl-C from it.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start tare: %w", err)
	}
	started, listens := make(chan error), make(chan string, 1)
	go func() {
		// The kernel ends it with the thread that started it: the thread waits here.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.listen(out, listens)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start tare: %w", err)
	}
	if err := p.awaitReady(ctx, listens); err != nil {
		return nil, err
	}
	return p, nil
}

// where finds the address in the line that says that it listens.
var where = regexp.MustCompile(`\bon (\S+:\d+)\b`)

// listen keeps what the process says, passes on where it listens, and waits for
// its end.
func (p *Program) listen(out io.Reader, listens chan<- string) {
	defer close(p.ended)
	lines := bufio.NewReader(out)
	for told := false; ; {
		line, err := lines.ReadString('\n')
		p.keep(line)
		if found := where.FindStringSubmatch(line); found != nil && !told {
			told = true
			listens <- found[1]
		}
		if err != nil {
			break
		}
	}
	p.how = p.cmd.Wait()
}

func (p *Program) keep(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.said.WriteString(line); p.said.Len() > 2*mostSaid {
		p.said.Next(p.said.Len() - mostSaid)
	}
}

func (p *Program) awaitReady(ctx context.Context, listens <-chan string) error {
	late := time.NewTimer(readyIn)
	defer late.Stop()
	select {
	case p.addr = <-listens:
		return nil
	case <-p.ended:
		return p.failed("ended before it listened")
	case <-late.C:
		return errors.Join(p.failed(fmt.Sprintf("does not listen after %v", readyIn)), p.Kill())
	case <-ctx.Done():
		return errors.Join(ctx.Err(), p.Kill())
	}
}

func (p *Program) failed(what string) error {
	select {
	case <-p.ended:
		what += fmt.Sprintf(" (%v)", p.cmd.ProcessState)
	default:
	}
	return fmt.Errorf("tare %s %s; it said:\n%s", strings.Join(p.cmd.Args[1:], " "), what, p.Said())
}

// Addr is where it listens, HOST:PORT.
func (p *Program) Addr() string { return p.addr }

// Said is the last of what it said on stderr.
func (p *Program) Said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// Ended is closed once the process is gone, by whatever cause.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// Kill ends it at once, as a crash does. It is an error if it had ended already.
func (p *Program) Kill() error {
	err := p.cmd.Process.Kill()
	<-p.ended
	if state := p.cmd.ProcessState.Sys().(syscall.WaitStatus); err != nil || state.Signal() != syscall.SIGKILL {
		return p.failed("ended by itself")
	}
	return nil
}

// Stop asks it to end, and waits until it has done so in good order.
func (p *Program) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		<-p.ended
		return p.failed("ended by itself")
	}
	late := time.NewTimer(endsIn)
	defer late.Stop()
	select {
	case <-p.ended:
	case <-late.C:
		return errors.Join(p.failed(fmt.Sprintf("does not stop within %v", endsIn)), p.Kill())
	}
	if p.how != nil {
		return p.failed("did not stop in good order")
	}
	return nil
}
