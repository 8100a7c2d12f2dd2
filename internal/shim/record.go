package shim

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"time"
)

const (
	recordHead   = 28
	flagPartial  = 1
	segmentMagic = "BTNSPL\x00\x01"
	maxID        = 255
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errShort = errors.New("the record is cut off")
	errSum   = errors.New("the checksum does not match")
)

// record is a frame before it has a number and a time.
type record struct {
	kind  Kind
	flags uint8
	id    string
	data  []byte
}

func (r record) size() int64 { return recordHead + int64(len(r.id)) + int64(len(r.data)) }

// appendHead appends the head of a record with the checksum left open.
func appendHead(b []byte, seq uint64, at time.Time, kind Kind, flags uint8, id string, length int) []byte {
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(length))
	b = binary.BigEndian.AppendUint64(b, seq)
	b = binary.BigEndian.AppendUint64(b, uint64(at.UnixNano()))
	b = append(b, byte(kind), flags)
	b = binary.BigEndian.AppendUint16(b, uint16(len(id)))
	return append(b, id...)
}

// appendRecord appends a whole record.
func appendRecord(b []byte, seq uint64, at time.Time, r record) []byte {
	start := len(b)
	b = appendHead(b, seq, at, r.kind, r.flags, r.id, len(r.data))
	b = append(b, r.data...)
	binary.BigEndian.PutUint32(b[start:], crc32.Checksum(b[start+4:], castagnoli))
	return b
}

// recordLength returns the length of the record that starts b, of which at
// least the head must be there. The checksum is not looked at.
func recordLength(b []byte) int64 {
	return recordHead + int64(binary.BigEndian.Uint16(b[26:])) + int64(binary.BigEndian.Uint32(b[4:]))
}

func recordSeq(b []byte) uint64 { return binary.BigEndian.Uint64(b[8:]) }

// decodeRecord reads the record that starts b and returns how many bytes it
// took. The data is a copy.
func decodeRecord(b []byte) (Frame, int, error) {
	if len(b) < recordHead {
		return Frame{}, 0, errShort
	}
	size := recordLength(b)
	if size > int64(len(b)) || size > math.MaxInt32 {
		return Frame{}, 0, errShort
	}
	b = b[:size]
	if crc32.Checksum(b[4:], castagnoli) != binary.BigEndian.Uint32(b) {
		return Frame{}, 0, errSum
	}
	id := int(binary.BigEndian.Uint16(b[26:]))
	return Frame{
		Seq:     recordSeq(b),
		Time:    time.Unix(0, int64(binary.BigEndian.Uint64(b[16:]))).UTC(),
		Kind:    Kind(b[24]),
		Partial: b[25]&flagPartial != 0,
		ID:      string(b[recordHead : recordHead+id]),
		Data:    append([]byte(nil), b[recordHead+id:]...),
	}, int(size), nil
}
