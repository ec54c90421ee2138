package lean

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Numbers of RFC 9113.
const (
	preface      = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeader  = 9
	maxFrameRead = 16384 // we ask for no more
	firstWindow  = 65535
	maxStreamID  = math.MaxInt32

	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20

	cancelled = 0x8 // an error code
)

// Kinds of frame, and settings.
const (
	frameData = iota
	frameHeaders
	framePriority
	frameReset
	frameSettings
	framePushPromise
	framePing
	frameGoAway
	frameWindow
	frameContinuation
)

const (
	settingTableSize  = 1
	settingPush       = 2
	settingMaxStreams = 3
	settingWindow     = 4
	settingMaxFrame   = 5
)

// frame is one frame; its payload is good until the next is read.
type frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
}

func (f frame) has(flag byte) bool { return f.flags&flag != 0 }

// parseFrame reads one frame; not ok says that it is not all there.
func parseFrame(in []byte) (f frame, size int, ok bool, err error) {
	if len(in) < frameHeader {
		return f, 0, false, nil
	}
	n := int(in[0])<<16 | int(in[1])<<8 | int(in[2])
	if n > maxFrameRead {
		return f, 0, false, fmt.Errorf("a frame of %d bytes: not HTTP/2, or longer than allowed", n)
	}
	size = frameHeader + n
	if len(in) < size {
		return f, 0, false, nil
	}
	return frame{
		kind: in[3], flags: in[4], stream: binary.BigEndian.Uint32(in[5:]) & maxStreamID,
		payload: in[frameHeader:size:size],
	}, size, true, nil
}

// unpad takes off padding.
func (f frame) unpad() ([]byte, error) {
	p := f.payload
	if !f.has(flagPadded) {
		return p, nil
	}
	if len(p) == 0 || int(p[0]) >= len(p) {
		return nil, errors.New("more padding than frame")
	}
	return p[1 : len(p)-int(p[0])], nil
}

func appendFrame(out []byte, kind, flags byte, stream uint32, size int) []byte {
	out = append(out, byte(size>>16), byte(size>>8), byte(size), kind, flags)
	return binary.BigEndian.AppendUint32(out, stream)
}

func appendWindow(out []byte, stream uint32, n int) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(out, frameWindow, 0, stream, 4), uint32(n))
}

func appendReset(out []byte, stream, code uint32) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(out, frameReset, 0, stream, 4), code)
}
