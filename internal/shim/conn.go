package shim

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"
)

// Conn is a server's attachment to one shim. Next and NextBatch are for one
// goroutine at a time; everything else may be called from any. Every method
// fails with CodeEvicted once a higher epoch has attached, and with CodeClosed
// once the connection has ended for another reason, such as the shim's end.
type Conn struct {
	conn  net.Conn
	hello Hello

	out sync.Mutex // one message at a time

	mu      sync.Mutex
	tag     uint32
	waiting map[uint32]chan answer
	err     error         // why it has ended
	done    chan struct{} // closed when err is set

	pull  chan answer // the frame request that is not answered yet, or nil
	batch []byte      // records not handed out yet
	last  uint64      // number of the newest frame handed out
}

type answer struct {
	body []byte
	err  error
}

// Dial attaches to the shim at socket. after is the last frame that the caller
// has committed: the shim may delete it and all before it, and Next begins
// with the one behind it. Each attach takes a new epoch, higher than any
// before it, beginning with 1: a higher one evicts who is attached, any other
// is refused with CodeStaleEpoch.
func Dial(ctx context.Context, socket string, epoch, after uint64) (*Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, &Error{CodeClosed, "no shim answers: " + err.Error()}
	}
	c := &Conn{conn: nc, waiting: map[uint32]chan answer{}, done: make(chan struct{}), last: after}
	go c.receive()
	greeting := binary.BigEndian.AppendUint16([]byte(protocolMagic), protocolVersion)
	body, err := c.call(ctx, msgHello, greeting)
	if err == nil {
		err = json.Unmarshal(body, &c.hello)
	}
	if err == nil {
		body, err = c.call(ctx, msgAttach, encodeNumbers(epoch, after))
	}
	if err == nil {
		err = json.Unmarshal(body, &c.hello.Range)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Hello returns what the shim said of itself and of its spool at attach.
func (c *Conn) Hello() Hello { return c.hello }

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Next returns the next frame, and waits for one where there is none.
func (c *Conn) Next(ctx context.Context) (Frame, error) {
	frames, err := c.NextBatch(ctx, 1)
	if err != nil {
		return Frame{}, err
	}
	return frames[0], nil
}

// NextBatch returns the next frames, at least one and at most most of them;
// it waits only while there is none. When ctx ends, no frame is lost. An error
// of another kind is final.
func (c *Conn) NextBatch(ctx context.Context, most int) ([]Frame, error) {
	if len(c.batch) == 0 {
		if err := c.refill(ctx); err != nil {
			return nil, err
		}
	}
	var out []Frame
	for len(c.batch) > 0 && len(out) < max(most, 1) {
		f, n, err := decodeRecord(c.batch)
		if err == nil && f.Seq != c.last+1 {
			err = fmt.Errorf("frame %d came after frame %d", f.Seq, c.last)
		}
		if err != nil {
			c.end(&Error{CodeProtocol, err.Error()})
			return nil, c.failure()
		}
		c.mu.Lock()
		c.last = f.Seq
		c.mu.Unlock()
		out, c.batch = append(out, f), c.batch[n:]
	}
	return out, nil
}

func (c *Conn) refill(ctx context.Context) error {
	if c.pull == nil {
		want := binary.BigEndian.AppendUint32(nil, batchBytes)
		pull, err := c.ask(msgFrame, want)
		if err != nil {
			return err
		}
		c.pull = pull
	}
	select {
	case a := <-c.pull:
		c.pull, c.batch = nil, a.body
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Write gives data to the agent's stdin, once for each id: an id that the shim
// knows is answered in the same way and not written again. It returns when
// accepted(id) is spooled, which is just before the first byte, so it waits
// while the agent does not read what came before. A frame written(id) follows
// after the last byte, or failed(id).
//
// CodeBusy, CodeSpoolFull, CodeAgentGone and CodeEvicted mean that nothing was
// written. After CodeClosed or the end of ctx, only the spool can tell; writing
// the same id again is safe.
func (c *Conn) Write(ctx context.Context, id string, data []byte) error {
	if id == "" || len(id) > maxID {
		return &Error{CodeInvalid, "a write needs an id of 1 to 255 bytes"}
	}
	if len(data) > 64<<20 {
		return &Error{CodeInvalid, fmt.Sprintf("a write of %d bytes is longer than 64 MB", len(data))}
	}
	_, err := c.call(ctx, msgWrite, encodeWrite(id, data))
	return err
}

// Ack says that every frame up to seq is committed: the shim may delete them.
// It doesn't wait for the shim.
func (c *Conn) Ack(seq uint64) error {
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	if seq > last {
		return &Error{CodeBadPosition, fmt.Sprintf("frame %d can't be committed: the newest one read is %d", seq, last)}
	}
	return c.put(message{kind: msgAck}, encodeNumbers(seq))
}

// Lease sets how long the shim lives without a server, from now on until it is
// set again.
func (c *Conn) Lease(ctx context.Context, d time.Duration) error {
	_, err := c.call(ctx, msgLease, encodeNumbers(toMillis(d)))
	return err
}

// Signal sends a signal to the agent's process, and to no descendant.
func (c *Conn) Signal(ctx context.Context, signal int) error {
	_, err := c.call(ctx, msgSignal, binary.BigEndian.AppendUint32(nil, uint32(signal)))
	return err
}

// Stop begins the ladder: stdin is closed; after g.Stdin every descendant gets
// SIGTERM; after g.Term every descendant gets SIGKILL. It returns when the shim
// has taken it; the exit frame tells the end. A second Stop can only shorten
// what is left, so Grace{} kills at once.
func (c *Conn) Stop(ctx context.Context, g Grace) error {
	_, err := c.call(ctx, msgStop, encodeNumbers(toMillis(g.Stdin), toMillis(g.Term)))
	return err
}

// Close ends the attachment; the lease begins. It may be called more than once.
func (c *Conn) Close() {
	c.end(&Error{CodeClosed, "the connection was closed"})
}

func toMillis(d time.Duration) uint64 { return uint64(max(d, 0).Milliseconds()) }

// call sends a request and waits for its answer.
func (c *Conn) call(ctx context.Context, kind uint8, body []byte) ([]byte, error) {
	ch, err := c.ask(kind, body)
	if err != nil {
		return nil, err
	}
	select {
	case a := <-ch:
		return a.body, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask sends a request; its answer, or the end of the connection, comes out of
// the channel.
func (c *Conn) ask(kind uint8, body []byte) (chan answer, error) {
	ch := make(chan answer, 1)
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return nil, c.err
	}
	if c.tag++; c.tag == 0 {
		c.tag = 1
	}
	tag := c.tag
	c.waiting[tag] = ch
	c.mu.Unlock()
	return ch, c.put(message{kind: kind, tag: tag}, body)
}

func (c *Conn) put(m message, body []byte) error {
	m.length = uint32(len(body))
	c.out.Lock()
	_, err := c.conn.Write(append(m.encode(), body...))
	c.out.Unlock()
	if err == nil {
		return nil
	}
	// The shim may have said why before it closed: let that be read first.
	<-c.done
	return c.failure()
}

// receive hands answers to who waits for them, until the connection ends.
func (c *Conn) receive() {
	r := bufio.NewReaderSize(c.conn, oneWrite)
	for {
		m, body, err := readMessage(r, maxAnswer)
		if err != nil {
			c.end(&Error{CodeClosed, "the shim has ended the connection"})
			return
		}
		a := answer{body: body}
		if m.role == roleError {
			a = answer{err: decodeError(body)}
		}
		if m.tag == 0 {
			if a.err != nil {
				c.end(a.err)
				return
			}
			continue
		}
		c.mu.Lock()
		ch := c.waiting[m.tag]
		delete(c.waiting, m.tag)
		c.mu.Unlock()
		if ch != nil {
			ch <- a
		}
	}
}

// end closes the connection for good; the first reason stays.
func (c *Conn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	c.conn.Close()
	for _, ch := range c.waiting {
		ch <- answer{err: err}
	}
	clear(c.waiting)
	close(c.done)
}

func (c *Conn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
