package memory

import (
	"encoding/binary"
	"time"

	"github.com/tare-bench/tare/store"
)

// A row is a head of fixed size, which may change, and a content, which never
// does. Contents are canonical: equal records have equal ones, so that records
// are compared as bytes. The ID is the table's key and not part of the row.

const orderHeadSize = 5*8 + 1

// orderHead is what becomes of an order.
type orderHead struct {
	number, revision, balance int64
	created, updated          int64 // microseconds
	status                    store.OrderStatus
}

func (h orderHead) put(row []byte) {
	for i, v := range [...]int64{h.number, h.revision, h.balance, h.created, h.updated} {
		binary.LittleEndian.PutUint64(row[8*i:], uint64(v))
	}
	row[orderHeadSize-1] = byte(h.status)
}

func readOrderHead(row []byte) orderHead {
	return orderHead{
		number: word(row, 0), revision: word(row, 1), balance: word(row, 2), created: word(row, 3), updated: word(row, 4),
		status: store.OrderStatus(row[orderHeadSize-1]),
	}
}

// applyTo completes an order by what became of it.
func (h orderHead) applyTo(o store.Order) store.Order {
	o.Status, o.Balance, o.Number, o.Revision = h.status, h.balance, h.number, h.revision
	o.Created, o.Updated = instant(h.created), instant(h.updated)
	return o
}

func appendOrder(b []byte, o *store.Order) []byte {
	b = appendString(b, o.User)
	b = appendMoney(b, o.Total)
	b = binary.AppendUvarint(b, uint64(len(o.Lines)))
	for i := range o.Lines {
		l := &o.Lines[i]
		b = appendString(b, l.SKU)
		b = appendString(b, l.Title)
		b = binary.AppendVarint(b, int64(l.Quantity))
		b = binary.AppendVarint(b, l.UnitPriceMinor)
	}
	return b
}

func parseOrder(id string, content []byte) store.Order {
	r := reader{text: string(content), rest: content}
	o := store.Order{ID: id, User: r.string(), Total: r.money()}
	if n := r.uvarint(); n > 0 {
		o.Lines = make([]store.OrderLine, n)
	}
	for i := range o.Lines {
		o.Lines[i] = store.OrderLine{
			SKU: r.string(), Title: r.string(), Quantity: int32(r.varint()), UnitPriceMinor: r.varint(),
		}
	}
	return o
}

// The words of a payment's head, of which only refunded changes.
const (
	paymentBalance = iota
	paymentCreated
	paymentRefunded
	paymentHeadSize = 8 * iota
)

func appendPayment(b []byte, p store.Payment) []byte {
	return appendMoney(appendString(b, p.User), p.Amount)
}

func parsePayment(id string, content []byte) store.Payment {
	r := reader{text: string(content), rest: content}
	return store.Payment{ID: id, User: r.string(), Amount: r.money()}
}

// The words of a refund's row, which never change: what was asked for, what was
// given back, of the payment until then, and what the account held.
const (
	refundMinor = iota
	refundGiven
	refundUntil
	refundBalance
	refundSize = 8 * iota
)

// refundKey is of both IDs, with the length of the first, so that no two pairs
// have one key.
func refundKey(r store.Refund) string {
	b := make([]byte, 0, 64)
	return string(append(appendString(b, r.PaymentID), r.ID...))
}

func word(row []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(row[8*i:])) }

func setWord(row []byte, i int, v int64) { binary.LittleEndian.PutUint64(row[8*i:], uint64(v)) }

func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendMoney(b []byte, m store.Money) []byte {
	return binary.AppendVarint(appendString(b, m.Currency), m.Minor)
}

// reader reads a content that this package wrote, so nothing in it can be short
// or malformed. Its strings are parts of one, which is one allocation.
type reader struct {
	text string
	rest []byte
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	r.rest = r.rest[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.rest)
	r.rest = r.rest[n:]
	return v
}

func (r *reader) string() string {
	n := int(r.uvarint())
	start := len(r.text) - len(r.rest)
	r.rest = r.rest[n:]
	return r.text[start : start+n]
}

func (r *reader) money() store.Money { return store.Money{Currency: r.string(), Minor: r.varint()} }

func appendStrings(b []byte, all []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(all)))
	for _, s := range all {
		b = appendString(b, s)
	}
	return b
}

func (r *reader) strings() []string {
	n := r.uvarint()
	if n == 0 {
		return nil
	}
	all := make([]string, n)
	for i := range all {
		all[i] = r.string()
	}
	return all
}
