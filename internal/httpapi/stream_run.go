package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"baton"
	"baton/internal/engine"
)

// writeTimeout is after how long a reader that takes nothing is cut off.
const writeTimeout = 20 * time.Second

// maxChanges is how many changes may wait for a stream that is busy writing.
const maxChanges = 100

var (
	errSlow = errors.New("the reader is too slow")
	errGap  = errors.New("something is missing between the hub and the journal")
)

// cursor is how far a reader knows a thread.
type cursor struct {
	thread baton.ThreadID
	after  uint64
}

// change is a change of what a stream brings.
type change struct {
	leave []baton.ThreadID
	join  []cursor
	list  *bool
}

// stream is one reader's connection. Its goroutine alone writes and reads the
// journal; others ask it for changes.
type stream struct {
	s         *Server
	id        string
	snapshots bool
	rowsFrom  uint64 // where the list begins, 0 for a new one

	mu      sync.Mutex
	want    map[baton.ThreadID]bool // with the changes that wait
	list    bool
	changes []change
	asking  chan struct{}

	// The goroutine's own.
	w       http.ResponseWriter
	rc      *http.ResponseController
	cut     atomic.Bool
	sub     *engine.Subscription
	threads map[baton.ThreadID]*follower
	rows    *rows  // nil where the list is not followed
	at      uint64 // the journal's sequence up to which all is sent, rows apart
	begun   bool   // ids may be sent
}

func (s *Server) newStream(snapshots bool) *stream {
	return &stream{s: s, id: s.cfg.NewID(prefixStream), snapshots: snapshots, want: map[baton.ThreadID]bool{},
		asking: make(chan struct{}, 1), threads: map[baton.ThreadID]*follower{}}
}

// ask queues a change and returns what the stream will bring then.
func (st *stream) ask(c change) (StreamState, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.changes) >= maxChanges {
		return StreamState{}, baton.Errorf(baton.CodeConflict, "the stream's reader takes nothing").WithHint("read the stream, or open another one")
	}
	want := maps.Clone(st.want)
	for _, id := range c.leave {
		delete(want, id)
	}
	for _, t := range c.join {
		want[t.thread] = true
	}
	if len(want) > maxFollowed {
		return StreamState{}, baton.Errorf(baton.CodeInvalid, "a stream brings at most %d threads", maxFollowed).
			WithHint("unsubscribe from those that nobody looks at; the list tells what goes on in all")
	}
	st.want = want
	if c.list != nil {
		st.list = *c.list
	}
	st.changes = append(st.changes, c)
	select {
	case st.asking <- struct{}{}:
	default:
	}
	out := StreamState{StreamID: st.id, Threads: []string{}, List: st.list}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		out.Threads = append(out.Threads, string(id))
	}
	return out, nil
}

// run writes until the reader leaves or is cut off. What is new is subscribed
// to first and read from the journal then, so that nothing falls between the
// two; what comes twice is known by its version or offset.
func (st *stream) run(ctx context.Context, w http.ResponseWriter) error {
	st.w, st.rc = w, http.NewResponseController(w)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	st.sub = st.s.cfg.Engine.Hub().Subscribe(func() {
		st.cut.Store(true)
		_ = st.rc.SetWriteDeadline(time.Now()) // one who is being waited for
	})
	defer func() {
		st.sub.Close()
		if !st.cut.Load() {
			_ = st.rc.SetWriteDeadline(time.Time{}) // the connection may serve other requests
		}
	}()
	if err := st.write("open", "", Opened{StreamID: st.id}); err != nil {
		return err
	}
	if err := st.begin(ctx); err != nil {
		return err
	}
	beat := time.NewTicker(st.s.cfg.Heartbeat)
	defer beat.Stop()
	for {
		var due <-chan time.Time
		if st.rows != nil {
			due = st.rows.due
		}
		var err error
		select {
		case <-st.sub.Ready():
			err = st.updates()
		case <-st.asking:
			err = st.changed(ctx)
		case <-due:
			err = st.flushRows(ctx)
		case <-beat.C:
			err = st.put(": alive\n\n")
		case <-st.s.closing:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		if err == nil {
			err = st.rc.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// begin brings what was asked for with the stream. Before all of it is there no
// message has an id: a reader that is cut off meanwhile has to begin again.
func (st *stream) begin(ctx context.Context) (err error) {
	if st.at, err = st.s.cfg.Engine.Journal().Head(ctx); err != nil {
		return err
	}
	if err := st.changed(ctx); err != nil {
		return err
	}
	st.begun = true
	if err := st.write("live", st.position(), struct{}{}); err != nil {
		return err
	}
	return st.rc.Flush()
}

// changed carries out the changes that wait.
func (st *stream) changed(ctx context.Context) error {
	st.mu.Lock()
	changes := st.changes
	st.changes = nil
	st.mu.Unlock()
	for _, c := range changes {
		for _, id := range c.leave {
			st.sub.Remove(id)
			delete(st.threads, id)
			if err := st.write("left", "", Left{ThreadID: string(id)}); err != nil {
				return err
			}
		}
		for _, t := range c.join {
			if st.threads[t.thread] != nil {
				continue
			}
			st.sub.Add(t.thread)
			if err := st.catchUp(ctx, t); err != nil {
				return err
			}
		}
		if c.list != nil {
			if err := st.setList(ctx, *c.list); err != nil {
				return err
			}
		}
	}
	return nil
}

// updates sends what the hub has brought.
func (st *stream) updates() error {
	updates, ok := st.sub.Take()
	if !ok {
		return errSlow
	}
	for _, u := range updates {
		if u.Row && st.rows != nil {
			st.rows.touch(u.Thread)
		}
		if f := st.threads[u.Thread]; f != nil {
			if err := f.update(st, u); err != nil {
				return err
			}
		}
		st.at = max(st.at, u.Seq)
	}
	return nil
}

// position is the id of a message that is sent when all up to st.at is.
func (st *stream) position() string {
	if st.rows != nil {
		return position(st.at, st.rows.sent(st.at))
	}
	return position(st.at, st.at)
}

// write sends a message; an empty id is none.
func (st *stream) write(event, id string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return st.message(event, id, data)
}

func (st *stream) message(event, id string, data []byte) error {
	if id != "" && st.begun {
		return st.put("event: %s\nid: %s\ndata: %s\n\n", event, id, data)
	}
	return st.put("event: %s\ndata: %s\n\n", event, data)
}

// put writes. The deadline is set before the look at cut and by who sets cut
// behind it, so that one of the two ends the waiting.
func (st *stream) put(format string, args ...any) error {
	_ = st.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	if st.cut.Load() {
		return errSlow
	}
	_, err := fmt.Fprintf(st.w, format, args...)
	return err
}
