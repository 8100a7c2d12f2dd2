package shim

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

const (
	protocolVersion = 1
	protocolMagic   = "baton-shim"
	messageHead     = 12

	maxGreeting = 4 << 10          // body of a message before attach
	maxBody     = 64<<20 + 64<<10  // body of a message after it
	maxAnswer   = int64(1<<32 - 1) // body of an answer: one record may be long
)

// The kinds of messages. Frozen.
const (
	msgHello uint8 = 1 + iota
	msgAttach
	msgFrame
	msgWrite
	msgAck
	msgLease
	msgSignal
	msgStop
)

const (
	roleRequest uint8 = iota
	roleAnswer
	roleError
)

// oneWrite is how many bytes of frames at most leave in one piece with their
// head: the server is woken once for it, and that is most of what a few cost.
const oneWrite = 16 << 10

// message is one message of the protocol, without its body.
type message struct {
	kind, role uint8
	tag        uint32
	length     uint32
}

func (m message) encode() []byte {
	b := make([]byte, messageHead)
	binary.BigEndian.PutUint32(b, m.length)
	b[4], b[5] = m.kind, m.role
	binary.BigEndian.PutUint32(b[8:], m.tag)
	return b
}

// readMessage reads a head and the body behind it. A body longer than limit is
// an error before any of it is read.
func readMessage(r io.Reader, limit int64) (message, []byte, error) {
	var h [messageHead]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return message{}, nil, err
	}
	m := message{kind: h[4], role: h[5], tag: binary.BigEndian.Uint32(h[8:]), length: binary.BigEndian.Uint32(h[:])}
	if int64(m.length) > limit {
		return m, nil, &Error{CodeProtocol, fmt.Sprintf("a message of %d bytes is longer than the limit of %d", m.length, limit)}
	}
	body := make([]byte, m.length)
	_, err := io.ReadFull(r, body)
	return m, body, err
}

// Hello is what a shim says of itself.
type Hello struct {
	Version   int    `json:"version"`
	SessionID string `json:"session_id"`
	Nonce     string `json:"nonce"`
	Shim      Proc   `json:"shim"`
	Range
}

// Range is what a shim says of its spool.
type Range struct {
	First uint64 `json:"first"` // the first frame that is still there (last+1 if none)
	Last  uint64 `json:"last"`  // the newest frame, 0 if there is none
	Acked uint64 `json:"acked"` // the newest frame known to be committed
}

func encodeError(err error) []byte {
	e, ok := err.(*Error)
	if !ok {
		e = &Error{CodeProtocol, err.Error()}
	}
	b, _ := json.Marshal(e)
	return b
}

func decodeError(body []byte) error {
	e := &Error{}
	if json.Unmarshal(body, e) != nil || e.Code == "" {
		return &Error{CodeProtocol, "the shim refused, but its error can't be read"}
	}
	return e
}

func encodeWrite(id string, data []byte) []byte {
	b := make([]byte, 0, 2+len(id)+len(data))
	b = binary.BigEndian.AppendUint16(b, uint16(len(id)))
	b = append(b, id...)
	return append(b, data...)
}

func decodeWrite(body []byte) (id string, data []byte, err error) {
	if len(body) >= 2 {
		n := int(binary.BigEndian.Uint16(body))
		if n >= 1 && n <= maxID && len(body) >= 2+n {
			return string(body[2 : 2+n]), body[2+n:], nil
		}
	}
	return "", nil, &Error{CodeInvalid, "a write needs an id of 1 to 255 bytes"}
}

// numbers reads a body that is nothing but count 64-bit numbers.
func numbers(body []byte, count int) ([]uint64, error) {
	if len(body) != 8*count {
		return nil, &Error{CodeProtocol, fmt.Sprintf("the body has %d bytes instead of %d", len(body), 8*count)}
	}
	out := make([]uint64, count)
	for i := range out {
		out[i] = binary.BigEndian.Uint64(body[8*i:])
	}
	return out, nil
}

func encodeNumbers(n ...uint64) []byte {
	var b []byte
	for _, v := range n {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

// number32 reads a body that is one 32-bit number.
func number32(body []byte) (uint32, error) {
	if len(body) != 4 {
		return 0, &Error{CodeProtocol, fmt.Sprintf("the body has %d bytes instead of 4", len(body))}
	}
	return binary.BigEndian.Uint32(body), nil
}
