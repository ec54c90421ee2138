package memory

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
)

const (
	shardCount = 64       // lets callers on as many cores pass one another
	shardShift = 58       // leaves log2(shardCount) bits above a position
	chunkSize  = 32 << 10 // of rows; small, since each shard holds one half empty
)

// table maps keys to rows of bytes that are added once. The collector sees one
// pointer for each chunk, however many rows there are.
type table struct {
	hash   func(key string) uint64
	shards [shardCount]shard
}

func newTable() *table {
	seed := maphash.MakeSeed()
	return newTableOf(func(key string) uint64 { return maphash.String(seed, key) })
}

func newTableOf(hash func(string) uint64) *table {
	t := &table{hash: hash}
	for i := range t.shards {
		t.shards[i].number = uint64(i)
		t.shards[i].hash = hash
		t.shards[i].last = map[uint64]position{}
	}
	return t
}

func (t *table) shardOf(key string) *shard { return &t.shards[t.hash(key)%shardCount] }

// shardAt is the shard that holds the row at a reference.
func (t *table) shardAt(r ref) *shard { return &t.shards[r>>shardShift] }

// shard holds the rows of some keys. Hold mu to call its methods, and to read
// or write the head of a row; the rest of it never changes, and may be read
// afterwards without it.
type shard struct {
	mu     sync.Mutex
	number uint64
	hash   func(key string) uint64
	last   map[uint64]position // by hash: the newest of the rows that share it
	chunks [][]byte
}

// position is 1 + chunk<<32 + offset of an entry; 0 is none.
type position uint64

// ref is a position with the number of its shard above it.
type ref uint64

// An entry is: the position of the next older one of the same hash (8 bytes),
// the lengths of key and row (4 each), key, row.
const entryHeader = 16

func (s *shard) find(key string) (row []byte, ok bool) {
	for at := s.last[s.hash(key)]; at != 0; {
		entry := s.entry(at)
		if k, row := split(entry); string(k) == key {
			return row, true
		}
		at = position(binary.LittleEndian.Uint64(entry))
	}
	return nil, false
}

// at gives the key and row that add gave a reference for.
func (s *shard) at(r ref) (key, row []byte) {
	return split(s.entry(position(r & (1<<shardShift - 1))))
}

func (s *shard) entry(at position) []byte { return s.chunks[(at-1)>>32][uint32(at-1):] }

func split(entry []byte) (key, row []byte) {
	keyLen := binary.LittleEndian.Uint32(entry[8:])
	rowLen := binary.LittleEndian.Uint32(entry[12:])
	rest := entry[entryHeader:]
	end := keyLen + rowLen
	return rest[:keyLen:keyLen], rest[keyLen:end:end]
}

// add adds a row under a key that has none, and gives it where it is kept.
func (s *shard) add(key string, row []byte) ([]byte, ref) {
	need := entryHeader + len(key) + len(row)
	n := len(s.chunks) - 1
	if n < 0 || cap(s.chunks[n])-len(s.chunks[n]) < need {
		s.chunks = append(s.chunks, make([]byte, 0, max(chunkSize, need)))
		n++
	}
	chunk, hash := s.chunks[n], s.hash(key)
	at := position(1 + n<<32 + len(chunk))
	chunk = binary.LittleEndian.AppendUint64(chunk, uint64(s.last[hash]))
	chunk = binary.LittleEndian.AppendUint32(chunk, uint32(len(key)))
	chunk = binary.LittleEndian.AppendUint32(chunk, uint32(len(row)))
	chunk = append(chunk, key...)
	s.chunks[n] = append(chunk, row...)
	s.last[hash] = at
	_, kept := split(s.entry(at))
	return kept, ref(s.number<<shardShift | uint64(at))
}
