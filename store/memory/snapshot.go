package memory

import "context"

// snapshot walks records as they stood when it began.
type snapshot struct {
	of     *versions
	commit int64
	group  string // or "": all
	hash   uint64
	next   int64 // the number to look at, or the node; 0 at the end of a chain
	end    int64 // the last number that there was
}

// snapshot begins above a number. Who asks for it closes it.
func (v *versions) snapshot(group string, after int64) *snapshot {
	v.mu.RLock()
	defer v.mu.RUnlock()
	v.readers.Add(1) // with the lock: a writer has it alone, and sees the reader or comes before it
	s := &snapshot{of: v, commit: v.commit, group: group, end: v.rows.len()}
	after = min(max(after, 0), s.end)
	s.next = after + 1
	if group == "" {
		return s
	}
	s.hash = v.hash(group)
	s.next = v.groups[s.hash].first
	// Who turns pages asks after a record of the same group.
	if after > 0 {
		if n := v.nodes.at(v.rows.at(after).node); n.group == s.hash {
			s.next = n.after
		}
	}
	for s.next != 0 && v.nodes.at(s.next).number <= after {
		s.next = v.nodes.at(s.next).after
	}
	return s
}

func (s *snapshot) close() { s.of.readers.Add(-1) }

// more appends some of the versions that come next, and says whether there may
// be others. It holds the lock for some microseconds.
func (s *snapshot) more(found []version) ([]version, bool) {
	const some = 64
	v := s.of
	v.mu.RLock()
	defer v.mu.RUnlock()
	for range some {
		number := s.next
		if s.group != "" && s.next != 0 {
			n := v.nodes.at(s.next)
			number, s.next = n.number, n.after
		} else if s.group == "" {
			s.next++
		}
		if number == 0 || number > s.end {
			return found, false
		}
		e := v.at(v.rows.at(number).at)
		for e.commit > s.commit {
			e = v.at(e.older)
		}
		if s.group == "" || string(e.group) == s.group {
			found = append(found, e)
		}
	}
	return found, true
}

// each hands every version to do, until one is the last or do says so.
func (s *snapshot) each(ctx context.Context, do func(*version) error) error {
	var found []version
	for more := true; more; {
		if err := ctx.Err(); err != nil { // there may be none to hand over
			return err
		}
		found, more = s.more(found[:0])
		for i := range found {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(&found[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// before gives at most limit newest versions whose number is below one, from the
// highest: those of a group, or where it is "" of all; next is what to go on
// before.
func (v *versions) before(group string, number int64, limit int) (found []version, next int64, more bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	next = min(number, v.rows.len()+1)
	if group == "" {
		for len(found) < min(limit, step) && next > 1 {
			next--
			found = append(found, v.at(v.rows.at(next).at))
		}
		return found, next, next > 1
	}
	hash := v.hash(group)
	at := v.groups[hash].last
	if 0 < next && next <= v.rows.len() { // who turns pages asks before a record of the same group
		if own := v.rows.at(next).node; v.nodes.at(own).group == hash {
			at = own
		}
	}
	for at != 0 && v.nodes.at(at).number >= next {
		at = v.nodes.at(at).before
	}
	for n := 0; n < step && len(found) < limit && at != 0; n++ {
		next = v.nodes.at(at).number
		if e := v.at(v.rows.at(next).at); string(e.group) == group {
			found = append(found, e)
		}
		at = v.nodes.at(at).before
	}
	return found, next, at != 0
}
