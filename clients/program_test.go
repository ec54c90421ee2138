package clients_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/clients"
	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
	"github.com/tare-bench/tare/internal/cli"
	"github.com/tare-bench/tare/internal/program"
)

// The test binary is also the program that the clients call.
func TestMain(m *testing.M) {
	if program.Asked() {
		os.Exit(cli.Main(os.Args[1:], catalog.Default(), cli.Process()))
	}
	os.Exit(m.Run())
}

// caller is a client from outside, as a user has it.
type caller struct {
	name string
	// order posts an order of one line by a user who has made none, and gives
	// its ID, which a person at a page does not choose.
	order func(t *testing.T, o *ordersv1.CreateOrderRequest) (id string)
	// read gives the order of a user.
	read func(t *testing.T, user, id string) *ordersv1.Order
}

// All of them call one server, through one port.
func TestClients(t *testing.T) {
	page := servePage(t)
	addr := serve(t, "--cors-origin", page)
	browser, grpcurl := browse(t), buildGRPCurl(t)
	callers := append(goClients(t, addr), withCurl(addr), withGRPCurl(grpcurl, addr))
	callers = append(callers, inBrowser(t, browser, page, addr)...)
	t.Run("every one reads what the others ordered", func(t *testing.T) { orderAndRead(t, callers) })
	t.Run("curl is enough to page, to watch, and to read what is wrong", func(t *testing.T) { pageAndWatch(t, addr) })
	t.Run("grpcurl finds what there is to call", func(t *testing.T) { reflect(t, grpcurl, addr) })
	t.Run("pages of other origins are refused", func(t *testing.T) { refuseOrigin(t, browser, page, addr) })
	t.Run("the page follows orders through a crash", func(t *testing.T) { followThroughCrash(t, browser, page) })
}

func orderAndRead(t *testing.T, callers []caller) {
	made := map[string]*ordersv1.Order{}
	for i, c := range callers {
		t.Run(c.name+" orders", func(t *testing.T) {
			o := &ordersv1.CreateOrderRequest{
				OrderId: fmt.Sprintf("by-client-%d", i), UserName: "Žofie, " + c.name, CurrencyCode: "EUR",
				Lines: []*ordersv1.OrderLine{{Sku: "tea", Title: "Grüner Tee 🍵", Quantity: int32(i + 1), UnitPriceMinor: 450}},
			}
			id := c.order(t, o)
			made[id] = c.read(t, o.UserName, id)
			want := &ordersv1.Order{
				OrderId: id, UserName: o.UserName, Lines: o.Lines, Status: ordersv1.OrderStatus_ORDER_STATUS_PAID,
			}
			got := proto.CloneOf(made[id])
			got.Total, got.Balance, got.CreateTime, got.UpdateTime, got.Revision = nil, nil, nil, nil, 0
			if !proto.Equal(got, want) || made[id].GetTotal().GetMinorUnits() != int64(450*(i+1)) || made[id].GetCreateTime() == nil {
				t.Errorf("it reads %v of what it ordered, %v", made[id], o)
			}
		})
	}
	for _, c := range callers {
		t.Run(c.name+" reads what all ordered", func(t *testing.T) {
			for id, o := range maps.All(made) {
				if got := c.read(t, o.GetUserName(), id); !proto.Equal(got, o) {
					t.Errorf("it reads %v, and who ordered read %v", got, o)
				}
			}
		})
	}
	if len(made) != len(callers) {
		t.Errorf("%d clients made %d orders", len(callers), len(made))
	}
}

// serve runs the program with both services on one port, and gives its address.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	args = append([]string{"--listen", "127.0.0.1:0", "--store", "sqlite:" + filepath.Join(t.TempDir(), "orders.db")}, args...)
	p := start(t, args...)
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the program said:\n%s", p.Said())
		}
	})
	return p.Addr()
}

func start(t *testing.T, args ...string) *program.Program {
	t.Helper()
	p, err := program.Start(t.Context(), append([]string{"serve", "orders"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// servePage serves the built page, on an origin of its own.
func servePage(t *testing.T) (origin string) {
	t.Helper()
	const built = "web/dist"
	if _, err := os.Stat(built + "/main.js"); err != nil {
		t.Fatalf("the page is not built: run make web (%v)", err)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(built)))
	t.Cleanup(s.Close)
	return s.URL
}

// elsewhere is the same page on another origin: another name of its host.
func elsewhere(origin string) string { return strings.Replace(origin, "127.0.0.1", "localhost", 1) }

// goClients are those of package clients.
func goClients(t *testing.T, addr string) (all []caller) {
	t.Helper()
	dialled, hangUp, err := clients.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hangUp(); err != nil {
			t.Error(err)
		}
	})
	for _, c := range dialled {
		all = append(all, caller{
			name: c.Name,
			order: func(t *testing.T, o *ordersv1.CreateOrderRequest) string {
				answer, err := c.CreateOrder(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				none := int64(0)
				for change, err := range c.WatchOrders(t.Context(), &ordersv1.WatchOrdersRequest{UserName: o.UserName, AfterRevision: &none}) {
					if err != nil {
						t.Fatalf("watch orders: %v", err)
					}
					if change.Order.OrderId == o.OrderId {
						break
					}
				}
				return answer.OrderId
			},
			read: func(t *testing.T, user, id string) *ordersv1.Order {
				one, err := c.GetOrder(t.Context(), &ordersv1.GetOrderRequest{OrderId: id})
				if err != nil {
					t.Fatal(err)
				}
				page, err := c.ListOrders(t.Context(), &ordersv1.ListOrdersRequest{UserName: user})
				if err != nil || len(page.Orders) != 1 || !proto.Equal(page.Orders[0], one.Order) {
					t.Fatalf("orders of %s: %v, %v; want one, %v", user, page, err, one.Order)
				}
				return one.Order
			},
		})
	}
	return all
}
