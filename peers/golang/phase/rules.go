// Package phase says which part of a call's cost each sample of a Go process's
// CPU profile belongs to, by the functions on its stack. It knows implementations
// by their packages and interfaces by their methods, and none by name; it is
// pure. The Go peer uses it.
package phase

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/lean"
	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/service/admission"
	"github.com/tare-bench/tare/service/hop"
	"github.com/tare-bench/tare/service/validate"
)

// Rules charge samples to phases. The zero value knows no package.
type Rules struct {
	codecs []string // packages with implementations of codec.Binding
	others []owner
}

// owner is a package, with all below it, whose functions do one phase's work.
type owner struct {
	path  string
	phase record.Phase
}

// std is what the catalogue calls the module of the standard library.
const std = "std"

// NewRules gives the rules for a process made of what c holds. A workload's own
// functions are charged to work: record.PhaseHandler on a server,
// record.PhaseCheck on a driver.
func NewRules(c catalog.Catalog, work record.Phase) Rules {
	var r Rules
	own := func(phase record.Phase, paths ...string) {
		for _, p := range paths {
			if p != std {
				r.others = append(r.others, owner{p, phase})
			}
		}
	}
	for _, k := range c.Codecs {
		r.codecs = append(r.codecs, packageOf(k))
	}
	for _, k := range c.Compressors {
		own(record.PhaseCompress, packageOf(k), k.Spec().Module)
	}
	own(record.PhaseCompress, "compress") // the standard library's
	for _, s := range c.Stores {
		own(record.PhaseStore, packageOf(s))
	}
	for _, w := range c.Workloads {
		own(work, packageOf(w))
	}
	own(work, packageOf(admission.Gate{}), packageOf(hop.Hop{}), packageOf(validate.Rules{}))
	if work == record.PhaseCheck { // a driver's loop stands around its calls, and sees their replies
		own(work, packageOf(load.Extent{}), path.Dir(packageOf(r)))
	}
	for _, p := range c.Protocols {
		own(record.PhaseLibrary, packageOf(p), p.Spec().Module)
	}
	own(record.PhaseLibrary, packageOf(lean.Call{}), "net")
	return r
}

// packageOf is the path of the package that declares v's type.
func packageOf(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}

// Of gives the phase of a stack of functions, as a profile names them, the leaf
// first.
//
//  1. What collects garbage is collection, whatever asked for it.
//  2. What a codec's method calls is the codec's work, be it the generated code
//     of a message or a workload's own mapping.
//  3. What validation calls is validation, a workload's mapping included.
//  4. Otherwise the innermost function of a package that has a phase decides,
//     and in the carrying packages the leaf: a system call, or not.
//  5. What is left and has the scheduler in it is scheduling; the rest is other.
func (r Rules) Of(stack []string) record.Phase {
	if slices.ContainsFunc(stack, collects) {
		return record.PhaseCollect
	}
	for _, name := range stack {
		if phase, ok := r.codec(name); ok {
			return phase
		}
	}
	if slices.ContainsFunc(stack, validates) {
		return record.PhaseValidate
	}
	for _, name := range stack {
		switch phase, ok := r.owner(name); {
		case ok && phase == record.PhaseLibrary && calls(stack[0]):
			return record.PhaseKernel
		case ok:
			return phase
		}
	}
	if slices.ContainsFunc(stack, schedules) {
		return record.PhaseSchedule
	}
	return record.PhaseOther
}

// codec gives the phase of a codec's method.
func (r Rules) codec(name string) (record.Phase, bool) {
	pkg, rest := split(name)
	if !slices.ContainsFunc(r.codecs, func(p string) bool { return within(pkg, p) }) {
		return "", false
	}
	method := strings.Split(rest, ".") // "binding.Append", "(*binding).Append", "binding.Append.func1"
	if len(method) < 2 {
		return "", false
	}
	for _, c := range []struct {
		methods []string
		phase   record.Phase
	}{
		{codec.MapMethods, record.PhaseMap},
		{codec.EncodeMethods, record.PhaseEncode},
		{codec.DecodeMethods, record.PhaseDecode},
	} {
		if slices.Contains(c.methods, method[1]) {
			return c.phase, true
		}
	}
	return "", false
}

// validates says of a function that it holds a message to the schema's rules.
func validates(name string) bool {
	pkg, rest := split(name)
	if pkg != packageOf(validate.Rules{}) {
		return false
	}
	method := strings.Split(rest, ".") // "(*Rules).Check"
	return len(method) > 1 && slices.Contains(validate.CheckMethods, method[1])
}

func (r Rules) owner(name string) (record.Phase, bool) {
	pkg, _ := split(name)
	for _, o := range r.others {
		if within(pkg, o.path) {
			return o.phase, true
		}
	}
	return "", false
}

func within(pkg, root string) bool { return pkg == root || strings.HasPrefix(pkg, root+"/") }

// split parts a function's name into its package's path and the rest. Dots in a
// path's last element are escaped by the compiler, and type arguments may hold
// slashes.
func split(name string) (pkg, rest string) {
	generic := strings.IndexByte(name, '[')
	if generic < 0 {
		generic = len(name)
	}
	last := strings.LastIndexByte(name[:generic], '/') + 1
	dot := strings.IndexByte(name[last:], '.')
	if dot < 0 {
		return name, ""
	}
	return name[:last+dot], name[last+dot+1:]
}
