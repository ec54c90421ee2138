package orders

import (
	"encoding/hex"
	"math/rand/v2"
	"strconv"

	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
)

const (
	usersParam = "users"
	linesName  = "lines"
	mixedLines = "mixed"
	maxMixed   = 40   // lines of an order, where they are mixed
	maxLines   = 1000 // lines of any order
)

func linesParam() setting.Setting {
	fixed := setting.Int(linesName, "lines of each order; "+mixedLines+": 1 to "+strconv.Itoa(maxMixed)+", mostly few", 4, 1, maxLines)
	check := fixed.Check
	fixed.Default = mixedLines
	fixed.Takes = mixedLines + " or " + fixed.Takes
	fixed.Check = func(v string) error {
		if v == mixedLines {
			return nil
		}
		return check(v)
	}
	return fixed
}

// rates say how many of a currency's minor units ten euros buy, about.
var rates = map[string]int64{
	"EUR": 1000, "USD": 1100, "GBP": 860, "SEK": 11_200, "UAH": 45_000, "ILS": 4000,
	"KWD": 3300, "INR": 92_000, "JPY": 1600, "KRW": 15_000, "CNY": 7800,
}

// generator makes the calls of one seed. It holds nothing that changes.
type generator struct {
	seed  uint64
	users int
	lines int // 0: mixed
}

func newGenerator(params setting.Values, seed uint64) generator {
	g := generator{seed: seed, users: params.Int(usersParam)}
	if params[linesName] != mixedLines {
		g.lines = params.Int(linesName)
	}
	return g
}

func (g generator) random() *rand.Rand { return rand.New(rand.NewPCG(g.seed, 0x7a7265)) }

func (g generator) orders(yield func(workload.Call) bool) {
	random := g.random()
	for n := uint64(0); yield(g.order(random, n).call()); n++ {
	}
}

// payments gives, for each order of the same seed, the payment that it needs.
func (g generator) payments(yield func(workload.Call) bool) {
	random := g.random()
	for n := uint64(0); yield(g.order(random, n).payment().call()); n++ {
	}
}

func (g generator) order(random *rand.Rand, n uint64) *orderCall {
	c := customerOf(random.IntN(g.users))
	call := &orderCall{request: CreateOrderRequest{OrderID: newID(g.seed, n), UserName: c.name, CurrencyCode: c.currency}}
	lines := make([]OrderLine, g.lineCount(random))
	rate := rates[c.currency]
	for i := range lines {
		lines[i] = line(random, rate)
		call.total += int64(lines[i].Quantity) * lines[i].UnitPriceMinor
		call.items += int64(lines[i].Quantity)
	}
	call.request.Lines = lines
	return call
}

// lineCount is geometric, where lines are mixed: a quarter of the orders end
// with each line, so that the mean is close to 4.
func (g generator) lineCount(random *rand.Rand) int {
	if g.lines > 0 {
		return g.lines
	}
	n := 1
	for n < maxMixed && random.Uint32()%4 != 0 {
		n++
	}
	return n
}

// line buys 1 to 12 of an item, few more often than many, at up to a fifth off
// its price.
func line(random *rand.Rand, rate int64) OrderLine {
	draw := random.Uint64()
	it := &catalogue[uint32(draw)%uint32(len(catalogue))]
	quantity := 1 + int32(draw>>32&3)*int32(draw>>34&3) + int32(draw>>36&1)*int32(draw>>37&1)*2
	price := it.price * rate / 1000 * (100 - int64(draw>>40%21)) / 100
	return OrderLine{SKU: it.sku, Title: it.title, Quantity: quantity, UnitPriceMinor: max(1, price)}
}

// newID makes a UUID of version 8 (RFC 9562) that only this seed and n have:
// it is a permutation of 122 bits, n being below 2^58.
func newID(seed, n uint64) string {
	const low58 = 1<<58 - 1
	a, b := seed, n&low58
	for range 2 { // a Feistel network: each half, mixed, is added to the other
		a ^= mix(b)
		b ^= mix(a) & low58
	}
	high := a>>16<<16 | 0x8000 | a>>4&0x0fff // 48 + 12 bits of a
	low := 0b10<<62 | (a&0xf)<<58 | b        // its last 4 bits, and b
	var raw [16]byte
	var text [36]byte
	for i := range 8 {
		raw[i], raw[8+i] = byte(high>>(56-8*i)), byte(low>>(56-8*i))
	}
	at := 0
	for _, group := range [][]byte{raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:]} {
		if at > 0 {
			text[at] = '-'
			at++
		}
		at += hex.Encode(text[at:], group)
	}
	return string(text[:])
}

// mix scatters its argument's bits. Source: SplitMix64, Steele, Lea and Flood,
// Fast splittable pseudorandom number generators (2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
