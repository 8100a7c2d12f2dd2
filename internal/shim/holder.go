//go:build linux || darwin

package shim

import (
	"fmt"
	"net"
	"os"
	"sync"
)

// holder is the running shim: what its connections and its life share.
type holder struct {
	spec   Spec
	self   Proc
	spool  *spool
	writes *writes
	agent  *agent // nil if it never ran
	lease  *lease
	stops  chan Grace

	mu      sync.Mutex
	epoch   uint64 // of the last attach, for ever
	current *peer  // nil while no server is attached
}

func (h *holder) accept(l *net.UnixListener) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return // the listener is closed, which is how a shim ends
		}
		go h.serve(conn)
	}
}

func (h *holder) hello() Hello {
	return Hello{Version: protocolVersion, SessionID: h.spec.SessionID, Nonce: h.spec.Nonce, Shim: h.self, Range: h.bounds()}
}

func (h *holder) bounds() Range {
	first, last, acked, _ := h.spool.state()
	return Range{First: first, Last: last, Acked: acked}
}

// attach makes p the current peer. What it refuses changes nothing.
func (h *holder) attach(p *peer, epoch, after uint64) (Range, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if epoch <= h.epoch {
		return Range{}, &Error{CodeStaleEpoch, fmt.Sprintf("epoch %d is not higher than %d, which has attached; take a new epoch", epoch, h.epoch)}
	}
	at := h.bounds()
	if after > at.Last || after+1 < at.First {
		return Range{}, &Error{CodeBadPosition, fmt.Sprintf("frames after %d were asked for, but the spool holds %d to %d", after, at.First, at.Last)}
	}
	if err := h.spool.ack(after); err != nil {
		return Range{}, err
	}
	old := h.current
	h.epoch, h.current = epoch, p
	h.writes.own(p)
	h.lease.attach(true)
	if old != nil {
		go old.evict()
	}
	return h.bounds(), nil
}

// leave ends the connection of p; the lease begins if it was the current peer.
func (h *holder) leave(p *peer) {
	p.conn.Close()
	close(p.gone)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current == p {
		h.current = nil
		h.writes.own(nil)
		h.lease.attach(false)
	}
}

func (h *holder) isCurrent(p *peer) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current == p
}

// tree returns every living process that the agent started, and the agent.
func (h *holder) tree() ([]Proc, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	self := os.Getpid()
	out := descendants(all, self)
	seen := map[int]bool{self: true}
	for _, p := range out {
		seen[p.PID] = true
	}
	for _, p := range all {
		if !seen[p.PID] && hasEnv(p.PID, NonceEnv+"="+h.spec.Nonce) {
			out = append(out, p.Proc)
		}
	}
	return out, nil
}
