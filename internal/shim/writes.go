//go:build linux || darwin

package shim

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"runtime/debug"
	"sync"

	"baton/internal/failpoint"
)

const queueBytes = 16 << 20 // writes that wait for the agent to read; one alone may be longer

type writeKey [16]byte

// writes gives the server's writes to the agent, one after the other and each
// id once. A write is accepted when its turn has come and not before: one that
// still waits when its peer goes is forgotten, so that an evicted server can't
// write, and the spool never claims a byte that was not about to leave.
type writes struct {
	spool *spool
	stdin *os.File
	quit  <-chan struct{} // closed: give up on a disk that takes nothing

	mu     sync.Mutex
	wake   *sync.Cond
	known  map[writeKey]struct{} // accepted ids; hashed, to keep them small
	queue  []*pendingWrite
	bytes  int
	owner  *peer // whose writes are taken
	closed bool
}

type pendingWrite struct {
	id      string
	data    []byte
	by      *peer
	answers []func(error) // of the request and its repetitions
}

func newWrites(s *spool, stdin *os.File, quit <-chan struct{}) *writes {
	w := &writes{spool: s, stdin: stdin, quit: quit, closed: stdin == nil, known: map[writeKey]struct{}{}}
	w.wake = sync.NewCond(&w.mu)
	return w
}

func keyOf(id string) (k writeKey) {
	sum := sha256.Sum256([]byte(id))
	copy(k[:], sum[:])
	return k
}

// own makes p the only peer whose writes are taken, and forgets the waiting
// ones of others. It returns when that holds.
func (w *writes) own(p *peer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owner = p
	w.drop(func(q *pendingWrite) bool { return q.by != p }, &Error{CodeEvicted, "another server has attached"})
}

// drop takes waiting writes out of the queue. With mu held.
func (w *writes) drop(which func(*pendingWrite) bool, err error) {
	kept := w.queue[:0]
	for _, q := range w.queue {
		if !which(q) {
			kept = append(kept, q)
			continue
		}
		w.bytes -= len(q.data)
		for _, answer := range q.answers {
			go answer(err)
		}
	}
	clear(w.queue[len(kept):])
	w.queue = kept
}

// add queues a write; answer is called once, when accepted(id) is spooled or
// the write is refused.
func (w *writes) add(p *peer, id string, data []byte, answer func(error)) {
	w.mu.Lock()
	wait, err := w.addLocked(p, id, data, answer)
	w.mu.Unlock()
	if !wait {
		answer(err)
	}
}

func (w *writes) addLocked(p *peer, id string, data []byte, answer func(error)) (wait bool, err error) {
	if p != w.owner {
		return false, &Error{CodeEvicted, "another server has attached"}
	}
	if _, known := w.known[keyOf(id)]; known {
		return false, nil
	}
	if w.closed {
		return false, &Error{CodeAgentGone, "the agent has ended, or its stdin is closed; nothing was written"}
	}
	for _, q := range w.queue {
		if q.id == id {
			q.answers = append(q.answers, answer)
			return true, nil
		}
	}
	if len(w.queue) > 0 && w.bytes+len(data) > queueBytes {
		return false, &Error{CodeBusy, "the agent does not read what was written before; try again later"}
	}
	w.queue = append(w.queue, &pendingWrite{id: id, data: data, by: p, answers: []func(error){answer}})
	w.bytes += len(data)
	w.wake.Signal()
	return true, nil
}

// close closes the agent's stdin, ends a write that is under way and refuses
// what waits. It may be called more than once.
func (w *writes) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.stdin != nil {
		w.stdin.Close()
	}
	w.drop(func(*pendingWrite) bool { return true }, &Error{CodeAgentGone, "the agent's stdin is closed; nothing was written"})
	w.wake.Signal()
}

// run writes until close, or until the agent reads no more.
func (w *writes) run() {
	for {
		q, err := w.accept()
		if q == nil {
			return
		}
		for _, answer := range q.answers {
			answer(err)
		}
		if err != nil {
			continue
		}
		if n, err := w.stdin.Write(q.data); err != nil {
			w.close()
			data, _ := json.Marshal(Failed{Written: n, Error: err.Error()})
			w.spool.force(record{kind: KindFailed, id: q.id, data: data}, w.quit)
			return
		}
		w.spool.force(record{kind: KindWritten, id: q.id}, w.quit)
		failpoint.Hit("shim.written")
		if len(q.data) > 1<<20 {
			q.data = nil
			debug.FreeOSMemory()
		}
	}
}

// accept waits for the next write, spools accepted and makes its id known. An
// error means that this write is refused; nil and no error: closed.
func (w *writes) accept() (*pendingWrite, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && !w.closed {
		w.wake.Wait()
	}
	if w.closed {
		return nil, nil
	}
	q := w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	w.bytes -= len(q.data)
	if err := w.spool.accept(record{kind: KindAccepted, id: q.id, data: q.data}); err != nil {
		return q, err
	}
	w.known[keyOf(q.id)] = struct{}{}
	failpoint.Hit("shim.accepted")
	return q, nil
}
