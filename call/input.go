package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/jhump/protoreflect/v2/protoresolve"
)

// Input is a text of JSON values, one after the other, each of them a message.
type Input struct {
	Name   string // as errors name it
	Reader io.Reader

	begin  sync.Once
	values chan value
	lines  []int64 // offsets of the ends of lines
	read   int64
}

// value is one JSON value, and where it begins: both from 1.
type value struct {
	raw          json.RawMessage
	line, column int
	err          error
}

// InputError is of a text that is not what it should be.
type InputError struct {
	Name         string
	Line, Column int
	Why          string
}

func (e *InputError) Error() string {
	return fmt.Sprintf("%s, line %d, column %d: %s", e.Name, e.Line, e.Column, e.Why)
}

// next gives the next value, or io.EOF after the last. The end of ctx ends the
// wait, and all further reading but for a Read that is under way: one of a
// terminal ends with the process.
func (in *Input) next(ctx context.Context) (value, error) {
	in.begin.Do(func() {
		in.values = make(chan value)
		go in.pump(ctx)
	})
	select {
	case v := <-in.values:
		return v, v.err
	case <-ctx.Done():
		return value{}, context.Cause(ctx)
	}
}

func (in *Input) pump(ctx context.Context) {
	for decoder := json.NewDecoder(in.counted()); ; {
		var v value
		if err := decoder.Decode(&v.raw); err != nil {
			v.err = in.explain(err)
		}
		v.line, v.column = in.position(decoder.InputOffset() - int64(len(v.raw)))
		select {
		case in.values <- v:
		case <-ctx.Done():
			return
		}
	}
}

// counted notes where lines end in what is read.
func (in *Input) counted() io.Reader { return io.TeeReader(in.Reader, (*lineCounter)(in)) }

type lineCounter Input

func (c *lineCounter) Write(b []byte) (int, error) {
	for i, letter := range b {
		if letter == '\n' {
			c.lines = append(c.lines, c.read+int64(i))
		}
	}
	c.read += int64(len(b))
	return len(b), nil
}

// position gives the line and column of an offset.
func (in *Input) position(offset int64) (line, column int) {
	n, _ := slices.BinarySearch(in.lines, offset)
	if n == 0 {
		return 1, int(offset) + 1
	}
	return n + 1, int(offset - in.lines[n-1])
}

func (in *Input) explain(err error) error {
	var syntax *json.SyntaxError
	at := in.read
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.As(err, &syntax):
		at = max(syntax.Offset-1, 0)
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("read %s: %w", in.Name, err)
	}
	line, column := in.position(at)
	return &InputError{in.Name, line, column, err.Error()}
}

// parse reads a value into m.
func (in *Input) parse(v value, m proto.Message, types protoresolve.TypeResolver) error {
	options := protojson.UnmarshalOptions{Resolver: types}
	err := options.Unmarshal(v.raw, m)
	if err == nil {
		return nil
	}
	e := &InputError{in.Name, v.line, v.column, strings.TrimLeft(strings.TrimPrefix(err.Error(), "proto:"), protoSpace)}
	if at := protoPosition.FindStringSubmatch(e.Why); at != nil {
		line, _ := strconv.Atoi(at[2])
		column, _ := strconv.Atoi(at[3])
		if line == 1 {
			column += v.column - 1
		}
		e.Line, e.Column, e.Why = v.line+line-1, column, at[1]+at[4]
		if at[1] != "" {
			e.Why = strings.TrimSpace(at[1]) + ": " + at[4]
		}
	}
	return e
}

// protojson names positions within what it is given, and writes its spaces in
// one of two ways so that nobody relies on them.
const protoSpace = " \u00a0"

var protoPosition = regexp.MustCompile(`^(.*)\(line (\d+):(\d+)\):[ \x{a0}]?(.*)$`)
