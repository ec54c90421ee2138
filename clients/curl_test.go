package clients_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
)

// patience is how long a command of another program may take; grpcurl is
// compiled the first time.
const patience = 5 * time.Minute

// run runs a command and gives what it prints.
func run(t *testing.T, in, name string, args ...string) string {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), patience)
	defer end()
	c := exec.CommandContext(ctx, name, args...)
	c.Stdin = strings.NewReader(in)
	out, err := c.Output()
	var failed *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		t.Fatalf("%v: run make servers, or install %s", err, name)
	case errors.As(err, &failed):
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, failed.Stderr, out)
	case err != nil:
		t.Fatal(err)
	}
	return string(out)
}

// read makes a message of JSON.
func read[M proto.Message](t *testing.T, text string, into M) M {
	t.Helper()
	if err := protojson.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return into
}

func written(t *testing.T, m proto.Message) string {
	t.Helper()
	text, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// curl is what a shell has.
func curl(t *testing.T, in string, args ...string) string {
	t.Helper()
	return run(t, in, "curl", append([]string{"-sS", "--max-time", "60"}, args...)...)
}

func post(t *testing.T, to, body string) string {
	t.Helper()
	return curl(t, body, "--fail-with-body", "-H", "Content-Type: application/json", "-d", "@-", to)
}

func withCurl(addr string) caller {
	orders := "http://" + addr + "/v1/orders"
	return caller{
		name: "curl",
		order: func(t *testing.T, o *ordersv1.CreateOrderRequest) string {
			return read(t, post(t, orders, written(t, o)), new(ordersv1.CreateOrderResponse)).OrderId
		},
		read: func(t *testing.T, user, id string) *ordersv1.Order {
			one := read(t, curl(t, "", "--fail-with-body", orders+"/"+id), new(ordersv1.GetOrderResponse)).Order
			page := read(t, curl(t, "", "--fail-with-body", orders+"?userName="+url.QueryEscape(user)), new(ordersv1.ListOrdersResponse))
			if len(page.Orders) != 1 || !proto.Equal(page.Orders[0], one) {
				t.Fatalf("orders of %s: %v; want one, %v", user, page, one)
			}
			return one
		},
	}
}

func pageAndWatch(t *testing.T, addr string) {
	orders := "http://" + addr + "/v1/orders"
	order := func(id string, quantity int) string {
		return fmt.Sprintf(`{"orderId": %q, "userName": "ada", "currencyCode": "EUR",
			"lines": [{"sku": "tea", "quantity": %d, "unitPriceMinor": "450"}]}`, id, quantity)
	}
	changes := watch(t, orders+":watch?afterRevision=0&userName=ada") // who has no order yet
	for _, id := range []string{"one", "two", "three"} {
		post(t, orders, order(id, 1))
	}
	for paid := map[string]bool{}; len(paid) < 3; {
		if o := changes(); o.Status == ordersv1.OrderStatus_ORDER_STATUS_PAID {
			paid[o.OrderId] = true
		}
	}

	var listed []string
	for more, token := true, ""; more; more = token != "" {
		page := read(t, curl(t, "", "--fail-with-body", orders+"?userName=ada&pageSize=2&pageToken="+token), new(ordersv1.ListOrdersResponse))
		for _, o := range page.Orders {
			listed = append(listed, o.OrderId)
		}
		token = page.NextPageToken
	}
	if want := []string{"three", "two", "one"}; !cmp.Equal(listed, want) {
		t.Errorf("pages list %v, want %v", listed, want)
	}

	isProblem(t, curl(t, order("four", 0), "-d", "@-", "-H", "Content-Type: application/json", "-w", says, orders),
		problem{400, "INVALID_ARGUMENT", []violation{{"lines[0].quantity", "INT32_GT_LTE"}}})
	isProblem(t, curl(t, "", "-w", says, orders+"/four"), problem{404, "NOT_FOUND", nil})
}

// watch gives the changes that curl prints, one by one.
func watch(t *testing.T, at string) (next func() *ordersv1.Order) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "curl", "-sSN", "--max-time", "60", at)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // killed
	})
	lines := bufio.NewScanner(out)
	return func() *ordersv1.Order {
		if !lines.Scan() {
			t.Fatalf("the watch ended: %v", lines.Err())
		}
		var line struct{ Result json.RawMessage }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		return read(t, string(line.Result), new(ordersv1.WatchOrdersResponse)).Order
	}
}

type violation struct{ Field, Reason string }

// problem is what a program reads of problem details.
type problem struct {
	Status     int
	Code       string
	Violations []violation
}

// says has curl add what isProblem reads beside the body.
const says = "\n%{http_code} %{content_type}"

func isProblem(t *testing.T, answer string, want problem) {
	t.Helper()
	body, beside, _ := strings.Cut(answer, "\n")
	var got problem
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	if beside != fmt.Sprintf("%d application/problem+json", want.Status) || !cmp.Equal(got, want) {
		t.Errorf("it answers %s\nwant %+v", answer, want)
	}
}
