package call_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/tare-bench/tare/call"
)

// What goes wrong is told in a sentence, and so is what to do about it.
func TestFailuresSayWhatToDo(t *testing.T) {
	nobody := listen(t)
	if err := nobody.Close(); err != nil {
		t.Fatal(err)
	}
	pki := newAuthority(t)
	var (
		free    = nobody.Addr().String()
		old     = serve(t, "rest+json")
		rest2   = serve(t, "rest+json@http=2")
		http1   = serve(t, "connect+proto")
		quiet   = serveStock(t, silent)
		telling = serveStock(t, reflects)
		secure  = serveStock(t, reflects, grpc.Creds(credentials.NewTLS(pki.server(t, tls.NoClientCert))))
		mutual  = serveStock(t, reflects, grpc.Creds(credentials.NewTLS(pki.server(t, tls.RequireAndVerifyClientCert))))
		https   = serveHTTPS(t)
		trusts  = call.Security{CACert: pki.file}
		echo    = "/" + service + "/Echo"
	)
	for _, test := range []struct {
		name      string
		url       string
		in        string
		security  call.Security
		timeout   time.Duration
		authority string
		stack     string
		err, hint string // what they contain
	}{
		{name: "nobody listens", url: "grpc://" + free + echo,
			err: "UNAVAILABLE: dial tcp " + free + ": connect: connection refused", hint: "nothing listens at " + free},
		{name: "nobody listens, REST", url: "http://" + free + "/v1",
			err: "UNAVAILABLE: dial tcp " + free + ": connect: connection refused", hint: "nothing listens at " + free},
		{name: "no such host", url: "grpc://no-such-host.invalid:80" + echo,
			err: "UNAVAILABLE: dial tcp: lookup no-such-host.invalid", hint: "spelling of no-such-host.invalid"},
		{name: "HTTP/1.1 called by gRPC", url: "grpc://" + old + echo,
			err: "UNAVAILABLE: the server answers by HTTP/1.1, and not by HTTP/2", hint: old + " speaks HTTP/1.1, and gRPC takes HTTP/2"},
		{name: "HTTP/2 called by HTTP/1.1", url: "http://" + telling + "/v1/echo",
			err: "UNAVAILABLE: the server answers by HTTP/2, and not by HTTP/1.1", hint: "a gRPC server is called with grpc://"},
		{name: "gRPC called by Connect", url: "http://" + telling + echo,
			err: "UNAVAILABLE: the server answers by HTTP/2, and not by HTTP/1.1", hint: "a gRPC server is called with grpc://"},
		{name: "gRPC called by Connect over HTTP/2", url: "http://" + telling + echo, stack: "connect+proto@http=2",
			err: "UNKNOWN: 415 Unsupported Media Type", hint: "name another protocol"},
		{name: "REST called by Connect", url: "http://" + old + echo,
			err: "UNIMPLEMENTED: 404 Not Found", hint: "does not know " + echo + " by connect"},
		{name: "REST called by gRPC", url: "grpc://" + rest2 + echo,
			err: "UNIMPLEMENTED: HTTP status 404 Not Found", hint: "does not know " + echo + " by grpc"},
		{name: "TLS called without", url: "grpc://" + secure + echo,
			err: "UNAVAILABLE: ", hint: "grpcs://"},
		{name: "HTTPS called by gRPC without", url: "grpc://" + https + echo,
			err: "UNAVAILABLE: ", hint: "if it speaks TLS, write grpcs://"},
		{name: "an alert of TLS", url: "grpc://" + serveAlert(t) + echo,
			err: "UNAVAILABLE: the server answers by TLS", hint: "write grpcs://"},
		{name: "TLS called without, REST", url: "http://" + https + "/v1",
			err: "HTTP status 400 Bad Request", hint: "https://"},
		{name: "TLS called without, Connect", url: "http://" + https + echo,
			err: "INTERNAL: 400 Bad Request", hint: "https://"},
		{name: "no TLS called with", url: "grpcs://" + telling + echo,
			err: "UNAVAILABLE: tls: first record does not look like a TLS handshake", hint: "does not speak TLS; write grpc://"},
		{name: "no TLS called with, Connect", url: "https://" + http1 + echo,
			err: "UNAVAILABLE: http: server gave HTTP response to HTTPS client", hint: "does not speak TLS; write http://"},
		{name: "unknown authority", url: "grpcs://" + secure + echo,
			err: "UNAVAILABLE: tls: failed to verify certificate: x509: certificate signed by unknown authority", hint: "--cacert FILE"},
		{name: "another's certificate", url: "grpcs://" + secure + echo, security: trusts, authority: "ledger.acme.com",
			err: "x509: certificate is not valid for any names, but wanted to match ledger.acme.com", hint: "--authority NAME"},
		{name: "no client certificate", url: "grpcs://" + mutual + echo, security: trusts,
			err: "UNAVAILABLE: ", hint: "--cert FILE and --key FILE"},
		{name: "no answer in time", url: "grpc://" + serve(t, "grpc+proto") + echo, in: `{"hang":true}`, timeout: 50 * time.Millisecond,
			err: "DEADLINE_EXCEEDED: ", hint: "--timeout"},
		{name: "no answer in time, Connect", url: "http://" + http1 + echo, in: `{"hang":true}`, timeout: 50 * time.Millisecond,
			err: "DEADLINE_EXCEEDED: ", hint: "--timeout"},
		{name: "no answer in time, REST", url: "http://" + old + "/v1/echo", in: `{"hang":true}`, timeout: 50 * time.Millisecond,
			err: "DEADLINE_EXCEEDED: ", hint: "--timeout"},
		{name: "no schema", url: "grpc://" + quiet + "/acme.v1.Ledger/Post",
			err: "UNIMPLEMENTED: ask the server for its schema: unknown service grpc.reflection.v1alpha.ServerReflection", hint: "--proto DIR"},
		{name: "no schema over HTTP/1.1", url: "http://" + http1 + "/acme.v1.Ledger/Post",
			err: "UNAVAILABLE: ask the server for its schema: the server answers by HTTP/1.1", hint: "--proto DIR"},
		{name: "misspelt service", url: "grpc://" + telling + "/tare.conformance.v1.ConformancService/Echo",
			err: "no service tare.conformance.v1.ConformancService in the reflection of " + telling, hint: "there is " + service},
		{name: "misspelt method", url: "grpc://" + telling + "/" + service + "/Ecko",
			err: "no method Ecko in service " + service, hint: "there is Echo, "},
		{name: "misspelt method, no reflection", url: "grpc://" + quiet + "/" + service + "/Ecko",
			err: "no method Ecko in service " + service, hint: "there is Echo, "},
		{name: "not served", url: "grpc://" + telling + "/tare.orders.v1.OrderService/CreateOrder",
			err: "UNIMPLEMENTED: unknown service tare.orders.v1.OrderService", hint: "tare call grpc://" + telling + " --list"},
		{name: "not served method", url: "grpc://" + telling + "/" + service + "/Collect", in: "{}",
			err: "UNIMPLEMENTED: method Collect not implemented", hint: "--list"},
		{name: "misspelt field", url: "grpc://" + telling + echo, in: "{\n  \"itme\": {}}",
			err: `-d, line 2, column 3: unknown field "itme"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			config, err := test.security.Config()
			if err != nil {
				t.Fatal(err)
			}
			r := request{url: test.url, stack: test.stack, options: call.Options{TLS: config, Timeout: test.timeout, Authority: test.authority}}
			if test.in != "" {
				r.in = text(test.in)
			}
			_, _, _, err = ask(t.Context(), t, r)
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("ended with %v, want %s", err, test.err)
			}
			var hinting interface{ Hint() string }
			hint := ""
			if errors.As(err, &hinting) {
				hint = hinting.Hint()
			}
			if !strings.Contains(hint, test.hint) || test.hint == "" && hint != "" {
				t.Errorf("%v has the hint %q, want %q", err, hint, test.hint)
			}
		})
	}
}

func serveHTTPS(t *testing.T) (addr string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// serveAlert answers as some servers of TLS do to what is none.
func serveAlert(t *testing.T) (addr string) {
	t.Helper()
	l := listen(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = c.Write([]byte("\x15\x03\x01\x00\x02\x02\x16"))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

func TestTLS(t *testing.T) {
	pki := newAuthority(t)
	cert, key := pki.files(t, "client")
	addr := serveStock(t, reflects, grpc.Creds(credentials.NewTLS(pki.server(t, tls.RequireAndVerifyClientCert))))
	for name, security := range map[string]call.Security{
		"trusted":    {CACert: pki.file, Cert: cert, Key: key},
		"not judged": {SkipVerify: true, Cert: cert, Key: key},
	} {
		for _, scheme := range []string{"grpcs", "https"} {
			config, err := security.Config()
			if err != nil {
				t.Fatal(err)
			}
			r := request{url: scheme + "://" + addr + "/" + service + "/Echo", stack: "grpc+proto", options: call.Options{TLS: config}}
			out, _, timing, err := ask(t.Context(), t, r)
			if err != nil || out != "{}\n" {
				t.Errorf("%s by %s: printed %q, ended with %v", name, scheme, out, err)
			}
			if timing.TLS <= 0 || timing.TLS > timing.FirstByte {
				t.Errorf("%s by %s: took %+v, which cannot be", name, scheme, timing)
			}
		}
	}
}

func TestBadFilesOfTLSAreNamed(t *testing.T) {
	pki := newAuthority(t)
	cert, key := pki.files(t, "client")
	_, otherKey := pki.files(t, "other")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		security call.Security
		want     string
	}{
		{call.Security{CACert: "nowhere.pem"}, "read --cacert: open nowhere.pem"},
		{call.Security{CACert: empty}, empty + " has no certificate"},
		{call.Security{Cert: cert}, "--cert and --key go together"},
		{call.Security{Cert: cert, Key: otherKey}, "private key does not match"},
		{call.Security{Cert: empty, Key: key}, "read --cert " + empty},
	} {
		if _, err := test.security.Config(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v gives %v, want %s", test.security, err, test.want)
		}
	}
}

// authority signs certificates for 127.0.0.1.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{key: newKey(t), file: filepath.Join(t.TempDir(), "ca.pem")}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// files makes a certificate and its key.
func (a authority) files(t *testing.T, name string) (cert, key string) {
	t.Helper()
	dir := t.TempDir()
	cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	own := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, own.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, cert, "CERTIFICATE", der)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, key, "PRIVATE KEY", pkcs8)
	return cert, key
}

func (a authority) server(t *testing.T, asks tls.ClientAuthType) *tls.Config {
	t.Helper()
	cert, key := a.files(t, "server")
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: asks, ClientCAs: clients}
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
