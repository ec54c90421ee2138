package port_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/port"
)

// authority signs certificates for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{key: key, pool: x509.NewCertPool()}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	return a
}

// sign gives a certificate for 127.0.0.1.
func (a authority) sign(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (a authority) server(t *testing.T) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{a.sign(t, "server")}}
}

func TestEveryClientIsAnsweredOverTLS(t *testing.T) {
	a := newAuthority(t)
	r := serve(t, func(c *port.Config) { c.TLS = a.server(t) })
	wantAnswered(t, clients(t, r.addr, &tls.Config{RootCAs: a.pool}))
}

// TestCallersAreKnownByTheirCertificates as the libraries' users look for them.
func TestCallersAreKnownByTheirCertificates(t *testing.T) {
	a := newAuthority(t)
	byGRPCGo := make(chan string, 1)
	r := serve(t, func(c *port.Config) {
		c.TLS = a.server(t)
		c.TLS.ClientAuth, c.TLS.ClientCAs = tls.RequireAndVerifyClientCert, a.pool
		c.Handler = rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
			if p, ok := peer.FromContext(ctx); ok {
				info, _ := p.AuthInfo.(credentials.TLSInfo)
				byGRPCGo <- info.State.PeerCertificates[0].Subject.CommonName
			}
			return conformance.Handler{}.Handle(ctx, m, s)
		})
		c.Extra = map[string]http.Handler{"GET /whoami": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s by %s", r.TLS.PeerCertificates[0].Subject.CommonName, r.Proto)
		})}
	})
	known := &tls.Config{RootCAs: a.pool, Certificates: []tls.Certificate{a.sign(t, "ada")}}
	if _, err := byGRPC(t, r.addr, known).echo(patient(t), ""); err != nil {
		t.Fatal(err)
	}
	if got := await(t, byGRPCGo, "the handler"); got != "ada" {
		t.Errorf("gRPC's caller is %q, want ada", got)
	}
	for version, want := range map[string]string{"1.1": "ada by HTTP/1.1", "2": "ada by HTTP/2.0"} {
		res, err := transport(t, version, known).Get("https://" + r.addr + "/whoami")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if body, err := io.ReadAll(res.Body); err != nil || string(body) != want {
			t.Errorf("the caller is %q, %v, want %q", body, err, want)
		}
	}
}

func TestCallersWithoutACertificateOfTheAuthorityAreRefused(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	r := serve(t, func(c *port.Config) {
		c.TLS = a.server(t)
		c.TLS.ClientAuth, c.TLS.ClientCAs = tls.RequireAndVerifyClientCert, a.pool
	})
	for name, certs := range map[string][]tls.Certificate{"none": nil, "another's": {other.sign(t, "eve")}} {
		for _, c := range clients(t, r.addr, &tls.Config{RootCAs: a.pool, Certificates: certs}) {
			if got, err := c.echo(patient(t), "let me in"); err == nil {
				t.Errorf("%s is answered %q with %s certificate", c.name, got, name)
			}
		}
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	a := newAuthority(t)
	r := serve(t, func(c *port.Config) { c.TLS = a.server(t) })
	for version, taken := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true} {
		c, err := tls.Dial("tcp", r.addr, &tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS10, MaxVersion: version})
		if taken != (err == nil) {
			t.Errorf("version %x gives %v, want it taken: %v", version, err, taken)
		}
		if err == nil {
			c.Close()
		}
	}
}

func TestRequestsWithoutTLSAreToldSo(t *testing.T) {
	a := newAuthority(t)
	r := serve(t, func(c *port.Config) { c.TLS = a.server(t) })
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: tare\r\n\r\n")
	if answer, _ := io.ReadAll(c); !strings.Contains(string(answer), "400") || !strings.Contains(string(answer), "https") {
		t.Errorf("the answer is %q, want one that says https", answer)
	}
}
