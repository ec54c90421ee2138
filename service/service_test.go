package service_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/tare-bench/tare/catalog"
	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
	"github.com/tare-bench/tare/gen/tare/orders/v1/ordersv1connect"
	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"
	"github.com/tare-bench/tare/gen/tare/payments/v1/paymentsv1connect"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service"
	"github.com/tare-bench/tare/store"
)

// patience is how long a test waits before it calls a service stuck.
const patience = time.Minute

func config() service.Config {
	return service.Config{
		Catalog: catalog.Default(), Workload: "orders", Store: "memory", Listen: "127.0.0.1:0",
		MaxMessage: service.DefaultMaxMessage, Grace: patience, Log: slog.New(slog.DiscardHandler),
	}
}

// run runs services until the test ends, and gives where they answer.
func run(t *testing.T, alter ...func(*service.Config)) string {
	t.Helper()
	c := config()
	for _, f := range alter {
		f(&c)
	}
	s, err := service.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	listens, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- s.Run(ctx, func(a net.Addr) { listens <- a.String() }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
	select {
	case addr := <-listens:
		return addr
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	panic("unreachable")
}

func channel(t *testing.T, addr string, creds credentials.TransportCredentials) *grpc.ClientConn {
	t.Helper()
	cc, err := grpc.NewClient(addr, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	return cc
}

var order = &ordersv1.CreateOrderRequest{
	OrderId: "o-1", UserName: "ada", CurrencyCode: "EUR",
	Lines: []*ordersv1.OrderLine{{Sku: "a", Title: "b", Quantity: 2, UnitPriceMinor: 125}},
}

const orderJSON = `{"orderId":"o-1","userName":"ada","currencyCode":"EUR","lines":[{"sku":"a","title":"b","quantity":2,"unitPriceMinor":"125"}]}`

// create has an order paid over gRPC, and gives what a person is told.
func create(t *testing.T, addr string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := ordersv1.NewOrderServiceClient(channel(t, addr, insecure.NewCredentials())).CreateOrder(ctx, order)
	if err != nil {
		t.Fatal(err)
	}
	return out.GetMessage()
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// TestAllServicesOfAWorkloadAreOneWhole posts one order over two protocols: it
// is one order, and its payment is kept where the payment service looks.
func TestAllServicesOfAWorkloadAreOneWhole(t *testing.T) {
	addr := run(t)
	message := create(t, addr)
	if status, body := post(t, "http://"+addr+"/v1/orders", orderJSON); status != http.StatusOK || !strings.Contains(body, message) {
		t.Errorf("the same order over REST gives %d %s, want %q again", status, body, message)
	}
	payments := paymentsv1connect.NewPaymentServiceClient(http.DefaultClient, "http://"+addr)
	_, err := payments.MakePayment(t.Context(), connect.NewRequest(&paymentsv1.MakePaymentRequest{
		PaymentId: "o-1", UserName: "ada", Amount: &paymentsv1.Money{CurrencyCode: "EUR", MinorUnits: 1},
	}))
	if connect.CodeOf(err) != connect.CodeAlreadyExists {
		t.Errorf("another payment of the order's ID gives %v, want ALREADY_EXISTS", err)
	}
}

func TestOneServiceCallsTheNextElsewhere(t *testing.T) {
	var paid, called atomic.Bool
	payment := run(t, func(c *service.Config) { c.Service = "payments"; c.Wrap = noting(&paid) })
	order := run(t, func(c *service.Config) {
		c.Service, c.Wrap = "order", noting(&called)
		c.Next = &service.Next{Addr: payment, Stack: "grpc+proto", InFlight: 4}
	})
	create(t, order)
	if !paid.Load() || !called.Load() {
		t.Errorf("the payment service was called: %v, the order service: %v, want both", paid.Load(), called.Load())
	}
	if status, _ := post(t, "http://"+payment+"/v1/orders", orderJSON); status != http.StatusNotFound {
		t.Errorf("the payment service answers orders with status %d, want 404", status)
	}
}

func noting(called *atomic.Bool) func(rpc.Handler) rpc.Handler {
	return func(h rpc.Handler) rpc.Handler {
		return rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
			called.Store(true)
			return h.Handle(ctx, m, s)
		})
	}
}

// TestMessagesMayBeCompressedIfTheServiceIsToldSo has grpc-go's table of
// compressors empty, as it is in the program.
func TestMessagesMayBeCompressedIfTheServiceIsToldSo(t *testing.T) {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	h := &http.Client{Transport: &http.Transport{Protocols: p}}
	defer h.CloseIdleConnections()
	for _, compressor := range []string{"", "gzip"} {
		addr := run(t, func(c *service.Config) { c.Compressor = compressor })
		for name, o := range map[string]connect.ClientOption{"gRPC": connect.WithGRPC(), "Connect": connect.WithClientOptions()} {
			c := ordersv1connect.NewOrderServiceClient(h, "http://"+addr, connect.WithSendGzip(), o)
			_, err := c.CreateOrder(t.Context(), connect.NewRequest(order))
			if taken := compressor != ""; taken != (err == nil) {
				t.Errorf("with compressor %q %s in gzip gives %v", compressor, name, err)
			}
		}
		req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/v1/orders", strings.NewReader(orderJSON))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept-Encoding", "gzip")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Get("Content-Encoding"); got != compressor {
			t.Errorf("with compressor %q REST answers in %q", compressor, got)
		}
	}
}

func TestNamesThatAreUnknownAreNamed(t *testing.T) {
	for name, alter := range map[string]func(*service.Config){
		`unknown service "carts" of orders; there is order, payment`: func(c *service.Config) { c.Service = "carts" },
		`unknown workload "carts"`:                                   func(c *service.Config) { c.Workload = "carts" },
		`unknown store "paper"`:                                      func(c *service.Config) { c.Store = "paper" },
		`no setting "cows"`:                                          func(c *service.Config) { c.Params = map[string]string{"cows": "1"} },
		`unknown protocol "pigeon"`:                                  func(c *service.Config) { c.Next = &service.Next{Addr: "a:1", Stack: "pigeon+json"} },
		`unknown compressor "zap"`:                                   func(c *service.Config) { c.Compressor = "zap" },
		`payment does not`: func(c *service.Config) {
			c.Service = "payment"
			c.Next = &service.Next{Addr: "a:1", Stack: "grpc+proto"}
		},
	} {
		c := config()
		alter(&c)
		if _, err := service.New(c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the error is %v, want %s", err, name)
		}
	}
}

func TestAnAddressInUseIsAnError(t *testing.T) {
	addr := run(t)
	c := config()
	c.Listen = addr
	s, err := service.New(c)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Run(t.Context(), func(net.Addr) { t.Error("it listens") })
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), addr) {
		t.Errorf("the error is %v, want one that names %s", err, addr)
	}
}

func TestThereIsAnExampleOfEachProtocol(t *testing.T) {
	s, err := service.New(config())
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, e := range s.Examples(&net.TCPAddr{IP: net.IPv6unspecified, Port: 80}) {
		all.WriteString(e.Protocol + ": " + e.Command + "\n")
	}
	for _, want := range []string{
		"rest: curl -H 'Content-Type: application/json' -d '{", "http://127.0.0.1:80/v1/orders\n",
		"grpc: grpcurl -plaintext -d '{", "127.0.0.1:80 tare.orders.v1.OrderService/CreateOrder\n",
		"connect: curl -H", "http://127.0.0.1:80/tare.orders.v1.OrderService/CreateOrder\n", "grpcweb: buf curl --protocol grpcweb",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in\n%s", want, &all)
		}
	}
}

// failing is a store whose answers to a ping a test chooses.
type failing struct {
	store.Kind
	store.Store
	ping func() error
}

func (f failing) Open(ctx context.Context, address string) (store.Store, error) {
	var err error
	f.Store, err = f.Kind.Open(ctx, address)
	return struct {
		store.Orders
		store.OrderLists
		store.Payments
		failing
	}{f.Store.(store.Orders), f.Store.(store.OrderLists), f.Store.(store.Payments), f}, err
}

func (f failing) Ping(context.Context) error { return f.ping() }

func TestServicesAreNotReadyWithoutTheirStore(t *testing.T) {
	addr := run(t, func(c *service.Config) {
		c.Catalog.Stores = []store.Kind{failing{Kind: c.Catalog.Stores[0], ping: func() error { return errors.New("secret of the store") }}}
	})
	res, err := http.Get("http://" + addr + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(body), "secret") {
		t.Errorf("/readyz answers %d %q", res.StatusCode, body)
	}
}

// certify writes a certificate that is its own authority, and its key.
func certify(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	write := func(file, kind string, der []byte) string {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write(name+".pem", "CERTIFICATE", der), write(name+".key", "PRIVATE KEY", keyDER)
}

func TestCertificatesAreThoseOfTheFiles(t *testing.T) {
	dir := t.TempDir()
	server, serverKey := certify(t, dir, "server")
	client, clientKey := certify(t, dir, "client")
	addr := run(t, func(c *service.Config) { c.Files = service.Files{Cert: server, Key: serverKey, ClientCA: client} })
	pool := x509.NewCertPool()
	text, err := os.ReadFile(server)
	if err != nil || !pool.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	own, err := tls.LoadX509KeyPair(client, clientKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		certs []tls.Certificate
		taken bool
	}{{nil, false}, {[]tls.Certificate{own}, true}} {
		creds := credentials.NewTLS(&tls.Config{RootCAs: pool, Certificates: test.certs})
		_, err := ordersv1.NewOrderServiceClient(channel(t, addr, creds)).CreateOrder(t.Context(), order)
		if test.taken != (err == nil) {
			t.Errorf("a caller with %d certificates gets %v", len(test.certs), err)
		}
	}
}

func TestFilesThatCannotServeAreNamed(t *testing.T) {
	dir := t.TempDir()
	cert, key := certify(t, dir, "server")
	_, other := certify(t, dir, "other")
	none := filepath.Join(dir, "none.pem")
	for _, test := range []struct {
		files service.Files
		named string
	}{
		{service.Files{Cert: none, Key: key}, none},
		{service.Files{Cert: cert, Key: other}, other},
		{service.Files{Cert: key, Key: key}, key},
		{service.Files{Cert: cert, Key: key, ClientCA: none}, none},
		{service.Files{Cert: cert, Key: key, ClientCA: key}, "no certificate"},
	} {
		c := config()
		c.Files = test.files
		s, err := service.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), func(net.Addr) {}); err == nil || !strings.Contains(err.Error(), test.named) {
			t.Errorf("%+v give %v, want an error that has %q", test.files, err, test.named)
		}
	}
}
