package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tare-bench/tare/store"
)

// orderChange is an order to add, or one to settle, that waits for its commit.
type orderChange struct{ *orderWork }

type orderWork struct {
	given  orderRow          // by its ID alone, where it is to be settled
	end    *store.Settlement // nil: it is to be added
	kept   orderRow
	answer error // of the store, to this change alone
	made   bool
}

func (c orderChange) size() int { return len(c.given.lines) }

// AddOrder implements store.Orders.
func (s *Store) AddOrder(ctx context.Context, o store.Order) (store.Order, error) {
	if err := o.CheckText(); err != nil {
		return store.Order{}, fmt.Errorf("add order: %w", err)
	}
	lines, err := store.FormatLines(o.Lines)
	if err != nil {
		return store.Order{}, err
	}
	created := instant(o.Created)
	return s.changeOrder(ctx, &orderWork{given: orderRow{
		order: store.Order{ID: o.ID, User: o.User, Total: o.Total, Created: created, Updated: created},
		lines: lines, status: statuses[store.OrderPending],
	}})
}

// SettleOrder implements store.Orders.
func (s *Store) SettleOrder(ctx context.Context, id string, end store.Settlement) (store.Order, error) {
	if err := end.Check(); err != nil {
		return store.Order{}, err
	}
	if err := store.CheckText(id); err != nil {
		return store.Order{}, store.ErrNotFound // no order has such an ID
	}
	return s.changeOrder(ctx, &orderWork{given: orderRow{order: store.Order{ID: id}}, end: &end})
}

func (s *Store) changeOrder(ctx context.Context, w *orderWork) (store.Order, error) {
	if err := s.orders.Do(ctx, orderChange{w}); err != nil {
		return store.Order{}, err
	}
	if w.answer != nil {
		return store.Order{}, w.answer
	}
	return w.kept.parse()
}

// commitOrders makes all of a batch durable. Of changes to one order each gets a
// transaction of its own, since a statement changes a row once.
func (s *Store) commitOrders(batch []orderChange) error {
	for len(batch) > 0 {
		var now, later []orderChange
		taken := make(map[string]bool, len(batch))
		for _, c := range batch {
			if id := c.given.order.ID; taken[id] {
				later = append(later, c)
			} else {
				taken[id] = true
				now = append(now, c)
			}
		}
		if err := s.write(func(ctx context.Context, conn *pgx.Conn) error { return s.writeOrders(ctx, conn, now) }); err != nil {
			return err
		}
		if err := s.readUnchanged(now); err != nil {
			return err
		}
		batch = later
	}
	return nil
}

// writeOrders sends one transaction, its commit included, in one round trip: the
// server takes what comes before the driver waits as one.
//
// It first takes a lock that is held until the commit, and draws revisions then.
// Drawn from the sequence alone, a revision could become visible after a greater
// one whose transaction was quicker, and who follows changes would miss it.
func (s *Store) writeOrders(ctx context.Context, conn *pgx.Conn, changes []orderChange) error {
	byID := make(map[string]orderChange, len(changes))
	var add addColumns
	var settle settleColumns
	for _, c := range changes {
		c.made, c.answer = false, nil
		byID[c.given.order.ID] = c
		if c.end == nil {
			add.add(&c.given)
		} else {
			settle.add(c.given.order.ID, c.end)
		}
	}
	var b pgx.Batch
	b.Queue(s.sql.lock, lockKey(s.schema, "revisions"))
	if len(add.ids) > 0 {
		b.Queue(s.sql.add, add.ids, add.users, add.lines, add.currencies, add.totals, add.created).Query(func(rows pgx.Rows) error {
			var id string
			var number, revision int64
			_, err := pgx.ForEachRow(rows, []any{&id, &number, &revision}, func() error {
				c := byID[id]
				c.kept, c.made = c.given, true
				c.kept.order.Number, c.kept.order.Revision = number, revision
				return nil
			})
			return err
		})
	}
	if len(settle.ids) > 0 {
		b.Queue(s.sql.settle, settle.ids, settle.statuses, settle.balances, settle.at).Query(func(rows pgx.Rows) error {
			return eachOrder(rows, func(row orderRow) {
				c := byID[row.order.ID]
				c.kept, c.made = row, true
			})
		})
	}
	return conn.SendBatch(ctx, &b).Close()
}

func eachOrder(rows pgx.Rows, do func(orderRow)) error {
	defer rows.Close()
	for rows.Next() {
		var row orderRow
		if err := row.scan(rows.Scan); err != nil {
			return err
		}
		do(row)
	}
	return rows.Err()
}

// readUnchanged answers the changes that changed nothing, by what was there. It
// reads after the commit: an order's content never changes, and an end is for
// good.
func (s *Store) readUnchanged(changes []orderChange) error {
	byID := map[string]orderChange{}
	var ids []string
	for _, c := range changes {
		if !c.made {
			c.answer = store.ErrNotFound
			byID[c.given.order.ID] = c
			ids = append(ids, c.given.order.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return s.write(func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, s.sql.byIDs, ids)
		if err != nil {
			return err
		}
		return eachOrder(rows, func(row orderRow) { byID[row.order.ID].was(row) })
	})
}

// was answers a change by what was there already.
func (c orderChange) was(row orderRow) {
	c.kept, c.answer = row, nil
	g, k := c.given, row
	switch {
	case c.end == nil:
		if k.order.User != g.order.User || k.order.Total != g.order.Total || k.lines != g.lines {
			c.answer = store.ErrExists
		}
	case k.status == statuses[store.OrderPending]: // it came after the settlement
		c.answer = store.ErrNotFound
	case k.status != statuses[c.end.Status] || k.order.Balance != c.end.Balance:
		c.answer = store.ErrExists
	}
}

// addColumns are orders to add, by column.
type addColumns struct {
	ids, users, lines, currencies []string
	totals                        []int64
	created                       []time.Time
}

func (a *addColumns) add(r *orderRow) {
	a.ids = append(a.ids, r.order.ID)
	a.users = append(a.users, r.order.User)
	a.lines = append(a.lines, r.lines)
	a.currencies = append(a.currencies, r.order.Total.Currency)
	a.totals = append(a.totals, r.order.Total.Minor)
	a.created = append(a.created, r.order.Created)
}

// settleColumns are orders to settle, by column.
type settleColumns struct {
	ids, statuses []string
	balances      []int64
	at            []time.Time
}

func (a *settleColumns) add(id string, end *store.Settlement) {
	a.ids = append(a.ids, id)
	a.statuses = append(a.statuses, statuses[end.Status])
	a.balances = append(a.balances, end.Balance)
	a.at = append(a.at, end.At)
}
