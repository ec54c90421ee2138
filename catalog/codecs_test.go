package catalog_test

import (
	"testing"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/codec/codectest"
)

// Every codec carries every message of the workloads that it has a form for.
func TestEveryCodecCarriesEveryWorkload(t *testing.T) {
	c := catalog.Default()
	for _, w := range c.Workloads {
		for _, leg := range w.Spec().Legs {
			for _, tier := range leg.Tiers {
				for _, k := range c.Codecs {
					t.Run(w.Spec().Name+"/"+leg.Name+"/"+k.Spec().Name, func(t *testing.T) {
						codectest.Carries(t, k, tier.Service)
					})
				}
			}
		}
	}
}
