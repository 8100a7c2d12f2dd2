package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"baton"
	"baton/internal/engine"
	"baton/internal/journal"
)

const (
	replayPage   = 500
	replayText   = 256 << 10        // bytes of an open item's text in one delta, about
	writeTimeout = 20 * time.Second // after which a reader that takes nothing is cut off
)

type streamIn struct {
	ThreadPath
	After       uint64 `query:"after" doc:"version of the last event that the reader has"`
	LastEventID string `header:"Last-Event-ID"`
}

func (s *Server) streams() {
	op := huma.Operation{OperationID: "stream-thread", Method: http.MethodGet, Path: "/api/threads/{thread}/stream",
		Summary:   "Follow a thread: server-sent events of the types event, delta and caught_up",
		Responses: map[string]*huma.Response{"200": {Description: "the stream", Content: map[string]*huma.MediaType{"text/event-stream": {}}}}}
	huma.Register(s.api, op, func(ctx context.Context, in *streamIn) (*huma.StreamResponse, error) {
		id, err := resolve(ctx, s.cfg.Engine.Journal(), journal.KindThread, in.Thread)
		if err != nil {
			return nil, s.fail(err)
		}
		after := in.After
		if in.LastEventID != "" {
			if after, err = strconv.ParseUint(in.LastEventID, 10, 64); err != nil {
				return nil, s.fail(baton.Errorf(baton.CodeInvalid, "Last-Event-ID is no version of a thread"))
			}
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			_, w := humago.Unwrap(c)
			st := newStream(w, baton.ThreadID(id), after)
			if err := st.run(c.Context(), s); err != nil {
				s.log().Debug("a stream has ended", "thread", id, "error", err)
			}
		}}, nil
	})
}

// textKey names one text of one revision of an item.
type textKey struct {
	item     baton.ItemID
	revision int
	output   bool
}

// stream writes one reader's events.
type stream struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	thread baton.ThreadID
	at     uint64                // version of the last event sent
	sent   map[textKey]int64     // how far the texts of open items are sent
	closed map[baton.ItemID]bool // in the unit at hand
}

func newStream(w http.ResponseWriter, thread baton.ThreadID, after uint64) *stream {
	return &stream{w: w, rc: http.NewResponseController(w), thread: thread, at: after, sent: map[textKey]int64{}}
}

// run subscribes first and reads the journal then, so that nothing falls
// between the two; what comes twice is known by its version or offset.
func (st *stream) run(ctx context.Context, s *Server) error {
	sub := s.cfg.Engine.Hub().Subscribe(st.thread)
	defer sub.Close()
	h := st.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	st.w.WriteHeader(http.StatusOK)
	if err := st.replay(ctx, s.cfg.Engine); err != nil {
		return err
	}
	if err := st.write("caught_up", 0, CaughtUp{Version: st.at}); err != nil {
		return err
	}
	if err := st.flush(); err != nil {
		return err
	}
	beat := time.NewTicker(s.cfg.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case u, ok := <-sub.C:
			if !ok {
				return nil // too slow: the reader comes back with its cursor
			}
			if err := st.unit(u); err != nil {
				return err
			}
			if len(sub.C) > 0 {
				continue // more waits: one flush for all
			}
		case <-beat.C:
			st.deadline()
			if _, err := fmt.Fprint(st.w, ": alive\n\n"); err != nil {
				return err
			}
		case <-s.closing:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := st.flush(); err != nil {
			return err
		}
	}
}

// replay sends what the journal has behind the cursor, then what open items
// hold. The last part and the texts are read at one point.
func (st *stream) replay(ctx context.Context, e *engine.Engine) error {
	for {
		events, err := e.Journal().Events(ctx, st.thread, st.at, replayPage)
		if err != nil {
			return err
		}
		if err := st.events(events); err != nil {
			return err
		}
		if len(events) < replayPage {
			break
		}
	}
	var events []baton.Event
	var texts []journal.Chunk
	err := e.View(ctx, func(r journal.Reader) (err error) {
		if events, err = r.Events(ctx, st.thread, st.at, 1<<30); err != nil {
			return err
		}
		l, err := r.Load(ctx, st.thread)
		if err != nil {
			return err
		}
		for _, c := range l.Chunks {
			for output, end := range map[bool]int64{false: c.Text, true: c.Output} {
				for from := int64(0); from < end; {
					chunks, err := r.Chunks(ctx, c.Item, output, from, replayText)
					if err != nil || len(chunks) == 0 {
						return err
					}
					joined := chunks[0]
					for _, more := range chunks[1:] {
						joined.Text += more.Text
					}
					texts = append(texts, joined)
					from = joined.Offset + int64(len(joined.Text))
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := st.events(events); err != nil {
		return err
	}
	return st.texts(texts)
}

// unit sends one committed unit: its events, then the text that came with it,
// but for items that it closed, whose close carries the whole.
func (st *stream) unit(u engine.Update) error {
	if err := st.events(u.Events); err != nil {
		return err
	}
	return st.texts(u.Chunks)
}

func (st *stream) events(events []baton.Event) error {
	st.closed = map[baton.ItemID]bool{}
	for _, e := range events {
		if e.Version <= st.at {
			continue
		}
		w, err := eventOf(e)
		if err != nil {
			return err
		}
		if err := st.write("event", e.Version, w); err != nil {
			return err
		}
		st.at = e.Version
		if c, ok := e.Data.(baton.EventItemClosed); ok {
			st.closed[c.Item] = true
			for k := range st.sent {
				if k.item == c.Item {
					delete(st.sent, k)
				}
			}
		}
	}
	return nil
}

func (st *stream) texts(chunks []journal.Chunk) error {
	for _, c := range chunks {
		key := textKey{c.Item, c.Revision, c.Output}
		if st.closed[c.Item] || c.Offset < st.sent[key] {
			continue
		}
		if err := st.write("delta", 0, deltaOf(c)); err != nil {
			return err
		}
		st.sent[key] = c.Offset + int64(len(c.Text))
	}
	return nil
}

func (st *stream) write(event string, id uint64, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	st.deadline()
	if id != 0 {
		_, err = fmt.Fprintf(st.w, "event: %s\nid: %d\ndata: %s\n\n", event, id, data)
	} else {
		_, err = fmt.Fprintf(st.w, "event: %s\ndata: %s\n\n", event, data)
	}
	return err
}

func (st *stream) deadline() { _ = st.rc.SetWriteDeadline(time.Now().Add(writeTimeout)) }

func (st *stream) flush() error { return st.rc.Flush() }
