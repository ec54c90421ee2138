package clients_test

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
)

// browsers are names of headless browsers, or of browsers that can be.
var browsers = []string{"chromium-headless-shell", "headless_shell", "headless-shell", "chromium", "chromium-browser", "google-chrome"}

// tab is a browser's, with the protocol that is chosen on the page in it.
type tab struct {
	ctx      context.Context
	protocol string
}

// browse opens a browser, and in it a tab.
func browse(t *testing.T) tab {
	t.Helper()
	var path string
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatalf("no browser: run make servers, or install one of %s", strings.Join(browsers, ", "))
	}
	ctx, end := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))...)
	t.Cleanup(end)
	ctx, end = chromedp.NewContext(ctx)
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open %s: %v", path, err)
	}
	return tab{ctx, ""}
}

func (b tab) open(t *testing.T, page, addr string) {
	t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Navigate(page+"/?address="+url.QueryEscape("http://"+addr))); err != nil {
		t.Fatal(err)
	}
}

// inBrowser gives a person at the page, by each protocol that the page speaks.
func inBrowser(t *testing.T, b tab, page, addr string) (all []caller) {
	t.Helper()
	b.open(t, page, addr)
	for _, protocol := range []string{"Connect", "Connect, JSON", "gRPC-Web"} {
		b := tab{b.ctx, protocol}
		all = append(all, caller{"browser, " + protocol, b.order, b.read})
	}
	return all
}

// order fills in the form and awaits the order in the list, which follows
// changes.
func (b tab) order(t *testing.T, o *ordersv1.CreateOrderRequest) string {
	t.Helper()
	b.become(t, o.UserName)
	line := o.Lines[0]
	b.fill(t, "order", "sku", line.Sku)
	b.fill(t, "order", "title", line.Title)
	b.fill(t, "order", "quantity", strconv.Itoa(int(line.Quantity)))
	b.fill(t, "order", "price", fmt.Sprintf("%d.%02d", line.UnitPriceMinor/100, line.UnitPriceMinor%100))
	b.fill(t, "order", "currency", o.CurrencyCode)
	b.press(t, "#order button")
	b.await(t, "outcome", `it.textContent !== ""`)
	b.await(t, "orders", `it.rows.length === 1`)
	return strings.TrimPrefix(b.evaluate(t, `document.querySelector("#orders tr").id`), "order-")
}

// read has the list of that user and opens the order.
func (b tab) read(t *testing.T, user, id string) *ordersv1.Order {
	t.Helper()
	b.become(t, user)
	b.await(t, "orders", `document.getElementById("order-`+id+`")`)
	b.press(t, "#order-"+id)
	detail := b.await(t, "detail", `it.textContent.includes("`+id+`") && it.textContent`)
	return read(t, detail, new(ordersv1.GetOrderResponse)).Order
}

// become chooses protocol and user, and awaits that the user's orders are
// followed.
func (b tab) become(t *testing.T, user string) {
	t.Helper()
	b.evaluate(t, `(() => { for (const id of ["news", "detail", "outcome"]) document.getElementById(id).textContent = ""; return "" })()`)
	b.fill(t, "service", "protocol", b.protocol)
	b.fill(t, "service", "user", user)
	b.await(t, "news", `it.textContent !== ""`)
}

// fill does what a person does who fills in a field and leaves it.
func (b tab) fill(t *testing.T, form, field, value string) {
	t.Helper()
	b.evaluate(t, fmt.Sprintf(`(() => {
		const field = document.forms[%q].elements[%q];
		field.value = %q;
		field.dispatchEvent(new Event("input", { bubbles: true }));
		field.dispatchEvent(new Event("change", { bubbles: true }));
		return "";
	})()`, form, field, value))
}

func (b tab) press(t *testing.T, selector string) {
	t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		t.Fatalf("press %s: %v", selector, err)
	}
}

// await waits until an expression of an element, it, is true, or the element
// shows a failure.
func (b tab) await(t *testing.T, id, holds string) string {
	t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Poll[string](fmt.Sprintf(
		`(it => it.dataset.failed !== undefined ? "failed: " + it.textContent : (%s) ? it.textContent || "so" : "")(document.getElementById(%q))`,
		holds, id), chromedp.WithPollingMutation(), chromedp.WithPollingTimeout(time.Minute)))
	if err != nil || strings.HasPrefix(text, "failed: ") {
		t.Fatalf("%s: await %s of #%s: %v %s", b.protocol, holds, id, err, text)
	}
	return text
}

func (b tab) evaluate(t *testing.T, expression string) string {
	t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return text
}

// refuseOrigin: scripts of an origin that the service was not told of read
// nothing of it.
func refuseOrigin(t *testing.T, b tab, page, addr string) {
	for origin, want := range map[string]string{
		page:            "Watching.",
		elsewhere(page): "Failed to fetch",
	} {
		for _, protocol := range []string{"Connect", "gRPC-Web"} {
			b.open(t, origin, addr)
			b.fill(t, "service", "protocol", protocol)
			news, err := chromedp.Run(b.ctx, chromedp.Poll[string](`document.getElementById("news").textContent`, chromedp.WithPollingMutation()))
			if err != nil || !strings.Contains(news, want) {
				t.Errorf("from %s over %s: the page says %q, %v; want %q", origin, protocol, news, err, want)
			}
		}
	}
}

// followThroughCrash kills the service that the page watches: once it is back,
// the page shows what was ordered since.
func followThroughCrash(t *testing.T, b tab, page string) {
	args := []string{"--cors-origin", page, "--store", "sqlite:" + filepath.Join(t.TempDir(), "orders.db"), "--listen"}
	p := start(t, append(args, "127.0.0.2:0")...)
	b.open(t, page, p.Addr())
	b.protocol = "gRPC-Web"
	b.become(t, "ada")
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	b.await(t, "news", `it.textContent.includes("away")`)
	p = start(t, append(args, p.Addr())...)
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	post(t, "http://"+p.Addr()+"/v1/orders", `{"orderId": "since", "userName": "ada", "currencyCode": "EUR",
		"lines": [{"sku": "tea", "quantity": 1, "unitPriceMinor": "450"}]}`)
	b.await(t, "orders", `it.textContent.includes("since")`)
}
