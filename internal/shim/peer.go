//go:build linux || darwin

package shim

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const greetingTime = 10 * time.Second

// peer is one connection to the shim.
type peer struct {
	h     *holder
	conn  *net.UnixConn
	pulls chan pull     // waiting frame requests: one at most
	gone  chan struct{} // closed when the connection has ended

	out sync.Mutex // one message at a time
}

// pull is a frame request.
type pull struct {
	message
	bytes int
}

// serve talks to one peer until its connection ends.
func (h *holder) serve(conn *net.UnixConn) {
	p := &peer{h: h, conn: conn, pulls: make(chan pull, 1), gone: make(chan struct{})}
	defer h.leave(p)
	defer func() { // one bad message ends its connection, never the agent
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "shim: a connection failed: %v\n%s\n", r, debug.Stack())
		}
	}()
	_ = conn.SetReadDeadline(time.Now().Add(greetingTime))
	after, ok := p.greet()
	if !ok {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	go p.send(newCursor(h.spool, after))
	for {
		m, body, err := readMessage(conn, maxBody)
		if err != nil || m.role != roleRequest {
			return
		}
		p.handle(m, body)
	}
}

// greet does hello and attach. It returns after which frame the peer pulls.
func (p *peer) greet() (after uint64, ok bool) {
	refuse := func(m message, err error) (uint64, bool) { p.answer(m, nil, err); return 0, false }
	m, body, err := readMessage(p.conn, maxGreeting)
	if err != nil {
		return 0, false
	}
	if m.kind != msgHello || len(body) != len(protocolMagic)+2 || string(body[:len(protocolMagic)]) != protocolMagic {
		return refuse(m, &Error{CodeProtocol, "the first message must be a hello"})
	}
	if v := binary.BigEndian.Uint16(body[len(protocolMagic):]); v < protocolVersion {
		return refuse(m, &Error{CodeProtocol, fmt.Sprintf("version %d of the protocol was never spoken", v)})
	}
	if err := checkPeer(p.conn); err != nil {
		return refuse(m, err)
	}
	p.answer(m, p.h.hello(), nil)

	if m, body, err = readMessage(p.conn, maxGreeting); err != nil {
		return 0, false
	}
	if m.kind != msgAttach {
		return refuse(m, &Error{CodeProtocol, "the second message must be an attach"})
	}
	n, err := numbers(body, 2)
	if err != nil {
		return refuse(m, err)
	}
	at, err := p.h.attach(p, n[0], n[1])
	if err != nil {
		return refuse(m, err)
	}
	p.answer(m, at, nil)
	return n[1], true
}

// handle does one request of an attached peer. Only frame and write are
// answered later than at once.
func (p *peer) handle(m message, body []byte) {
	switch m.kind {
	case msgFrame:
		most, err := number32(body)
		if err != nil {
			p.answer(m, nil, err)
			return
		}
		select {
		case p.pulls <- pull{m, int(min(max(most, 1), batchBytes))}:
		default:
			p.answer(m, nil, &Error{CodeProtocol, "the last frame request is not answered yet"})
		}
	case msgWrite:
		id, data, err := decodeWrite(body)
		if err != nil {
			p.answer(m, nil, err)
			return
		}
		p.h.writes.add(p, id, data, func(err error) { p.answer(m, nil, err) })
	default:
		p.answer(m, nil, p.control(m, body))
	}
}

func (p *peer) control(m message, body []byte) error {
	if !p.h.isCurrent(p) {
		return &Error{CodeEvicted, "another server has attached"}
	}
	switch m.kind {
	case msgAck:
		n, err := numbers(body, 1)
		if err != nil {
			return err
		}
		return p.h.spool.ack(n[0])
	case msgLease:
		n, err := numbers(body, 1)
		if err != nil {
			return err
		}
		p.h.lease.set(millis(n[0]))
		return nil
	case msgSignal:
		n, err := number32(body)
		if err != nil {
			return err
		}
		if p.h.agent == nil {
			return &Error{CodeAgentGone, "the agent never ran"}
		}
		return p.h.agent.signal(unix.Signal(n))
	case msgStop:
		n, err := numbers(body, 2)
		if err != nil {
			return err
		}
		select {
		case p.h.stops <- Grace{Stdin: millis(n[0]), Term: millis(n[1])}:
		default: // several wait already; none of them is lost
		}
		return nil
	}
	return &Error{CodeProtocol, fmt.Sprintf("message kind %d is unknown", m.kind)}
}

// millis turns a number off the wire into a time, at most a year.
func millis(n uint64) time.Duration {
	return time.Duration(min(n, 365*24*3600*1000)) * time.Millisecond
}

// answer sends the answer to m: an error, a value as JSON, or nothing.
func (p *peer) answer(m message, v any, err error) {
	if m.tag == 0 {
		return
	}
	var body []byte
	role := roleAnswer
	if err != nil {
		role, body = roleError, encodeError(err)
	} else if v != nil {
		body, _ = json.Marshal(v)
	}
	p.put(message{kind: m.kind, role: role, tag: m.tag, length: uint32(len(body))}, body)
}

func (p *peer) put(m message, body []byte) {
	p.out.Lock()
	defer p.out.Unlock()
	if _, err := p.conn.Write(append(m.encode(), body...)); err != nil {
		p.conn.Close()
	}
}

// send answers frame requests.
func (p *peer) send(c *cursor) {
	defer c.close()
	for {
		var want pull
		select {
		case want = <-p.pulls:
		case <-p.gone:
			return
		}
		if !p.sendBatch(c, want) {
			p.conn.Close()
			return
		}
	}
}

func (p *peer) sendBatch(c *cursor, want pull) bool {
	m := want.message
	for {
		records, size, changed, err := c.batch(want.bytes)
		if err != nil {
			p.answer(m, nil, &Error{CodeBadPosition, "the spool can't be read on: " + err.Error()})
			return false
		}
		if records == nil {
			select {
			case <-changed:
				continue
			case <-p.gone:
				return false
			}
		}
		p.out.Lock()
		defer p.out.Unlock()
		head := message{kind: m.kind, role: roleAnswer, tag: m.tag, length: uint32(size)}
		if size <= oneWrite {
			b := make([]byte, messageHead+size)
			copy(b, head.encode())
			if _, err := io.ReadFull(records, b[messageHead:]); err != nil {
				return false
			}
			_, err := p.conn.Write(b)
			return err == nil
		}
		if _, err := p.conn.Write(head.encode()); err != nil {
			return false
		}
		_, err = io.CopyBuffer(struct{ io.Writer }{p.conn}, records, c.copyBuffer(size))
		return err == nil
	}
}

// evict tells the peer that it is over, and ends the connection even if the
// peer reads nothing.
func (p *peer) evict() {
	_ = p.conn.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
	body := encodeError(&Error{CodeEvicted, "a server with a higher epoch has attached"})
	p.put(message{role: roleError, length: uint32(len(body))}, body)
	p.conn.Close()
}
