package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tare-bench/tare/internal/environment"
	"github.com/tare-bench/tare/record"
)

// What --pin takes, the default first.
const (
	pinAuto = "auto"
	pinOn   = "on"
	pinOff  = "off"
)

// enoughCores is from how many on driver and servers are kept apart unasked: with
// fewer, each would want more than it gets.
const enoughCores = 4

// pinned says which processors driver and servers run on.
func pinned(asked string) (record.Pinned, error) {
	if !slices.Contains([]string{pinAuto, pinOn, pinOff}, asked) {
		return record.Pinned{}, usage(fmt.Errorf("--pin %s: takes %s, %s or %s", asked, pinAuto, pinOn, pinOff))
	}
	if asked == pinOff {
		return record.Pinned{}, nil
	}
	cores, err := environment.Cores()
	switch {
	case asked == pinOn && err != nil:
		return record.Pinned{}, fmt.Errorf("--pin %s: %w", asked, err)
	case asked == pinOn && len(cores) < 2:
		return record.Pinned{}, usage(errors.New("--pin on: takes two cores, and there is one"))
	case asked == pinAuto && len(cores) < enoughCores:
		return record.Pinned{}, nil
	}
	return apart(cores), nil
}

// apart gives the driver the first half of the cores, and all servers the rest.
func apart(cores [][]int) record.Pinned {
	half := len(cores) / 2
	return record.Pinned{Driver: slices.Concat(cores[:half]...), Servers: slices.Concat(cores[half:]...)}
}
