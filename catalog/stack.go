package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/setting"
)

// Stack is one way of talking: a cell of the experiment.
//
// Its name is PROTOCOL+CODEC, then +COMPRESSOR if messages are compressed, then
// @SETTING=VALUE for each setting that is not left at its default.
type Stack struct {
	Name       string
	Protocol   protocol.Protocol
	Codec      codec.Codec
	Compressor compress.Compressor // nil where messages are not compressed
	Settings   setting.Values
}

// Uncompressed is the level of the factor "compressor" of a stack without one.
const Uncompressed = "none"

// Stack finds what a stack's name names.
func (c Catalog) Stack(name string) (Stack, error) {
	s, err := c.parse(name)
	if err != nil {
		return Stack{}, fmt.Errorf("stack %q: %w", name, err)
	}
	return s, nil
}

func (c Catalog) parse(name string) (s Stack, err error) {
	s.Name = name
	axes, given, err := split(name)
	if err != nil {
		return s, err
	}
	s.Protocol, err = find("protocol", axes[0], c.Protocols, func(p protocol.Protocol) string { return p.Spec().Name })
	if err != nil {
		return s, err
	}
	s.Codec, err = c.Codec(axes[1])
	if err != nil {
		return s, err
	}
	if len(axes) == 3 {
		s.Compressor, err = c.Compressor(axes[2])
		if err != nil {
			return s, err
		}
	}
	s.Settings, err = setting.Resolve(s.Protocol.Spec().Settings, given)
	return s, err
}

// split parses the grammar of a stack's name.
func split(name string) (axes []string, given map[string]string, err error) {
	words := strings.Split(name, "@")
	axes = strings.Split(words[0], "+")
	if len(axes) < 2 || len(axes) > 3 || slices.Contains(axes, "") {
		return nil, nil, fmt.Errorf("a stack is spelled PROTOCOL+CODEC[+COMPRESSOR][@SETTING=VALUE]…")
	}
	given = make(map[string]string)
	for _, word := range words[1:] {
		key, value, found := strings.Cut(word, "=")
		if !found || key == "" || value == "" {
			return nil, nil, fmt.Errorf("%q after @ is not SETTING=VALUE", word)
		}
		if _, twice := given[key]; twice {
			return nil, nil, fmt.Errorf("setting %s stands twice", key)
		}
		given[key] = value
	}
	return axes, given, nil
}

// Factors gives the stack's level on every axis: "protocol", "codec",
// "compressor" and each setting of its protocol.
func (s Stack) Factors() map[string]string {
	f := map[string]string{
		"protocol":   s.Protocol.Spec().Name,
		"codec":      s.Codec.Spec().Name,
		"compressor": Uncompressed,
	}
	if s.Compressor != nil {
		f["compressor"] = s.Compressor.Spec().Name
	}
	maps.Copy(f, s.Settings)
	return f
}

// Options gives what a server or client of the stack is told, but for how to
// dial, which belongs to the process.
func (s Stack) Options(inFlight int) protocol.Options {
	return protocol.Options{
		Codec:      s.Codec,
		Compressor: s.Compressor,
		Settings:   s.Settings,
		InFlight:   inFlight,
		MaxMessage: protocol.DefaultMaxMessage,
	}
}
