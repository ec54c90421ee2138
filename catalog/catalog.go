// Package catalog is the one list of protocols, codecs, compressors, workloads
// and stores, and the only package that imports their implementations. Every
// other package is given a Catalog, and finds in it what users name.
package catalog

import (
	"fmt"
	"strings"

	"github.com/tare-bench/tare/call"
	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// Catalog is a set of implementations. Default gives tare's own; a program that
// embeds tare may append to the lists.
type Catalog struct {
	Protocols   []protocol.Protocol
	Codecs      []codec.Codec
	Compressors []compress.Compressor
	Workloads   []workload.Workload
	Stores      []store.Kind
	// Served are the stacks that a service answers where it is run for use, all
	// on one port. The first of them takes what names no protocol.
	Served []string
	// Dialects are how a person's calls speak the protocols, the first that
	// fits a URL by default.
	Dialects []call.Dialect
	// Baseline is the stack that others are compared with by default.
	Baseline string
	// KeptIn is the address of the store that services use by default where
	// they are compared, and ServedIn where they run for use; %s in it is what
	// they are called.
	KeptIn, ServedIn string
}

// Workload finds a workload by name.
func (c Catalog) Workload(name string) (workload.Workload, error) {
	return find("workload", name, c.Workloads, func(w workload.Workload) string { return w.Spec().Name })
}

// Dialect finds how a person's calls speak a protocol.
func (c Catalog) Dialect(protocol string) (call.Dialect, error) {
	return find("protocol of calls", protocol, c.Dialects, func(d call.Dialect) string { return d.Protocol() })
}

// Compressor finds a compressor by name.
func (c Catalog) Compressor(name string) (compress.Compressor, error) {
	return find("compressor", name, c.Compressors, func(k compress.Compressor) string { return k.Spec().Name })
}

// Codec finds a codec by name.
func (c Catalog) Codec(name string) (codec.Codec, error) {
	return find("codec", name, c.Codecs, func(k codec.Codec) string { return k.Spec().Name })
}

// Store finds the kind of store that an address names: all of it, or what
// stands before its first colon.
func (c Catalog) Store(address string) (store.Kind, error) {
	scheme, _, _ := strings.Cut(address, ":")
	return find("store", scheme, c.Stores, func(s store.Kind) string { return s.Spec().Name })
}

// find looks name up in list; its error names all that there are.
func find[T any](what, name string, list []T, nameOf func(T) string) (T, error) {
	var known []string
	for _, entry := range list {
		if nameOf(entry) == name {
			return entry, nil
		}
		known = append(known, nameOf(entry))
	}
	var none T
	return none, fmt.Errorf("unknown %s %q; there is %s", what, name, strings.Join(known, ", "))
}
