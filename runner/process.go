package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tare-bench/tare/peer"
)

const (
	startWithin = 30 * time.Second // for a process to say that it is ready
	answerGrace = 30 * time.Second // beyond what the work asked for can take
	endWithin   = 5 * time.Second  // for a process to end by itself
	letGo       = time.Second      // for what a dead process started to let go of its output
)

// process is one peer in the runner's care. It is asked one thing at a time.
type process struct {
	name  string // for errors: "payment server of rest+json"
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte // what it answers; closed when it ends
	log   *tail
	ready peer.Ready

	ended   chan struct{} // closed once it is gone
	failure error         // how it ended; read after ended
}

// launch starts a process and waits until it is ready. Whatever happens, a
// process that was started is ended: by launch on error, otherwise by end.
func launch(ctx context.Context, name string, h how, s peer.Start) (*process, error) {
	p := &process{
		name: name, cmd: exec.Command(h.words[0], h.words[1:]...),
		lines: make(chan []byte), log: new(tail), ended: make(chan struct{}),
	}
	// A group of its own keeps a terminal's Ctrl-C from it: the runner ends it.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr, p.cmd.WaitDelay = p.log, letGo
	s.Listen = h.listen
	if err := p.start(h.begin); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}

	if err := p.greet(ctx, s); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// start starts the process, and what listens to it and waits for its end.
func (p *process) start(begin starter) (err error) {
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, write, err := os.Pipe()
	if err != nil {
		return err
	}
	p.cmd.Stdout = write
	if err := errors.Join(begin(p.cmd), write.Close()); err != nil {
		return errors.Join(err, out.Close())
	}
	go p.listen(out)
	go p.reap(out)
	return nil
}

// listen passes on what the process says.
func (p *process) listen(out *os.File) {
	defer close(p.lines)
	s := bufio.NewScanner(out)
	s.Buffer(make([]byte, 0, 64<<10), 64<<20)
	for s.Scan() {
		p.lines <- append([]byte(nil), s.Bytes()...)
	}
	_ = out.Close()
}

// reap waits for the process, and ends what it started and left behind. What
// still holds its output then is not waited for.
func (p *process) reap(out *os.File) {
	p.failure = p.cmd.Wait()
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // fails where nothing is left
	_ = out.SetReadDeadline(time.Now().Add(letGo))
	close(p.ended)
}

func (p *process) greet(ctx context.Context, s peer.Start) error {
	s.Format = peer.Format
	if err := p.exchange(ctx, s, &p.ready, startWithin); err != nil {
		return err
	}
	if p.ready.Error != "" {
		return fmt.Errorf("start %s: %s", p.name, p.ready.Error)
	}
	if p.ready.Format != peer.Format {
		return fmt.Errorf("start %s: it speaks format %d of the peer messages; this is %d", p.name, p.ready.Format, peer.Format)
	}
	if s.Role == peer.Serve && p.ready.Addr == "" {
		return fmt.Errorf("start %s: it does not say where it listens", p.name)
	}
	return nil
}

// ask puts one request and gives its answer.
func (p *process) ask(ctx context.Context, q peer.Request, within time.Duration) (peer.Reply, error) {
	var r peer.Reply
	if err := p.exchange(ctx, q, &r, within); err != nil {
		return r, err
	}
	if r.Error != "" {
		return r, fmt.Errorf("%s: %s", p.name, r.Error)
	}
	return r, nil
}

// exchange sends one line and reads one into answer.
func (p *process) exchange(ctx context.Context, question, answer any, within time.Duration) error {
	line, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("ask %s: %w", p.name, err)
	}
	select {
	case said, more := <-p.lines:
		if more { // all later answers would be taken for those before
			return fmt.Errorf("%s spoke unasked: %.200q", p.name, said)
		}
		return p.gone()
	default:
	}
	// A process that no longer reads shows in what it says last, or in silence.
	_, _ = p.in.Write(append(line, '\n'))
	patience := time.NewTimer(within)
	defer patience.Stop()
	select {
	case said, more := <-p.lines:
		if !more {
			return p.gone()
		}
		if err := json.Unmarshal(said, answer); err != nil {
			return fmt.Errorf("%s answered nonsense: %.200q", p.name, said)
		}
		return nil
	case <-patience.C:
		return fmt.Errorf("%s (pid %d) has not answered for %v%s", p.name, p.cmd.Process.Pid, within, p.log.quote())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gone says how a process ended that should not have.
func (p *process) gone() error {
	select {
	case <-p.ended:
	case <-time.After(endWithin): // its output ended and it did not
		return fmt.Errorf("%s (pid %d) fell silent%s", p.name, p.cmd.Process.Pid, p.log.quote())
	}
	how := "exit status 0"
	if p.failure != nil {
		how = p.failure.Error()
	}
	return fmt.Errorf("%s (pid %d) died: %s%s", p.name, p.cmd.Process.Pid, how, p.log.quote())
}

// alive is nil while the process runs.
func (p *process) alive() error {
	select {
	case <-p.ended:
		return p.gone()
	default:
		return nil
	}
}

// end closes the process's input, gives it time to end, then kills it and all
// that it started, and waits until it is gone.
func (p *process) end() {
	_ = p.in.Close() // fails only where the process is gone already
	drained := make(chan struct{})
	go func() {
		for range p.lines { // an answer that nobody waits for any more
		}
		close(drained)
	}()
	select {
	case <-p.ended:
	case <-time.After(endWithin):
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.ended
	}
	<-drained
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailLength = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	if extra := len(t.last) - tailLength; extra > 0 {
		t.last = append(t.last[:0], t.last[extra:]...)
	}
	return len(b), nil
}

// quote gives the tail for the end of an error's text.
func (t *tail) quote() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := strings.TrimSpace(string(t.last))
	if said == "" {
		return ""
	}
	return "; it last said: " + said
}
