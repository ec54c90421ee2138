package call

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// dialTimeout bounds the opening of a connection where nothing else does.
const dialTimeout = 30 * time.Second

// Security is what a person says of TLS; its zero trusts what the system does.
type Security struct {
	CACert     string // file of the certificates to trust
	Cert, Key  string // files that show who the caller is
	SkipVerify bool
}

// Config gives what TLS wants to be told.
func (s Security) Config() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: s.SkipVerify} // a person's choice, who is told so by the flag's name
	if s.CACert != "" {
		pem, err := os.ReadFile(s.CACert)
		if err != nil {
			return nil, fmt.Errorf("read --cacert: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read --cacert: %s has no certificate in PEM", s.CACert)
		}
	}
	if (s.Cert == "") != (s.Key == "") {
		return nil, errors.New("--cert and --key go together")
	}
	if s.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, fmt.Errorf("read --cert %s and --key %s: %w", s.Cert, s.Key, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Options say how to reach a server.
type Options struct {
	Target    Target
	Dialect   Dialect
	HTTP      string // version, "1.1" or "2"; "" for what suits the call
	Header    http.Header
	Authority string // in place of the URL's host; "" for that
	TLS       *tls.Config
	Timeout   time.Duration // deadline of the call; 0 for none
	Watch     Watcher
}

// within gives ctx the deadline.
func (o Options) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.Timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, o.Timeout)
}

// fields gives the header fields that a person asked for.
func (o Options) fields(into http.Header) {
	for name, values := range o.Header {
		into[name] = values
	}
	if o.Authority != "" {
		into.Set("Host", o.Authority)
	}
}

// client makes an HTTP client.
func (o Options) client(fullDuplex bool) *client {
	const http1, http2 = "1.1", "2"
	one := !o.Dialect.http2 && !fullDuplex
	two := !one || o.Target.Secure() // which settles with the server what it is to be
	if o.HTTP != "" {
		one, two = o.HTTP == http1, o.HTTP == http2
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(one)
	protocols.SetHTTP2(two)
	protocols.SetUnencryptedHTTP2(two)
	security := o.TLS.Clone()
	if security != nil && o.Authority != "" {
		security.ServerName = o.Authority
		if host, _, err := net.SplitHostPort(o.Authority); err == nil {
			security.ServerName = host
		}
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	c := &client{http2: two, secure: o.Target.Secure()}
	c.Client = &http.Client{
		Transport: &http.Transport{
			Protocols:          protocols,
			TLSClientConfig:    security,
			DisableCompression: true, // else bodies are not shown as they crossed
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				dialed, err := dialer.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return &conn{Conn: dialed, meter: &c.meter, waits: two && !c.secure, asked: newMark(), heard: newMark()}, nil
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}
