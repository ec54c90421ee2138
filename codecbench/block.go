package codecbench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/tare-bench/tare/record"
)

// Job is what a process is told that measures one block.
type Job struct {
	Header record.CodecHeader `json:"header"`
	Block  int                `json:"block"`
}

// Measure makes the trials of a block in this process, in order. Each contender
// has a turn before the first round, which enters no result: it says how often a
// step fills a slice.
func (b *Bench) Measure(ctx context.Context, j Job, keep func(record.CodecTrial) error) error {
	h := j.Header
	slice := time.Duration(h.SliceS * float64(time.Second))
	random := rand.New(rand.NewPCG(h.Seed, uint64(j.Block)))
	repeats := make(map[Turn]map[string]int)
	for _, t := range Order(h.Seed, j.Block, 0, len(h.Messages), len(h.Codecs)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		table, err := b.table(t)
		if err != nil {
			return b.at(t, err)
		}
		repeats[t] = make(map[string]int)
		for _, step := range record.Steps {
			if repeats[t][step], err = table.calibrate(step, slice); err != nil {
				return b.at(t, err)
			}
		}
	}
	for round := range h.Rounds {
		for _, t := range Order(h.Seed, j.Block, round, len(h.Messages), len(h.Codecs)) {
			if err := ctx.Err(); err != nil {
				return err
			}
			trial := record.CodecTrial{Block: j.Block, Round: round, Message: t.Message, Codec: t.Codec, Steps: make(map[string]record.Cost)}
			table, err := b.table(t)
			if err != nil {
				return b.at(t, err)
			}
			for _, step := range record.Steps {
				if trial.Steps[step], err = table.measure(step, repeats[t][step], random); err != nil {
					return b.at(t, err)
				}
			}
			if err := keep(trial); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Bench) at(t Turn, err error) error {
	return fmt.Errorf("%s, %s: %w", b.Contenders()[t.Codec].Name, b.samples[t.Message].Name, err)
}

// Fork measures each block of a run in a process of its own, which command starts
// and which answers a Job with the block's trials: see Serve.
func Fork(ctx context.Context, command []string, h record.CodecHeader, keep func(record.CodecTrial) error) error {
	for block := range h.Blocks {
		if err := fork(ctx, command, Job{h, block}, keep); err != nil {
			return fmt.Errorf("block %d: %w", block, err)
		}
	}
	return nil
}

const killIn = 5 * time.Second // after its input has ended

func fork(ctx context.Context, command []string, j Job, keep func(record.CodecTrial) error) error {
	job, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("tell a process: %w", err)
	}
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	// One processor does all the work, the collector's too: what it does beside a
	// step on another would be charged by how idle that is.
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	var said bytes.Buffer
	c.Stderr, c.WaitDelay = &said, killIn
	in, errIn := c.StdinPipe()
	out, errOut := c.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	_, err = in.Write(append(job, '\n'))
	if err == nil {
		err = take(out, keep)
	}
	ended := errors.Join(err, in.Close())
	if err != nil {
		_ = c.Process.Kill() // what it has to say is of no use any more
	}
	if err := c.Wait(); err != nil {
		return errors.Join(ended, fmt.Errorf("its process ended (%w): %s", err, strings.TrimSpace(said.String())))
	}
	return ended
}

func take(out io.Reader, keep func(record.CodecTrial) error) error {
	d := json.NewDecoder(out)
	for {
		var t record.CodecTrial
		switch err := d.Decode(&t); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read a trial: %w", err)
		}
		if err := keep(t); err != nil {
			return err
		}
	}
}

// Serve is the other side of Fork: it reads a Job, has it made up and measured,
// and writes the trials. The end of its input ends it early.
func Serve(ctx context.Context, in io.Reader, out io.Writer, bench func(record.CodecHeader) (*Bench, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := bufio.NewReader(in)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read what to measure: %w", err)
	}
	var j Job
	if err := json.Unmarshal(line, &j); err != nil {
		return fmt.Errorf("read what to measure: %w", err)
	}
	b, err := bench(j.Header)
	if err != nil {
		return err
	}
	go func() { // ends with the input, at the latest when the process does
		_, _ = io.Copy(io.Discard, lines)
		cancel()
	}()
	e := json.NewEncoder(out)
	return b.Measure(ctx, j, func(t record.CodecTrial) error { return e.Encode(t) })
}
