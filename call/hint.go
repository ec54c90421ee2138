package call

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/tare-bench/tare/rpc"
)

const certificate = "where it asks for a certificate, give one with --cert FILE and --key FILE"

const hintSchema = "give the schema with --proto DIR or --descriptor FILE"

// hint pairs what a failure is with what to do about it.
type hint struct {
	fits func(o Options, f *Failure) bool
	text func(o Options, f *Failure) string
}

// unreached are of failures before anything was asked.
var unreached = []hint{
	{is(syscall.ECONNREFUSED), func(o Options, _ *Failure) string {
		return fmt.Sprintf("nothing listens at %s; look at the address, or start the server, for instance with tare serve orders --listen %[1]s", o.Target.Address())
	}},
	{as[*net.DNSError], func(o Options, _ *Failure) string {
		return fmt.Sprintf("look at the spelling of %s", o.Target.URL.Hostname())
	}},
	{as[x509.UnknownAuthorityError], always("give the authority that signed the server's certificate with --cacert FILE; --insecure-skip-verify trusts whoever answers")},
	{as[x509.HostnameError], always("call the server by a name that its certificate has, or say which with --authority NAME")},
	{as[x509.CertificateInvalidError], always("the server's certificate does not hold; --insecure-skip-verify trusts it all the same")},
	{says("remote error: tls:"), always("the server refuses the caller; " + certificate)},
	{notTLS, func(o Options, _ *Failure) string {
		return fmt.Sprintf("%s does not speak TLS; write %s://", o.Target.Address(), strings.TrimSuffix(o.Target.scheme, "s"))
	}},
	{is(errTLS), func(o Options, _ *Failure) string {
		return fmt.Sprintf("write %ss://", o.Target.scheme)
	}},
	{code(rpc.DeadlineExceeded), always("a longer --timeout helps only if the server is slow; --timeout 0s waits for ever")},
}

// misunderstood are of failures of the protocol or the service.
var misunderstood = []hint{
	{is(errHTTP1), func(o Options, _ *Failure) string {
		text := fmt.Sprintf("%s speaks HTTP/1.1, and gRPC takes HTTP/2; for Connect and REST write http://", o.Target.Address())
		if !o.Target.Secure() {
			text += "; some that take TLS answer so too: then write grpcs://"
		}
		return text
	}},
	{is(errHTTP2), func(o Options, _ *Failure) string {
		return fmt.Sprintf("%s speaks no HTTP/1.1; a gRPC server is called with grpc://, and one with TLS with grpcs:// or https://", o.Target.Address())
	}},
	{hungUp, func(o Options, _ *Failure) string {
		if o.Target.Secure() { // the refusal may be lost behind the request
			return "the server hung up; " + certificate
		}
		return fmt.Sprintf("the server hung up; if it speaks TLS, write %ss://", o.Target.scheme)
	}},
	{code(rpc.Unauthenticated), always("say who calls, with -H 'authorization: …'")},
	{code(rpc.Unimplemented), func(o Options, f *Failure) string {
		if f.cause == nil {
			return fmt.Sprintf("see what the server has: tare call %s://%s --list", o.Target.scheme, o.Target.URL.Host)
		}
		return unheard(o, f)
	}},
	{says("invalid content-type", "415 Unsupported Media Type"), unheard},
	{perhapsTLS, func(o Options, _ *Failure) string {
		return fmt.Sprintf("one that speaks TLS answers so; if it does, write %ss://", o.Target.scheme)
	}},
	{says("unmarshal message", "parse reply"), always("the schema may not be the server's; see what it has of its own with --describe")},
}

func unheard(o Options, _ *Failure) string {
	return fmt.Sprintf("what answers at %s does not know %s by %s; name another protocol with --protocol", o.Target.Address(), o.Target.URL.Path, o.Dialect.Protocol())
}

func (o Options) hint(f *Failure, tables ...[]hint) string {
	for _, h := range slices.Concat(tables...) {
		if h.fits(o, f) {
			return h.text(o, f)
		}
	}
	return ""
}

func always(text string) func(Options, *Failure) string {
	return func(Options, *Failure) string { return text }
}

func is(target error) func(Options, *Failure) bool {
	return func(_ Options, f *Failure) bool { return errors.Is(f.cause, target) }
}

func as[T error](_ Options, f *Failure) bool {
	var target T
	return errors.As(f.cause, &target)
}

func code(c rpc.Code) func(Options, *Failure) bool {
	return func(_ Options, f *Failure) bool { return f.Code == c }
}

// hungUp is of connections that the server ended.
func hungUp(o Options, f *Failure) bool {
	return slices.ContainsFunc([]error{io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE},
		func(end error) bool { return errors.Is(f.cause, end) }) || says("client conn could not be established")(o, f)
}

// perhapsTLS is of what net/http's server answers to HTTP where it speaks TLS: it
// names no media.
func perhapsTLS(o Options, f *Failure) bool {
	return !o.Target.Secure() && !f.typed && strings.HasSuffix(f.Message, "400 Bad Request")
}

func notTLS(o Options, f *Failure) bool {
	return as[tls.RecordHeaderError](o, f) || says("server gave HTTP response to HTTPS client")(o, f)
}

// says is of failures on this side: what a server's own message says is no
// ground for a guess.
func says(words ...string) func(Options, *Failure) bool {
	return func(_ Options, f *Failure) bool {
		for _, w := range words {
			if f.cause != nil && strings.Contains(f.cause.Error(), w) {
				return true
			}
		}
		return false
	}
}
