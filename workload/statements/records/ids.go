package records

import (
	"encoding/binary"
	"encoding/hex"
)

// kind parts the IDs of one seed.
type kind uint64

const (
	kindStatement kind = iota
	kindPatient
	kindVisit
	kindPractitioner
)

const (
	numberBits = 56 // of an ID's number within its kind
	ownBits    = 58 // with the kind
	idLength   = 36
)

// id writes the ID of number n of a kind: a UUID of version 8 (RFC 9562), which
// seed, kind and n can be told from. So no two are the same.
func (m *maker) id(k kind, n uint64) {
	var b [16]byte
	high := mix(m.seed)
	own := mixOwn(uint64(k)<<numberBits|n) ^ mix(high)>>(64-ownBits)
	high ^= mix(own) // so that IDs of one seed have nothing in common either
	const version, variant = 8 << 12, 2 << 62
	binary.BigEndian.PutUint64(b[:8], high>>16<<16|version|high>>4&0xfff)
	binary.BigEndian.PutUint64(b[8:], variant|high&0xf<<ownBits|own)
	var text [idLength]byte
	hex.Encode(text[:], b[:4])
	hex.Encode(text[9:], b[4:6])
	hex.Encode(text[14:], b[6:8])
	hex.Encode(text[19:], b[8:10])
	hex.Encode(text[24:], b[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	m.words.Write(text[:])
}

// mix is the output function of SplitMix64 (Steele, Lea, Flood 2014), with a
// step before it that keeps 0 from itself. Different arguments give different
// results.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// mixOwn does what mix does to numbers of ownBits bits: odd factors and shifts
// to the right can be undone in any number of bits.
func mixOwn(x uint64) uint64 {
	const mask = 1<<ownBits - 1
	x = (x + 0x9e3779b97f4a7c15) & mask
	x = (x ^ x>>27) * 0xbf58476d1ce4e5b9 & mask
	x = (x ^ x>>25) * 0x94d049bb133111eb & mask
	return x ^ x>>29
}
