package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/net/http/httpguts"

	"github.com/tare-bench/tare/call"
	"github.com/tare-bench/tare/call/schema"
	"github.com/tare-bench/tare/catalog"
)

// schemaFlags say where a schema is from.
type schemaFlags struct{ protos, imports, descriptors []string }

func (s *schemaFlags) declare(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&s.protos, "proto", nil, "schema: a .proto file, or a folder of them; may be repeated")
	f.StringArrayVarP(&s.imports, "import", "I", nil, "folder that --proto's imports are below (default: what the files' packages say); may be repeated")
	f.StringArrayVar(&s.descriptors, "descriptor", nil, "schema: a FileDescriptorSet, as protoc -o and buf build -o write it; may be repeated")
}

// read gives the schema, or nil where no flag gives one.
func (s schemaFlags) read(ctx context.Context) (*schema.Schema, error) {
	switch {
	case len(s.protos) > 0 && len(s.descriptors) > 0:
		return nil, usage(errors.New("give either --proto or --descriptor"))
	case len(s.protos) > 0:
		return schema.Compile(ctx, s.protos, s.imports)
	case len(s.imports) > 0:
		return nil, usage(errors.New("-I goes with --proto"))
	case len(s.descriptors) > 0:
		return schema.Descriptors(s.descriptors)
	}
	return nil, nil
}

// calling is the flags of tare call.
type calling struct {
	schema                 schemaFlags
	data, verb             string
	headers                []string
	protocol, codec, stack string
	options                call.Options
	security               call.Security
	printer                call.Printer
	timing                 bool
	list                   bool
	describe, template     string
}

func (a *app) callCommand() *cobra.Command {
	var f calling
	c := &cobra.Command{
		Use:   "call URL",
		Short: "Make one call over any protocol, and print what comes back",
		Long: `Make one call and print what comes back: messages as JSON on standard output,
everything else on standard error.

  tare call grpc://127.0.0.1:8080/acme.v1.Ledger/Post -d '{"amount": 3}'    gRPC
  tare call http://127.0.0.1:8080/acme.v1.Ledger/Post -d @post.json         Connect
  tare call http://127.0.0.1:8080/v1/posts/7                                REST
  tare call grpcs://ledger.acme.com --list                                  what there is

The schema is that of --proto or --descriptor, else what the server tells by
reflection, else what tare itself was built with.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && f.looksUp() {
				return nil
			}
			return one("a URL")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return a.call(c, &f, args) },
	}
	f.declare(c)
	return c
}

func (f *calling) declare(c *cobra.Command) {
	d := c.Flags()
	d.SortFlags = false
	d.StringVarP(&f.data, "data", "d", "", "what to send: JSON, several values for several messages; @FILE, or @- for standard input")
	d.StringArrayVarP(&f.headers, "header", "H", nil, "'name: value' of the request's header, or metadata; may be repeated")
	d.StringVarP(&f.verb, "request", "X", "", "verb of a REST request (default: GET, and POST with -d)")
	d.StringVar(&f.protocol, "protocol", "", "protocol to call by (default: what the URL looks like)")
	d.StringVar(&f.codec, "codec", "", "codec of messages (default: the protocol's usual one)")
	d.StringVar(&f.stack, "stack", "", "stack to call by, spelled as for compare, in place of both")
	f.schema.declare(c)
	d.BoolVar(&f.list, "list", false, "list the methods that there are, and call none")
	d.StringVar(&f.describe, "describe", "", "print the source of this service, method or type, and call nothing")
	d.StringVar(&f.template, "template", "", "print an example of this method's request or of this message, and call nothing")
	d.DurationVar(&f.options.Timeout, "timeout", 10*time.Second, "deadline of the call, which the server is told; 0s for none")
	d.BoolVarP(&f.printer.Verbose, "verbose", "v", false, "print headers and trailers of both sides")
	d.BoolVarP(&f.printer.Include, "include", "i", false, "print the answer's header and trailer with it, on standard output")
	d.BoolVar(&f.timing, "timing", false, "print what took how long, and the bytes each way")
	d.StringVar(&f.options.Authority, "authority", "", "host to ask for, in place of the URL's")
	d.StringVar(&f.security.CACert, "cacert", "", "file with the certificates to trust")
	d.StringVar(&f.security.Cert, "cert", "", "file with the certificate to show the server")
	d.StringVar(&f.security.Key, "key", "", "file with its key")
	d.BoolVar(&f.security.SkipVerify, "insecure-skip-verify", false, "trust whatever certificate the server has")
}

// looksUp says whether no call is to be made.
func (f *calling) looksUp() bool { return f.list || f.describe != "" || f.template != "" }

func (a *app) call(c *cobra.Command, f *calling, args []string) error {
	ctx := c.Context()
	if f.options.Timeout < 0 {
		return usage(fmt.Errorf("--timeout %v: takes 0s or more", f.options.Timeout))
	}
	var stack catalog.Stack
	if len(args) > 0 {
		var err error
		if stack, err = a.complete(f, args[0]); err != nil {
			return usage(err)
		}
	}
	given, err := f.schema.read(ctx)
	if err != nil {
		return err
	}
	if f.looksUp() {
		return a.lookUp(ctx, f, given, len(args) > 0)
	}
	f.printer.Out, f.printer.Err = a.Out, a.Err
	f.options.Watch = &f.printer
	in, done, err := a.input(f.data, c.Flags().Changed("data"))
	if err != nil {
		return err
	}
	defer done()
	timing, err := f.make(ctx, stack, given, in)
	if f.timing {
		timing.Print(a.Err)
	}
	return err
}

// make makes the call.
func (f *calling) make(ctx context.Context, stack catalog.Stack, given *schema.Schema, in *call.Input) (call.Timing, error) {
	if !f.options.Dialect.CallsMethods() {
		return f.options.Fetch(ctx, f.verb, in)
	}
	method, s, done, err := f.options.Find(ctx, given)
	if err != nil {
		return call.Timing{}, err
	}
	defer done()
	f.printer.Types = s.Types()
	if f.printer.Verbose {
		fmt.Fprintf(f.printer.Err, "* schema: %s\n", s.From)
	}
	return f.options.Call(ctx, call.Method{Descriptor: method, Schema: s, Codec: stack.Codec, Compressor: stack.Compressor}, in)
}

// complete fills in what flags left to the URL.
func (a *app) complete(f *calling, url string) (stack catalog.Stack, err error) {
	o := &f.options
	if o.Target, err = call.ParseTarget(url); err != nil {
		return stack, err
	}
	if stack, err = a.stackOf(f); err != nil {
		return stack, err
	}
	if !o.Dialect.CallsMethods() && (stack.Compressor != nil || f.codec != "") {
		return stack, errors.New("a REST request sends -d as it is; say what that is with -H 'content-type: …'")
	}
	if _, _, err := o.Target.Method(); o.Dialect.CallsMethods() && !f.looksUp() && err != nil {
		return stack, err
	}
	if o.Dialect.CallsMethods() && f.verb != "" {
		return stack, fmt.Errorf("-X goes with requests of HTTP, and %s calls a method by %s", url, o.Dialect.Protocol())
	}
	if o.Header, err = headers(f.headers); err != nil {
		return stack, err
	}
	if host := o.Header.Get("Host"); host != "" && o.Authority == "" {
		o.Authority = host
	}
	if !o.Target.Secure() && f.security != (call.Security{}) {
		return stack, fmt.Errorf("flags of TLS go with grpcs:// and https://, and not with %s", url)
	}
	o.TLS, err = f.security.Config()
	return stack, err
}

// stackOf gives the stack that flags name or the URL means.
func (a *app) stackOf(f *calling) (stack catalog.Stack, err error) {
	o := &f.options
	if f.stack != "" && (f.protocol != "" || f.codec != "") {
		return stack, errors.New("--stack says protocol and codec; leave --protocol and --codec out")
	}
	protocol := f.protocol
	if f.stack != "" {
		if stack, err = a.catalog.Stack(f.stack); err != nil {
			return stack, err
		}
		protocol = stack.Protocol.Spec().Name
		if t := stack.Protocol.Spec().Transport; t != nil {
			o.HTTP = t(stack.Options(1)).HTTP
		}
	}
	if protocol == "" {
		o.Dialect, err = call.Choose(a.catalog.Dialects, o.Target)
	} else {
		o.Dialect, err = a.catalog.Dialect(protocol)
	}
	if err != nil || f.stack != "" {
		return stack, err
	}
	if f.codec != "" {
		return a.catalog.Stack(o.Dialect.Protocol() + "+" + f.codec)
	}
	return a.catalog.Stack(o.Dialect.Stack)
}

func headers(lines []string) (http.Header, error) {
	h := http.Header{}
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("-H %q is not 'name: value'", line)
		}
		h.Add(name, value)
	}
	return h, nil
}

// input opens what -d names; nil where it was not given.
func (a *app) input(data string, given bool) (in *call.Input, done func(), err error) {
	done = func() {}
	name, isFile := strings.CutPrefix(data, "@")
	switch {
	case !given:
		return nil, done, nil
	case !isFile:
		return &call.Input{Name: "-d", Reader: strings.NewReader(data)}, done, nil
	case name == "-":
		return &call.Input{Name: "standard input", Reader: a.In}, done, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, done, fmt.Errorf("read -d: %w", err)
	}
	return &call.Input{Name: name, Reader: file}, func() { _ = file.Close() }, nil // only read
}

// lookUp prints what a schema has: the one given, or the server's, or tare's.
func (a *app) lookUp(ctx context.Context, f *calling, given *schema.Schema, server bool) error {
	if given == nil && server {
		s, done := f.options.Reflect(ctx)
		defer done()
		return f.options.Explain(ctx, f.print(a.Out, s))
	}
	if given == nil {
		given = schema.Builtin()
	}
	return f.print(a.Out, given)
}

func (f *calling) print(out io.Writer, s *schema.Schema) error {
	if f.list {
		all, err := s.Methods()
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, m := range all {
			fmt.Fprintf(w, "%s\t%s\n", m.Path, m.Types)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if f.describe != "" {
		source, err := s.Describe(f.describe)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(out, source); err != nil {
			return err
		}
	}
	if f.template == "" {
		return nil
	}
	example, err := s.Template(f.template)
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", example)
	}
	return err
}
