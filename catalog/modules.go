package catalog

import "slices"

// Modules lists the Go modules of what is under test: of every entry, sorted,
// each once. The standard library is "std".
func (c Catalog) Modules() []string {
	var all []string
	for _, p := range c.Protocols {
		all = append(all, p.Spec().Module)
	}
	for _, k := range c.Codecs {
		all = append(all, k.Spec().Module)
	}
	for _, k := range c.Compressors {
		all = append(all, k.Spec().Module)
	}
	for _, s := range c.Stores {
		all = append(all, s.Spec().Module)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
