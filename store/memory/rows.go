package memory

import (
	"encoding/binary"

	"github.com/tare-bench/tare/store"
)

// Rows are canonical: equal records have equal rows, so that records are
// compared as bytes. The ID is the table's key and not part of the row.

func appendOrder(b []byte, o store.Order) []byte {
	b = appendString(b, o.User)
	b = appendMoney(b, o.Total)
	b = appendMoney(b, o.Balance)
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

func parseOrder(id string, row []byte) store.Order {
	r := reader(row)
	o := store.Order{ID: id, User: r.string(), Total: r.money(), Balance: r.money()}
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

func appendPayment(b []byte, p store.Payment) []byte {
	return appendMoney(appendString(b, p.User), p.Amount)
}

func appendBalance(content []byte, balance int64) []byte {
	return binary.LittleEndian.AppendUint64(content, uint64(balance))
}

func splitBalance(row []byte) (content []byte, balance int64) {
	n := len(row) - 8
	return row[:n], int64(binary.LittleEndian.Uint64(row[n:]))
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendMoney(b []byte, m store.Money) []byte {
	return binary.AppendVarint(appendString(b, m.Currency), m.Minor)
}

// reader is the rest of a row that this package wrote, so nothing in it can be
// short or malformed.
type reader []byte

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(*r)
	*r = (*r)[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(*r)
	*r = (*r)[n:]
	return v
}

func (r *reader) string() string {
	n := r.uvarint()
	s := string((*r)[:n])
	*r = (*r)[n:]
	return s
}

func (r *reader) money() store.Money { return store.Money{Currency: r.string(), Minor: r.varint()} }
