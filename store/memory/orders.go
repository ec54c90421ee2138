package memory

import (
	"context"
	"time"

	"github.com/tare-bench/tare/store"
)

// AddOrder implements store.Orders.
func (s *Store) AddOrder(ctx context.Context, o store.Order) (store.Order, error) {
	if err := ctx.Err(); err != nil {
		return store.Order{}, err
	}
	var room [512]byte // most orders fit, so that encoding one allocates nothing
	row := appendOrder(room[:orderHeadSize], &o)
	head := orderHead{status: store.OrderPending, created: o.Created.UnixMicro(), updated: o.Created.UnixMicro()}
	sh := s.orders.shardOf(o.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if kept, ok := sh.find(o.ID); ok {
		if string(kept[orderHeadSize:]) != string(row[orderHeadSize:]) {
			return store.Order{}, store.ErrExists
		}
		return readOrderHead(kept).applyTo(o), nil
	}
	kept, at := sh.add(o.ID, row)
	head.number, head.revision = s.journal.add(at, s.orders.hash(o.User), head.created)
	head.put(kept)
	return head.applyTo(o), nil
}

// SettleOrder implements store.Orders.
func (s *Store) SettleOrder(ctx context.Context, id string, end store.Settlement) (store.Order, error) {
	if err := ctx.Err(); err != nil {
		return store.Order{}, err
	}
	if err := end.Check(); err != nil {
		return store.Order{}, err
	}
	head, content, err := s.settle(id, end)
	if err != nil {
		return store.Order{}, err
	}
	return head.applyTo(parseOrder(id, content)), nil
}

func (s *Store) settle(id string, end store.Settlement) (head orderHead, content []byte, err error) {
	sh := s.orders.shardOf(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	row, ok := sh.find(id)
	if !ok {
		return head, nil, store.ErrNotFound
	}
	head = readOrderHead(row)
	switch {
	case head.status == store.OrderPending:
		head.status, head.balance, head.updated = end.Status, end.Balance, end.At.UnixMicro()
		head.revision = s.journal.settle(head.number, head.revision)
		head.put(row)
	case head.status != end.Status || head.balance != end.Balance:
		return head, nil, store.ErrExists
	}
	return head, row[orderHeadSize:], nil
}

// OrderByID implements store.Orders.
func (s *Store) OrderByID(ctx context.Context, id string) (store.Order, error) {
	if err := ctx.Err(); err != nil {
		return store.Order{}, err
	}
	sh := s.orders.shardOf(id)
	sh.mu.Lock()
	row, ok := sh.find(id)
	if !ok {
		sh.mu.Unlock()
		return store.Order{}, store.ErrNotFound
	}
	head := readOrderHead(row)
	sh.mu.Unlock()
	return head.applyTo(parseOrder(id, row[orderHeadSize:])), nil
}

// OrdersBefore implements store.OrderLists.
func (s *Store) OrdersBefore(ctx context.Context, user string, before int64, limit int) (orders []store.Order, err error) {
	hash := s.orders.hash(user)
	for next := before; next > 1 && len(orders) < limit; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var found []place
		if user == "" {
			found, next = s.journal.before(next, limit-len(orders))
		} else {
			found, next = s.journal.beforeOf(hash, next, limit-len(orders))
		}
		for _, p := range found {
			if o := s.at(p.at); user == "" || o.User == user {
				orders = append(orders, o)
			}
		}
	}
	return orders, ctx.Err()
}

// ChangesAfter implements store.OrderLists.
func (s *Store) ChangesAfter(ctx context.Context, after int64, limit int) (orders []store.Order, err error) {
	for more := true; more && len(orders) < limit; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var found []place
		found, after, more = s.journal.after(after, limit-len(orders))
		for _, p := range found {
			// Where it has changed since, it comes again with its later revision.
			if o := s.at(p.at); o.Revision == p.revision {
				orders = append(orders, o)
			}
		}
	}
	return orders, ctx.Err()
}

// PendingBefore implements store.OrderLists.
func (s *Store) PendingBefore(ctx context.Context, t time.Time, limit int) (orders []store.Order, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, p := range s.journal.pendingBefore(t.UnixMicro(), limit) {
		if o := s.at(p.at); o.Status == store.OrderPending {
			orders = append(orders, o)
		}
	}
	return orders, nil
}

// at gives the order that the journal knows by a reference.
func (s *Store) at(r ref) store.Order {
	sh := s.orders.shardAt(r)
	sh.mu.Lock()
	key, row := sh.at(r)
	head := readOrderHead(row)
	sh.mu.Unlock()
	return head.applyTo(parseOrder(string(key), row[orderHeadSize:]))
}
