package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tare-bench/tare/internal/environment"
	"github.com/tare-bench/tare/peers/golang"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/service"
	"github.com/tare-bench/tare/service/admission"
	"github.com/tare-bench/tare/service/observe"
	"github.com/tare-bench/tare/service/port"
)

// serving is the flags of tare serve.
type serving struct {
	config    service.Config
	params    []string
	leg       string
	tier      string
	stack     string
	nextStack string
	nextAddr  string
	inFlight  int
	workers   int
	logLevel  string
	logFormat string
}

// Flags that mean something only with one stack, and only with all.
const stackFlag = "stack"

var (
	withStack    = []string{"leg", "tier"}
	withoutStack = []string{
		"service", "tls-cert", "tls-key", "tls-client-ca", "max-message", "compress",
		"max-connections", "max-streams", "grace", "cors-origin", "mixed-connections", "log-level", "log-format",
	}
)

// nextInFlight is how many calls to a next service a process has at a time that
// serves for use.
const nextInFlight = 256

func (a *app) serveCommand() *cobra.Command {
	var s serving
	c := &cobra.Command{
		Use:   "serve WORKLOAD",
		Short: "Run a workload's services for use, every protocol on one port, until it is interrupted",
		Long: `Run a workload's services for use: all of them, on one port, which answers every
protocol in the way that is its own. With --stack, run one service over one stack,
as comparisons do.

Each flag can also be given as a variable of the environment: --tls-cert as
TARE_SERVE_TLS_CERT. A flag comes before its variable; what may be repeated is
separated by commas there.`,
		Args: one("the name of a workload"),
		RunE: func(c *cobra.Command, args []string) error {
			const prefix = "TARE_SERVE_"
			if err := fromEnvironment(c.Flags(), prefix, a.Env); err != nil {
				return usage(err)
			}
			for _, name := range strays(c.Flags(), prefix, a.Environ()) {
				fmt.Fprintf(a.Err, "tare: warning: %s is the variable of no flag; see tare serve --help\n", name)
			}
			if err := s.modes(c.Flags()); err != nil {
				return usage(err)
			}
			golang.KeepTo(s.workers)
			if s.stack != "" {
				return a.serveStack(c.Context(), s, args[0])
			}
			return a.serveAll(c.Context(), s, args[0])
		},
	}
	s.declare(c.Flags(), a)
	return c
}

func (s *serving) declare(f *pflag.FlagSet, a *app) {
	f.SortFlags = false
	c := &s.config
	c.Listen, c.MaxMessage, c.Conns, c.Grace = "127.0.0.1:8080", service.DefaultMaxMessage, 10_000, 10*time.Second
	f.Func("listen", fmt.Sprintf("`address` to listen on (default %s)", c.Listen), func(v string) error {
		c.Listen = v
		_, _, err := net.SplitHostPort(v)
		return err
	})
	f.StringVar(&c.Service, "service", "", "the only service to run (default: all of the workload)")
	f.Func("next", "`address` of the service that another calls (default: the one in this process)", func(v string) error {
		s.nextAddr = v
		_, _, err := net.SplitHostPort(v)
		return err
	})
	f.StringVar(&s.nextStack, "next-stack", a.catalog.Baseline, "stack to call it over")
	f.Func("in-flight", fmt.Sprintf("`calls` to the next service at once (default %d, with --stack %d)", nextInFlight, plan.DefaultInFlight), atLeast(1, &s.inFlight))
	f.StringVar(&c.Store, "store", "", fmt.Sprintf("what the services keep their records in (default %s, with --stack %s)",
		fmt.Sprintf(a.catalog.ServedIn, "WORKLOAD[-SERVICE]"), a.catalog.KeptIn))
	f.Func("admit", fmt.Sprintf("`calls` worked for at once, and as many that wait; more are refused (default %d)", plan.DefaultAdmit), atLeast(1, &c.Admit))
	f.Func("workers", "`processors` that the process uses at once (default: all that there are)", atLeast(1, &s.workers))
	f.StringArrayVar(&s.params, "param", nil, "parameter of the workload, NAME=VALUE; may be repeated")
	f.StringVar(&c.Files.Cert, "tls-cert", "", "certificate of the server, a file in PEM (default: no TLS)")
	f.StringVar(&c.Files.Key, "tls-key", "", "its key, a file in PEM")
	f.StringVar(&c.Files.ClientCA, "tls-client-ca", "", "certificates of who may sign those of callers, a file in PEM (default: callers need none)")
	f.Func("max-message", fmt.Sprintf("longest message taken, in `bytes` (default %d)", c.MaxMessage), atLeast(1, &c.MaxMessage))
	f.StringVar(&c.Compressor, "compress", "", "compressor that messages may come with, and go with where callers take it (default: none)")
	f.Func("max-connections", fmt.Sprintf("`connections` open at a time; 0: any number (default %d)", c.Conns), atLeast(0, &c.Conns))
	f.Func("max-streams", fmt.Sprintf("`calls` that stream open at once; more are refused (default %d)", admission.Default.Streams), atLeast(1, &c.Streams))
	f.Func("grace", fmt.Sprintf("`time` that calls have to finish at the end (default %v)", c.Grace), func(v string) (err error) {
		if c.Grace, err = time.ParseDuration(v); err == nil && c.Grace < 0 {
			err = errors.New("takes 0s or more")
		}
		return err
	})
	f.Func("cors-origin", "`origin` of web pages whose scripts may call, SCHEME://HOST[:PORT], or * for any; may be repeated", func(v string) error {
		c.Origins = append(c.Origins, v)
		return checkOrigin(v)
	})
	f.StringVar(&s.logLevel, "log-level", "info", "least that is logged: debug, info, warn or error")
	f.StringVar(&s.logFormat, "log-format", observe.LogText, observe.LogText+" or "+observe.LogJSON)
	f.BoolVar(&c.Mixed, "mixed-connections", false, "one connection of HTTP/2 may carry gRPC and others, as some proxies have it; gRPC then costs several times as much")
	f.StringVar(&s.stack, stackFlag, "", "run one service over this stack alone")
	f.StringVar(&s.leg, "leg", "", "with --stack: leg of the workload (default: its first)")
	f.StringVar(&s.tier, "tier", "", "with --stack: service to run (default: the last of the leg)")
}

// atLeast reads a whole number.
func atLeast(least int, to *int) func(string) error {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least {
			return fmt.Errorf("takes a whole number from %d on", least)
		}
		*to = n
		return nil
	}
}

func checkOrigin(v string) error {
	u, err := url.Parse(v)
	if v != "*" && (err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "") {
		return errors.New("an origin is SCHEME://HOST[:PORT]")
	}
	return nil
}

// modes refuses flags that say nothing in the mode that was chosen.
func (s *serving) modes(given *pflag.FlagSet) error {
	without, how := withStack, "goes with --"+stackFlag
	if s.stack != "" {
		without, how = withoutStack, "goes without --"+stackFlag
	}
	for _, name := range without {
		if given.Changed(name) {
			return fmt.Errorf("--%s %s", name, how)
		}
	}
	f := s.config.Files
	switch {
	case (f.Cert == "") != (f.Key == ""):
		return errors.New("--tls-cert FILE and --tls-key FILE go together")
	case f.ClientCA != "" && f.Cert == "":
		return errors.New("--tls-client-ca FILE goes with --tls-cert FILE and --tls-key FILE")
	case given.Changed("next-stack") && s.nextAddr == "":
		return errors.New("--next-stack STACK goes with --next ADDRESS")
	}
	return nil
}

// serveAll runs services for use.
func (a *app) serveAll(ctx context.Context, s serving, name string) error {
	c := s.config
	c.Catalog, c.Workload, c.Version = a.catalog, name, environment.Version()
	var err error
	if c.Log, err = observe.NewLog(a.Err, s.logLevel, s.logFormat); err != nil {
		return usage(err)
	}
	if c.Params, err = pairs("--param", s.params); err != nil {
		return usage(err)
	}
	if c.Store == "" {
		c.Store = fmt.Sprintf(a.catalog.ServedIn, strings.TrimSuffix(name+"-"+c.Service, "-"))
	}
	if s.nextAddr != "" {
		c.Next = &service.Next{Addr: s.nextAddr, Stack: s.nextStack, InFlight: cmp.Or(s.inFlight, nextInFlight)}
	}
	run, err := service.New(c)
	if err != nil {
		return usage(err)
	}
	err = run.Run(ctx, func(addr net.Addr) { a.sayServed(run, name, addr) })
	var cut *port.CutError
	switch {
	case errors.As(err, &cut):
		fmt.Fprintf(a.Err, "ended; %v\n", cut)
		return nil
	case err == nil:
		fmt.Fprintln(a.Err, "ended; every call was answered")
	}
	return err
}

// sayServed tells where what is answered, and how to try it.
func (a *app) sayServed(s *service.Service, name string, addr net.Addr) {
	fmt.Fprintf(a.Err, "%s of %s on %s; Ctrl-C ends it\n", s.Names(), name, addr)
	w := tabwriter.NewWriter(a.Err, 0, 0, 2, ' ', 0)
	message := protocol.Quote(s.Message())
	fmt.Fprintf(w, "  to send\tmessage=%s\n", message)
	for _, e := range s.Examples(addr) {
		fmt.Fprintf(w, "  %s\t%s\n", e.Protocol, strings.Replace(e.Command, message, `"$message"`, 1))
	}
	for _, page := range [][2]string{{"health", "/readyz"}, {"metrics", "/metrics"}, {"schema", "/openapi.yaml"}} {
		fmt.Fprintf(w, "  %s\tcurl %s%s\n", page[0], s.URL(addr), page[1])
	}
	fmt.Fprintf(w, "  read and try\t%s/docs\n", s.URL(addr))
	fmt.Fprintf(w, "  records\t%s\n", s.Kept())
	_ = w.Flush() // as writing to a.Err anywhere
}
