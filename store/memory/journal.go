package memory

import "sync"

// journal tells in which order orders came and changed. Its parts are without
// pointers, or few; it is locked for some tens of nanoseconds at a time.
//
// Who adds or settles an order holds the order's shard until the journal has
// the change: so a reader of the journal, who looks at the order afterwards,
// waits until the order is as the journal says, or later.
type journal struct {
	mu       sync.Mutex
	arrivals sequence[arrival]
	changes  sequence[int64]  // by revision: the order's number, or 0 where it has changed since
	newest   map[uint64]int64 // by hash of the user: the number of the newest order
	pending  queue
	ended    int // in pending and not pending any more
}

// arrival is an order, by its number.
type arrival struct {
	at      ref
	older   int64 // number of the next older order whose user has the same hash, or 0
	user    uint64
	pending bool
}

func newJournal() *journal { return &journal{newest: map[uint64]int64{}} }

// add draws the number and the revision of a new order.
func (j *journal) add(at ref, user uint64, created int64) (number, revision int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	number = j.arrivals.len() + 1
	j.arrivals.add(arrival{at: at, older: j.newest[user], user: user, pending: true})
	j.newest[user] = number
	j.changes.add(number)
	j.pending.push(waiting{created, number})
	return number, j.changes.len()
}

// settle draws the revision of an order's end, which replaces an older one.
func (j *journal) settle(number, replaced int64) (revision int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.arrivals.at(number).pending = false
	*j.changes.at(replaced) = 0
	j.changes.add(number)
	j.ended++
	for len(j.pending) > 0 && !j.arrivals.at(j.pending[0].number).pending {
		j.pending.pop()
		j.ended--
	}
	// One order that stays pending for long keeps those after it from the top.
	if j.ended > 1024 && j.ended > len(j.pending)/2 {
		j.pending.keep(func(w waiting) bool { return j.arrivals.at(w.number).pending })
		j.ended = 0
	}
	return j.changes.len()
}

// step is how many entries a reader walks past while it holds the journal.
const step = 1024

// place is an order that a reader of the journal found.
type place struct {
	at       ref
	revision int64
}

// after gives the places of at most limit changes above a revision, and the
// revision down to which all were looked at; more says that there are others.
func (j *journal) after(revision int64, limit int) (found []place, upTo int64, more bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	upTo = max(revision, 0)
	for n := 0; upTo < j.changes.len() && n < step && len(found) < limit; n++ {
		upTo++
		if number := *j.changes.at(upTo); number != 0 {
			found = append(found, place{j.arrivals.at(number).at, upTo})
		}
	}
	return found, upTo, upTo < j.changes.len()
}

// before gives the places of at most limit orders whose number is below one,
// from the highest; next is what to go on before, 1 or less at
// the end.
func (j *journal) before(number int64, limit int) (found []place, next int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	next = min(number, j.arrivals.len()+1)
	for len(found) < min(limit, step) && next > 1 {
		next--
		found = append(found, place{at: j.arrivals.at(next).at})
	}
	return found, next
}

// beforeOf is before for the orders whose user has a hash. Who turns pages asks
// before an order of the same user, from which the older ones hang on a chain.
func (j *journal) beforeOf(user uint64, number int64, limit int) (found []place, next int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	next = min(number, j.arrivals.len()+1)
	for n := 0; n < step && len(found) < limit && next > 1; n++ {
		if next > j.arrivals.len() {
			next = j.newest[user]
		} else if a := j.arrivals.at(next); a.user == user {
			next = a.older
		} else {
			next--
		}
		if next < 1 {
			break
		}
		if a := j.arrivals.at(next); a.user == user {
			found = append(found, place{at: a.at})
		}
	}
	return found, next
}

// pendingBefore gives the places of at most limit pending orders that were
// created before an instant, the oldest first.
func (j *journal) pendingBefore(created int64, limit int) (found []place) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var taken []waiting
	for len(j.pending) > 0 && j.pending[0].created < created && len(found) < limit {
		w := j.pending.pop()
		if a := j.arrivals.at(w.number); a.pending {
			found = append(found, place{at: a.at})
			taken = append(taken, w)
		} else {
			j.ended--
		}
	}
	for _, w := range taken {
		j.pending.push(w)
	}
	return found
}
