// Package cli turns the words of a command line into calls, and what comes back
// into output, exit codes and hints. It knows what a person types and nothing
// of how a measurement is made.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tare-bench/tare/catalog"
)

// Exit codes.
const (
	exitFine   = 0
	exitFailed = 1
	exitUsage  = 2
	exitBroken = 3 // a bound that the user set
)

// System is what the program does to the world, as arguments.
type System struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal func(io.Writer) (columns int, ok bool) // the width of a terminal
	Env      func(string) string
	Environ  func() []string // all of it, NAME=VALUE
	Now      func() time.Time
	Self     []string // the words that start this program as a peer
}

// Process gives the process's own System.
func Process() System {
	return System{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Terminal: terminal, Env: os.Getenv, Environ: os.Environ, Now: time.Now,
		Self: []string{own(), peerCommand},
	}
}

// own is the path of the program that runs.
func own() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0] // found by the shell, so the runner can find it too
	}
	return path
}

func terminal(w io.Writer) (int, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	return columns, err == nil
}

// app is one run of the program.
type app struct {
	System
	args    []string // without the program's name
	catalog catalog.Catalog
}

// Main runs one command line and gives the exit code.
func Main(args []string, c catalog.Catalog, s System) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{System: s, args: args, catalog: c}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errBroken): // each has been said
		return exitBroken
	}
	fmt.Fprintf(s.Err, "tare: error: %v\n", err)
	for _, line := range details(err) {
		fmt.Fprintf(s.Err, "tare: detail: %s\n", line)
	}
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(s.Err, "tare: hint: %s\n", hint)
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// details gives what an error has to say beside its sentence, line by line.
func details(err error) []string {
	var detailed interface{ Lines() []string }
	if errors.As(err, &detailed) {
		return detailed.Lines()
	}
	return nil
}

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tare",
		Short: "Weigh what ways of talking between services cost",
		Long: `Tare carries one workload over each way of talking between services (gRPC,
REST, Connect … with Protocol Buffers, JSON …), with the same load on the same
machine, and prints ratios with intervals that can be trusted.`,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("unknown command %q; see tare --help", args[0]))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w; see %s --help", err, c.CommandPath()))
	})
	root.AddCommand(
		a.compareCommand(), a.planCommand(), a.reportCommand(),
		a.serveCommand(), a.callCommand(), a.decodeCommand(),
		a.dataCommand(), a.stacksCommand(), a.codecsCommand(), a.codecBlockCommand(), a.calibrateCommand(), a.peerCommand(),
	)
	return root
}

// one is the argument check of a command that takes one word.
func one(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usage(fmt.Errorf("%s takes %s; see %s --help", c.CommandPath(), what, c.CommandPath()))
		case len(args) > 1:
			return usage(fmt.Errorf("%s takes %s, and there is also %q", c.CommandPath(), what, args[1]))
		}
		return nil
	}
}

// oneOrTwo is one, of a command that may take a second.
func oneOrTwo(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		const most = 2
		if len(args) > most {
			return usage(fmt.Errorf("%s takes %s or two, and there is also %q", c.CommandPath(), what, args[most]))
		}
		return one(what)(c, args[:min(1, len(args))])
	}
}

func none(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Errorf("%s takes no arguments, and there is %q", c.CommandPath(), args[0]))
	}
	return nil
}
