package client

import (
	"context"
	"errors"
	"net/url"
	"sync"

	"baton"
	"baton/internal/httpapi"
)

var errGap = errors.New("the stream has a gap")

// Follower is a stream's reader that outlives its connections: it keeps what is
// followed and how far that is known. Its methods are safe for concurrent use.
type Follower struct {
	c         *Client
	snapshots bool

	mu      sync.Mutex
	threads map[string]*place
	list    bool
	stream  string         // id of the connection's stream, "" where there is none
	last    string         // the newest event id: the cursor of the list
	listed  bool           // the list is known up to it
	leaving map[string]int // how often the stream was asked to leave a thread, and has not said so
}

// place is how far a thread is known. Each time that a thread is followed it has
// a new one.
type place struct{ version uint64 }

// Follower makes a reader that follows nothing yet. With snapshots, threads
// begin with one, and come back with one where much was missed; without, it is
// always events.
func (c *Client) Follower(snapshots bool) *Follower {
	return &Follower{c: c, snapshots: snapshots, threads: map[string]*place{}}
}

func (f *Follower) follow(thread string, version uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.threads[thread] != nil {
		return false
	}
	f.threads[thread] = &place{version: version}
	return true
}

// Thread follows a thread, named by its whole id, behind a version, 0 for all.
func (f *Follower) Thread(ctx context.Context, id string, version uint64) error {
	if !f.follow(id, version) {
		return nil
	}
	err := f.change(ctx, httpapi.StreamChange{Subscribe: []httpapi.StreamThread{{ThreadID: id, After: version}}})
	if err != nil {
		f.mu.Lock()
		delete(f.threads, id)
		f.mu.Unlock()
	}
	return err
}

// Leave ends following a thread and returns the version it is known up to.
// Nothing of it is given out any more.
func (f *Follower) Leave(ctx context.Context, id string) (version uint64, err error) {
	f.mu.Lock()
	p := f.threads[id]
	delete(f.threads, id)
	f.mu.Unlock()
	if p == nil {
		return 0, nil
	}
	return p.version, f.change(ctx, httpapi.StreamChange{Unsubscribe: []string{id}})
}

// List says whether to follow the list of threads.
func (f *Follower) List(ctx context.Context, on bool) error {
	f.mu.Lock()
	f.list, f.listed = on, f.listed && on
	f.mu.Unlock()
	return f.change(ctx, httpapi.StreamChange{List: &on})
}

// change tells the server. Where there is no connection, the next one asks for
// all that is followed.
func (f *Follower) change(ctx context.Context, c httpapi.StreamChange) error {
	f.mu.Lock()
	stream := f.stream
	if stream != "" {
		for _, id := range c.Unsubscribe {
			f.leaving[id]++
		}
	}
	f.mu.Unlock()
	if stream == "" {
		return nil
	}
	err := f.c.Post(ctx, Path("streams", stream), c, nil)
	if err == nil {
		return nil
	}
	f.mu.Lock()
	if f.stream == stream {
		for _, id := range c.Unsubscribe {
			f.leaving[id]--
		}
	}
	f.mu.Unlock()
	if baton.ErrorCode(err) == baton.CodeNotFound {
		// Is it the stream that is gone, or a thread that never was?
		err = nil
		for _, t := range c.Subscribe {
			if err = f.c.Get(ctx, Path("threads", t.ThreadID), url.Values{"runs": {"0"}}, nil); err != nil {
				break
			}
		}
	}
	if baton.ErrorCode(err) == baton.CodeServerUnreachable {
		return nil
	}
	return err
}

// opened notes the stream of a connection that was asked for the threads, and
// tells it what has changed since.
func (f *Follower) opened(ctx context.Context, stream string, asked map[string]*place, list bool) error {
	var c httpapi.StreamChange
	f.mu.Lock()
	f.stream, f.leaving = stream, map[string]int{}
	for id, p := range asked {
		if f.threads[id] != p {
			c.Unsubscribe = append(c.Unsubscribe, id)
		}
	}
	for id, p := range f.threads {
		if asked[id] != p {
			c.Subscribe = append(c.Subscribe, httpapi.StreamThread{ThreadID: id, After: p.version})
		}
	}
	if now := f.list; now != list {
		c.List = &now
	}
	f.mu.Unlock()
	if c.Subscribe == nil && c.Unsubscribe == nil && c.List == nil {
		return nil
	}
	return f.change(ctx, c)
}

func (f *Follower) ended() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stream = ""
}

// take notes what a message says of the cursors. give is false for one that the
// caller must not see. An event behind a gap ends the connection: the next one
// brings what is missing.
func (f *Follower) take(m Message, id string) (give bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() {
		if id != "" && err == nil {
			f.last = id
		}
	}()
	if m.left != nil {
		f.leaving[m.left.ThreadID]--
		return false, nil
	}
	if id := m.thread(); id != "" {
		p := f.threads[id]
		if p == nil || f.leaving[id] > 0 {
			return false, nil // was left
		}
		return p.take(m)
	}
	f.listed = f.list && (f.listed || m.List != nil)
	return m.Live || f.list && (m.List != nil || m.Row != nil || m.CaughtUp != nil), nil
}

func (p *place) take(m Message) (give bool, err error) {
	switch {
	case m.Event != nil && m.Event.Version <= p.version:
		return false, nil
	case m.Event != nil && m.Event.Version > p.version+1:
		return false, unreachable(errGap)
	case m.Event != nil:
		p.version++
	case m.Snapshot != nil:
		p.version = m.Snapshot.Version
	}
	return true, nil
}

// thread is the thread that a message is of, "" where it is of none.
func (m Message) thread() string {
	switch {
	case m.Event != nil:
		return m.Event.ThreadID
	case m.Delta != nil:
		return m.Delta.ThreadID
	case m.Snapshot != nil:
		return m.Snapshot.ThreadID
	case m.CaughtUp != nil:
		return m.CaughtUp.ThreadID
	}
	return ""
}
