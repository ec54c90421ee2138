package memory

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
	"sync/atomic"
)

const (
	versionChunk = 256 << 10
	// An entry is: the position of the version before it, the commit that made
	// it, its number, when it came (8 bytes each), the lengths of ID, group and
	// body (4 each), and these three.
	versionHeader = 4*8 + 3*4
)

// versions keep records that change, each as it was at every commit that a
// reader still looks at: so a reader of a million sees them as they stood when
// it began, and writers do not wait for it. Entries never change once they are
// written, and may be read without the lock; nothing here is a pointer but the
// chunks, as in a table.
type versions struct {
	hash func(text string) uint64

	mu     sync.RWMutex
	chunks []chunk
	filled int              // the chunk that is
	unused []int            // chunks that are freed
	rows   sequence[row]    // by number
	newest map[uint64]int64 // by hash of an ID: the newest number of it
	groups map[uint64]ends
	nodes  sequence[node]
	commit int64 // the newest

	readers     atomic.Int64 // who look at older versions; changed with mu held by readers too
	bytes, dead int64        // written and not freed; of these, of versions that were replaced
}

// chunk holds entries one after the other.
type chunk struct {
	entries []byte
	dead    int
}

// row is where a record is.
type row struct {
	at       position // of its newest version
	sameHash int64    // the next older number whose ID has the same hash, or 0
	node     int64    // of the group that it first was of
}

// node is a record in the chain of a group, lowest number first. One that leaves
// its group keeps its node, which readers pass over: older versions are of it.
type node struct {
	number, before, after int64 // the latter two are nodes, or 0
	group                 uint64
}

type ends struct{ first, last int64 }

func newVersions() *versions {
	seed := maphash.MakeSeed()
	return newVersionsOf(func(text string) uint64 { return maphash.String(seed, text) })
}

func newVersionsOf(hash func(string) uint64) *versions {
	return &versions{hash: hash, newest: map[uint64]int64{}, groups: map[uint64]ends{}}
}

// version is an entry, read. Its slices are parts of a chunk: they stay, and are
// not to be written to.
type version struct {
	older          position
	commit, number int64
	updated        int64 // microseconds
	id, group      []byte
	body           []byte
}

func (v *versions) at(p position) version {
	entry := v.chunks[(p-1)>>32].entries[uint32(p-1):]
	word := func(i int) int64 { return int64(binary.LittleEndian.Uint64(entry[8*i:])) }
	length := func(i int) int { return int(binary.LittleEndian.Uint32(entry[4*8+4*i:])) }
	id := versionHeader + length(0)
	group := id + length(1)
	body := group + length(2)
	return version{
		older: position(word(0)), commit: word(1), number: word(2), updated: word(3),
		id: entry[versionHeader:id:id], group: entry[id:group:group], body: entry[group:body:body],
	}
}

func (e *version) size() int { return versionHeader + len(e.id) + len(e.group) + len(e.body) }

// find gives the number and newest version of an ID.
func (v *versions) find(id string) (found version, ok bool) {
	for n := v.newest[v.hash(id)]; n != 0; {
		r := v.rows.at(n)
		if found = v.at(r.at); string(found.id) == id {
			return found, true
		}
		n = r.sameHash
	}
	return version{}, false
}

// add keeps a record under an ID that has none, in the commit that begins after
// the newest, and gives its number. Who calls it holds mu, and ends the commit.
func (v *versions) add(id, group string, body []byte, updated int64) int64 {
	number, hash := v.rows.len()+1, v.hash(id)
	at := v.write(&version{commit: v.commit + 1, number: number, updated: updated}, id, group, body)
	v.rows.add(row{at: at, sameHash: v.newest[hash], node: v.join(v.hash(group), number)})
	v.newest[hash] = number
	return number
}

// replace puts another version in the place of one that find gave, likewise.
func (v *versions) replace(old version, group string, body []byte, updated int64) {
	r := v.rows.at(old.number)
	e := &version{commit: v.commit + 1, number: old.number, updated: updated}
	if v.readers.Load() > 0 {
		e.older = r.at
	}
	v.bury(r.at, old.size())
	r.at = v.write(e, string(old.id), group, body)
	if group != string(old.group) {
		v.join(v.hash(group), old.number)
	}
}

// write appends an entry.
func (v *versions) write(e *version, id, group string, body []byte) position {
	need := versionHeader + len(id) + len(group) + len(body)
	if len(v.chunks) == 0 || cap(v.chunks[v.filled].entries)-len(v.chunks[v.filled].entries) < need {
		v.fillAnother(need)
	}
	n := v.filled
	b := v.chunks[n].entries
	at := position(1 + n<<32 + len(b))
	for _, word := range [...]int64{int64(e.older), e.commit, e.number, e.updated} {
		b = binary.LittleEndian.AppendUint64(b, uint64(word))
	}
	for _, length := range [...]int{len(id), len(group), len(body)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(length))
	}
	b = append(b, id...)
	b = append(b, group...)
	v.chunks[n].entries = append(b, body...)
	v.bytes += int64(need)
	return at
}

// fillAnother begins a chunk with so much room.
func (v *versions) fillAnother(need int) {
	another := chunk{entries: make([]byte, 0, max(versionChunk, need))}
	if last := len(v.unused) - 1; last >= 0 {
		v.filled, v.unused = v.unused[last], v.unused[:last]
		v.chunks[v.filled] = another
		return
	}
	v.filled = len(v.chunks)
	v.chunks = append(v.chunks, another)
}

// join puts a number into the chain of a group, unless it is there, and gives
// its node.
func (v *versions) join(group uint64, number int64) int64 {
	g := v.groups[group]
	before := g.last
	for before != 0 && v.nodes.at(before).number > number {
		before = v.nodes.at(before).before
	}
	if before != 0 && v.nodes.at(before).number == number {
		return before
	}
	n := node{number: number, before: before, after: g.first, group: group}
	if before != 0 {
		n.after = v.nodes.at(before).after
	}
	at := v.nodes.len() + 1
	v.nodes.add(n)
	if before != 0 {
		v.nodes.at(before).after = at
	} else {
		g.first = at
	}
	if n.after != 0 {
		v.nodes.at(n.after).before = at
	} else {
		g.last = at
	}
	v.groups[group] = g
	return at
}

// bury counts an entry that was replaced.
func (v *versions) bury(at position, size int) {
	v.dead += int64(size)
	v.chunks[(at-1)>>32].dead += size
}

// endCommit makes what was added and replaced since the last one visible, and
// frees chunks where more than half of all that is kept was replaced: of those
// that are half dead it moves what lives, some at a time. While there are
// readers it moves nothing, since older versions live for them.
func (v *versions) endCommit() {
	v.commit++
	const some = 4
	for moved := 0; moved < some && v.dead > v.bytes/2 && v.dead > versionChunk && v.readers.Load() == 0; moved++ {
		n := 0
		for n < len(v.chunks) && v.chunks[n].dead*2 < max(1, len(v.chunks[n].entries)) {
			n++
		}
		if n == len(v.chunks) {
			return
		}
		v.free(n)
	}
}

// free moves what lives in a chunk to others, and lets go of it: what still
// reads it keeps it from the collector.
func (v *versions) free(n int) {
	old := v.chunks[n]
	if n == v.filled { // it must not be moved into itself
		v.fillAnother(0)
	}
	for offset := 0; offset < len(old.entries); {
		at := position(1 + n<<32 + offset)
		e := v.at(at)
		offset += e.size()
		if r := v.rows.at(e.number); r.at == at {
			r.at = v.write(&e, string(e.id), string(e.group), e.body)
		}
	}
	v.chunks[n] = chunk{}
	v.unused = append(v.unused, n)
	v.bytes -= int64(len(old.entries))
	v.dead -= int64(old.dead)
}
