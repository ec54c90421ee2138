package postgres

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tare-bench/tare/store"
)

// putCall is a call of PutStatements that waits for its commit.
type putCall struct{ *putWork }

type putWork struct {
	given    []store.Statement
	bytes    int
	outcomes []store.Outcome
}

func (c putCall) size() int { return c.bytes }

// PutStatements implements store.Statements. A call is one transaction or a part
// of one, whatever ?commit= says: with each it is not shared with other calls.
// Where the answer of a commit was lost and it is asked for again, what it kept
// is found unchanged.
func (s *Store) PutStatements(ctx context.Context, all []store.Statement) ([]store.Outcome, error) {
	own, size, err := store.OwnStatements(all)
	if err != nil {
		return nil, err
	}
	c := putCall{&putWork{given: own, bytes: size, outcomes: make([]store.Outcome, len(own))}}
	if len(own) == 0 {
		return c.outcomes, ctx.Err()
	}
	if err := s.puts.Do(ctx, c); err != nil {
		return nil, err
	}
	return c.outcomes, nil
}

// commitPuts makes all of a batch durable, its calls one after the other.
func (s *Store) commitPuts(batch []putCall) error {
	m := newMerged(batch)
	return s.write(func(ctx context.Context, conn *pgx.Conn) error { return s.writePuts(ctx, conn, m) })
}

// writePuts sends one transaction in one round trip, as writeOrders does. It
// takes a lock until the commit, so that numbers become visible in their order,
// and that nothing changes between what is compared and what is written.
func (s *Store) writePuts(ctx context.Context, conn *pgx.Conn, m *merged) error {
	var newest int64
	var b pgx.Batch
	b.Queue(s.sql.lockPuts, lockKey(s.schema, "statements"))
	b.Queue(s.sql.newestStatement).QueryRow(func(row pgx.Row) error { return row.Scan(&newest) })
	b.Queue(s.sql.put, m.first.ids, m.first.subjects, m.first.bodies, m.first.updated).Query(func(rows pgx.Rows) error {
		for _, o := range m.outcomes {
			*o = store.Unchanged
		}
		var n, number int64
		_, err := pgx.ForEachRow(rows, []any{&n, &number}, func() error {
			if *m.outcomes[n-1] = store.Replaced; number > newest {
				*m.outcomes[n-1] = store.Added
			}
			return nil
		})
		return err
	})
	if len(m.last.ids) > 0 {
		b.Queue(s.sql.putLast, m.last.ids, m.last.subjects, m.last.bodies, m.last.updated)
	}
	return conn.SendBatch(ctx, &b).Close()
}

// merged are the statements of a batch by column, for an array binds faster than
// its rows: those that come first under their IDs, of which the server finds out
// what becomes, and for IDs that change again in the batch what they end as. A
// statement of SQL changes a row once.
type merged struct {
	first, last putColumns
	outcomes    []*store.Outcome // of the first
}

type putColumns struct {
	ids, subjects []string
	bodies        [][]byte
	updated       []time.Time
}

func (c *putColumns) add(s *store.Statement) {
	c.ids, c.subjects = append(c.ids, s.ID), append(c.subjects, s.Subject)
	c.bodies, c.updated = append(c.bodies, s.Body), append(c.updated, s.Updated)
}

func newMerged(batch []putCall) *merged {
	m := new(merged)
	n := 0
	for _, c := range batch {
		n += len(c.given)
	}
	newest := make(map[string]*store.Statement, n)
	var again []string // in their order, and some twice
	for _, c := range batch {
		for i := range c.given {
			g := &c.given[i]
			was := newest[g.ID]
			switch {
			case was == nil:
				m.first.add(g)
				m.outcomes = append(m.outcomes, &c.outcomes[i])
			case was.Subject == g.Subject && bytes.Equal(was.Body, g.Body):
				c.outcomes[i] = store.Unchanged
				continue
			default:
				c.outcomes[i] = store.Replaced
				again = append(again, g.ID)
			}
			newest[g.ID] = g
		}
	}
	for _, id := range again {
		if last := newest[id]; last != nil {
			m.last.add(last)
			delete(newest, id)
		}
	}
	return m
}
