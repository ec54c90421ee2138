package orders

import "github.com/tare-bench/tare/rpc"

// Keys are bounded, so that every store can index them.
const (
	maxID       = 128 // bytes
	maxUserName = 256 // bytes
)

func invalid(format string, args ...any) error {
	return rpc.Errorf(rpc.InvalidArgument, format, args...)
}

// validate refuses what is no order, naming the field as the schema does, and
// gives the order's total.
func (r *CreateOrderRequest) validate() (total int64, err error) {
	if err := validKeys("order_id", r.OrderID, r.UserName); err != nil {
		return 0, err
	}
	if err := validCurrency("currency_code", r.CurrencyCode); err != nil {
		return 0, err
	}
	if len(r.Lines) == 0 {
		return 0, invalid("lines must not be empty")
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		switch {
		case l.SKU == "":
			return 0, invalid("lines[%d].sku must not be empty", i)
		case l.Quantity <= 0:
			return 0, invalid("lines[%d].quantity must be greater than 0, is %d", i, l.Quantity)
		case l.UnitPriceMinor < 0:
			return 0, invalid("lines[%d].unit_price_minor must not be negative, is %d", i, l.UnitPriceMinor)
		}
		var fits bool
		if total, fits = addProduct(total, int64(l.Quantity), l.UnitPriceMinor); !fits {
			return 0, invalid("lines[%d].unit_price_minor takes the total beyond 64 bits", i)
		}
	}
	if total == 0 {
		return 0, invalid("lines must cost more than 0 together")
	}
	return total, nil
}

// validate refuses what is no payment, naming the field as the schema does.
func (r *MakePaymentRequest) validate() error {
	if err := validKeys("payment_id", r.PaymentID, r.UserName); err != nil {
		return err
	}
	if err := validCurrency("amount.currency_code", r.Amount.CurrencyCode); err != nil {
		return err
	}
	if r.Amount.MinorUnits <= 0 {
		return invalid("amount.minor_units must be greater than 0, is %d", r.Amount.MinorUnits)
	}
	return nil
}

func validKeys(idField, id, user string) error {
	switch {
	case id == "":
		return invalid("%s must not be empty", idField)
	case len(id) > maxID:
		return invalid("%s must not be longer than %d bytes, is %d", idField, maxID, len(id))
	case user == "":
		return invalid("user_name must not be empty")
	case len(user) > maxUserName:
		return invalid("user_name must not be longer than %d bytes, is %d", maxUserName, len(user))
	}
	return nil
}

func validCurrency(field, code string) error {
	ok := len(code) == 3
	for i := range len(code) {
		ok = ok && 'A' <= code[i] && code[i] <= 'Z'
	}
	if !ok {
		return invalid("%s must be three upper-case letters, is %q", field, code)
	}
	return nil
}
