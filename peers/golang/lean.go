package golang

import (
	"errors"

	"github.com/tare-bench/tare/catalog"
)

func newLean(catalog.Catalog, *driver) (carrier, error) {
	return nil, errors.New("not yet")
}
