// Command crash kills services while clients order, again and again, and then
// holds what the services kept against what the clients were told: nothing that
// was acknowledged is lost, and nothing is paid twice.
//
//	go run ./service/crash --kills 50 --store sqlite
//	go run ./service/crash --import 100000 --kills 20 --store postgres
//
// With --import it has statements imported instead, each of which must be there
// once at the end. It exits with 1 if anything is wrong, and tells what.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/internal/cli"
	"github.com/tare-bench/tare/internal/program"
)

func main() {
	if program.Asked() {
		os.Exit(cli.Main(os.Args[1:], catalog.Default(), cli.Process()))
	}
	p := plan{log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }}
	flag.IntVar(&p.kills, "kills", 50, "how often a service is killed")
	flag.IntVar(&p.every, "every", 40, "acknowledged orders from kill to kill, on average")
	flag.IntVar(&p.clients, "clients", 16, "clients that order at once")
	flag.Uint64Var(&p.seed, "seed", 1, "of the orders, and of the moments of the kills")
	flag.StringVar(&p.store, "store", "sqlite", "kind of store, or an address beside which each service has its own")
	statements := flag.Int("import", 0, "statements to import, instead of orders; 0: orders")
	batch := flag.Int("batch", 500, "statements in a message")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *statements > 0 {
		end(imports{p, *statements, *batch}.run(ctx, catalog.Default()))
	}
	end(p.run(ctx, catalog.Default()))
}

// end prints what a run came to, and exits.
func end[Outcome interface {
	fmt.Stringer
	sound() bool
}](o Outcome, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "crash: error: %v\n", err)
		os.Exit(1)
	}
	fmt.Print(o)
	if !o.sound() {
		os.Exit(1)
	}
	os.Exit(0)
}
