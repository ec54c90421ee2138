package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tare-bench/tare/call/schema"
	"github.com/tare-bench/tare/call/wire"
	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/protocol"
)

// decoding is the flags of tare decode.
type decoding struct {
	schema                schemaFlags
	in, encoding          string
	framed, hex, inBase64 bool
}

func (a *app) decodeCommand() *cobra.Command {
	var d decoding
	c := &cobra.Command{
		Use:   "decode [TYPE]",
		Short: "Print protobuf's binary form so that a person can read it",
		Long: `Read a message in protobuf's binary form from standard input and print it: with
the full name of its TYPE as JSON, without as a tree of numbered fields. What
follows a # in the tree is another guess at the same bytes.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return one("the name of a type, or none")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{""}
			}
			return a.decode(c.Context(), d, args[0])
		},
	}
	f := c.Flags()
	f.SortFlags = false
	d.schema.declare(c)
	f.StringVar(&d.in, "in", "", "file to read (default: standard input)")
	f.BoolVar(&d.hex, "hex", false, "the input is hexadecimal digits")
	f.BoolVar(&d.inBase64, "base64", false, "the input is base64")
	f.BoolVar(&d.framed, "grpc", false, "the input is frames of gRPC, gRPC-Web or a stream of Connect")
	f.StringVar(&d.encoding, "encoding", "", "compressor of the input, or with --grpc of its compressed frames")
	return c
}

func (a *app) decode(ctx context.Context, d decoding, name string) error {
	if d.hex && d.inBase64 {
		return usage(errors.New("give either --hex or --base64"))
	}
	decoder := wire.Decoder{Framed: d.framed, Out: a.Out, Aside: a.Out}
	s, err := d.schema.read(ctx)
	if err != nil {
		return err
	}
	if s == nil {
		s = schema.Builtin()
	}
	if name != "" {
		m, err := s.Message(name)
		if err != nil {
			return err
		}
		decoder.Type, decoder.Types, decoder.Aside = dynamicpb.NewMessageType(m), s.Types(), a.Err
	}
	if d.encoding != "" {
		k, err := a.catalog.Compressor(d.encoding)
		if err != nil {
			return usage(err)
		}
		decoder.Expand = func(b []byte) ([]byte, error) { return expand(k, b) }
	}
	input, err := d.read(a.In)
	if err == nil && decoder.Expand != nil && !d.framed {
		input, err = decoder.Expand(input)
	}
	if err != nil && len(input) == 0 {
		return err
	}
	// What came before the first bad digit may tell why the rest is bad.
	return cmp.Or(err, decoder.Decode(input))
}

// read gives the bytes to decode; with an error, those before what is wrong.
func (d decoding) read(in io.Reader) ([]byte, error) {
	if d.in != "" {
		f, err := os.Open(d.in)
		if err != nil {
			return nil, fmt.Errorf("read --in: %w", err)
		}
		defer func() { _ = f.Close() }() // only read
		in = f
	}
	b, err := bounded(in)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read input: %w", err)
	case d.hex:
		b, err = wire.FromHex(b)
	case d.inBase64:
		b, err = wire.FromBase64(b)
	}
	if err != nil {
		return b, fmt.Errorf("read input: %w", err)
	}
	return b, nil
}

func expand(k compress.Compressor, b []byte) ([]byte, error) {
	r := k.NewReader()
	if err := r.Reset(bytes.NewReader(b)); err != nil {
		return nil, err
	}
	return bounded(r)
}

// bounded reads to the end, up to a message's limit.
func bounded(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, protocol.DefaultMaxMessage+1))
	if err == nil && len(b) > protocol.DefaultMaxMessage {
		return nil, fmt.Errorf("more than %d MiB", protocol.DefaultMaxMessage>>20)
	}
	return b, err
}
