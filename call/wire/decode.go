package wire

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jhump/protoreflect/v2/protoresolve"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Decoder writes binary messages for a person.
type Decoder struct {
	Type   protoreflect.MessageType // nil: there is no schema
	Types  protoresolve.SerializationResolver
	Framed bool
	Expand func(compressed []byte) ([]byte, error) // nil: how is not known
	// Out gets the messages, and Aside what is beside them.
	Out, Aside io.Writer
}

// ErrCompressed is wrapped by the error of a frame that there is no Expand for.
var ErrCompressed = errors.New("it is compressed")

// Decode writes what b holds. Where it makes no sense, what is before that is
// written, and the error says where.
func (d Decoder) Decode(b []byte) error {
	if !d.Framed {
		return d.message(b, 0)
	}
	all, cut := frames(b)
	for i, f := range all {
		err := d.frame(f)
		if last := i == len(all)-1; last && cut != nil {
			break // what is wrong in a frame that is cut off comes of that
		}
		if err != nil {
			return fmt.Errorf("frame %d, at byte %d: %w", i+1, f.at, err)
		}
	}
	if cut != nil {
		return cut
	}
	return nil
}

func (d Decoder) frame(f frame) (err error) {
	content, start := f.content, f.start
	if f.flags&flagCompressed != 0 {
		if d.Expand == nil {
			return ErrCompressed
		}
		if content, err = d.Expand(content); err != nil {
			return fmt.Errorf("expand: %w", err)
		}
		start = 0
	}
	switch {
	case f.flags&flagTrailer != 0:
		for line := range strings.Lines(strings.ReplaceAll(string(content), "\r\n", "\n")) {
			fmt.Fprintf(d.Aside, "# trailer %s\n", strings.TrimSpace(line))
		}
		return nil
	case f.flags&flagEnd != 0:
		fmt.Fprintf(d.Aside, "# end of stream %s\n", bytes.TrimSpace(content))
		return nil
	}
	fmt.Fprintf(d.Aside, "# message of %d bytes, at byte %d\n", len(content), f.start)
	return d.message(content, start)
}

// message writes one message, whose first byte is byte start of the input.
func (d Decoder) message(b []byte, start int) error {
	var err error
	if d.Type == nil {
		var fields []Field
		fields, err = Parse(b)
		if failed := Print(d.Out, fields); failed != nil {
			return failed
		}
	} else {
		m, wrong := unmarshal(b, d.Type, d.Types)
		err = cmp.Or(wrong, Show(d.Out, d.Aside, m, d.Types))
	}
	var at *Error
	if errors.As(err, &at) {
		return &Error{at.At + start, at.Why}
	}
	return err
}

// FromHex reads hexadecimal digits, among spaces and colons.
func FromHex(text []byte) ([]byte, error) {
	digits := withoutSpace(text, ":")
	b := make([]byte, hex.DecodedLen(len(digits)))
	n, err := hex.Decode(b, digits)
	if err != nil {
		return b[:n], &Error{n, "no two hexadecimal digits"}
	}
	return b, nil
}

// FromBase64 reads base64 of either alphabet, padded or not, also of several
// pieces one after the other, as gRPC-Web's text form has it.
func FromBase64(text []byte) (b []byte, err error) {
	const quantum = 4
	digits := bytes.NewBuffer(withoutSpace(text, ""))
	for digits.Len() > 0 {
		d := strings.NewReplacer("-", "+", "_", "/").Replace(string(digits.Next(quantum)))
		piece, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(d, "="))
		if err != nil {
			return b, &Error{len(b), fmt.Sprintf("%q is no base64", d)}
		}
		b = append(b, piece...)
	}
	return b, nil
}

func withoutSpace(text []byte, also string) []byte {
	return bytes.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n"+also, r) {
			return -1
		}
		return r
	}, text)
}
