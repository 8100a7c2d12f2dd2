// Package memory is a journal that is gone with the process: for tests and the
// simulation. It keeps the same encoded forms as a file would, so what comes
// back has been through JSON, and it can be told to fail any append.
package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"baton/internal/journal"
)

// Options are the choices of New; the zero value is a journal that never fails.
type Options struct {
	// Now gives the time of commits; nil is time.Now.
	Now func() time.Time
	// FailAppend is asked before the n-th append of the journal's life, counted
	// from 1, is stored. An error comes back from Append and nothing is stored,
	// as on a full disk. But one that is journal.ErrUnknown comes back after the
	// unit has been stored; ErrLost is the other unknown outcome. It is called
	// one append at a time and must not call the journal.
	FailAppend func(n int, u journal.Unit) error
}

// ErrLost is an unknown outcome (journal.ErrUnknown) of a unit that was not stored.
var ErrLost = fmt.Errorf("memory: lost: %w", journal.ErrUnknown)

// Journal is a journal in memory.
type Journal struct {
	reader
	opts    Options
	mu      sync.RWMutex
	appends int
	epoch   uint64
	closed  bool
}

var _ journal.Journal = (*Journal)(nil)

// New returns an empty journal.
func New(opts Options) *Journal {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	j := &Journal{opts: opts}
	j.reader = reader{state: newState(), mu: &j.mu, closed: &j.closed}
	return j
}

// Append stores the unit.
func (j *Journal) Append(ctx context.Context, u journal.Unit) (journal.Appended, error) {
	if err := u.Check(); err != nil {
		return journal.Appended{}, err
	}
	w, err := encode(u)
	if err != nil {
		return journal.Appended{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return journal.Appended{}, journal.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return journal.Appended{}, err
	}
	j.appends++
	var unknown error
	if j.opts.FailAppend != nil {
		err := j.opts.FailAppend(j.appends, u)
		if err != nil && (!errors.Is(err, journal.ErrUnknown) || errors.Is(err, ErrLost)) {
			return journal.Appended{}, err
		}
		unknown = err
	}
	if err := j.state.stage(&w); err != nil {
		return journal.Appended{}, err
	}
	now := journal.Time(journal.Nanos(j.opts.Now()))
	first := j.state.store(&w, now)
	if unknown != nil {
		return journal.Appended{}, unknown
	}
	for i := range u.Events {
		u.Events[i].Seq, u.Events[i].Epoch, u.Events[i].Committed = first+uint64(i), u.Epoch, now
	}
	return journal.Appended{FirstSeq: first, Committed: now}, nil
}

// View calls fn with a copy of the journal as it is now.
func (j *Journal) View(ctx context.Context, fn func(journal.Reader) error) error {
	j.mu.RLock()
	if j.closed {
		j.mu.RUnlock()
		return journal.ErrClosed
	}
	frozen := j.state.clone()
	j.mu.RUnlock()
	return fn(reader{state: frozen, mu: new(sync.RWMutex), closed: new(bool)})
}

// ClaimEpoch returns a number greater than any before.
func (j *Journal) ClaimEpoch(ctx context.Context) (uint64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return 0, journal.ErrClosed
	}
	j.epoch++
	return j.epoch, nil
}

// Close makes every later call fail with journal.ErrClosed.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	return nil
}
