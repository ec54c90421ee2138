// Command tare weighs what ways of talking between services cost: it carries
// one workload over each, with the same load, and prints ratios that can be
// trusted. "tare help" lists its commands.
package main

import (
	"os"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], catalog.Default(), cli.Process()))
}
