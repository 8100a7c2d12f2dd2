package client

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"baton"
	"baton/internal/httpapi"
)

// Message is one message of a stream: one field is set.
type Message struct {
	Event    *httpapi.Event
	Delta    *httpapi.Delta
	Snapshot *httpapi.Snapshot // replaces what is known of its thread
	List     *httpapi.Page[httpapi.ThreadRow]
	Row      *httpapi.ThreadRow
	CaughtUp *httpapi.CaughtUp
	Live     bool // all that was followed when the connection was made is there

	opened *httpapi.Opened
	left   *httpapi.Left
}

// Stream follows a thread, named by its whole id, behind a version until fn
// returns an error or ctx ends: all its events, each once, whatever becomes of
// the connection and the server; see Follower.Run.
func (c *Client) Stream(ctx context.Context, thread string, version uint64, fn func(Message) error) error {
	f := c.Follower(false)
	f.follow(thread, version)
	c.followed.Store(&thread)
	return f.Run(ctx, fn)
}

// Run follows until fn returns an error or ctx ends. When the connection ends it
// comes back with its cursors, so fn sees every event once, or a snapshot
// instead; deltas may be seen again. A connection without a sign of life for three
// heartbeats counts as ended. Where the server is gone, a client that Connect has
// made waits for the next one: see away.go.
// fn may return io.EOF to end without an error. It is called by one goroutine,
// and may change what is followed. A Follower runs once at a time.
func (f *Follower) Run(ctx context.Context, fn func(Message) error) error {
	for failed := 0; ; {
		came, err := f.connection(ctx, fn)
		var stop stopped
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case asStopped(err, &stop):
			if stop.error == io.EOF {
				return nil
			}
			return stop.error
		case err != nil && baton.ErrorCode(err) != baton.CodeServerUnreachable:
			return err
		case err != nil && f.c.start != nil:
			if err := f.c.back(ctx, err); err != nil {
				return err
			}
		case err != nil && !came:
			// Nothing came: one more try, since a server may just be taking over.
			if failed++; failed > 1 {
				return err
			}
		default:
			failed = 0
		}
	}
}

// stopped is an error of the caller's function.
type stopped struct{ error }

func asStopped(err error, s *stopped) bool {
	v, ok := err.(stopped)
	*s = v
	return ok
}

// connection reads one connection to its end; came says whether it brought
// anything.
func (f *Follower) connection(ctx context.Context, fn func(Message) error) (came bool, err error) {
	alive, cancel := context.WithCancel(ctx)
	defer cancel()
	life := time.AfterFunc(f.c.times.silence, cancel)
	defer life.Stop()
	query, asked := f.cursors()
	res, err := f.c.request(alive, http.MethodGet, Path("streams")+"?"+query.Encode(), nil)
	if err != nil && alive.Err() != nil {
		err = unreachable(err)
	}
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	defer f.ended()
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		return false, httpapi.Failure(res.StatusCode, b)
	}
	r := bufio.NewReaderSize(res.Body, 64<<10)
	event, id, data := "", "", ""
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return came, unreachable(err)
		}
		life.Reset(f.c.times.silence)
		line = strings.TrimSuffix(line, "\n")
		if field, value, ok := strings.Cut(line, ": "); ok {
			switch field {
			case "event":
				event = value
			case "id":
				id = value
			case "data":
				data = value
			}
			continue
		}
		if line != "" || event == "" {
			continue
		}
		m, err := decode(event, data)
		if err != nil {
			return came, err
		}
		if m.opened != nil {
			if err := f.opened(ctx, m.opened.StreamID, asked, query.Has("list")); err != nil {
				return came, err
			}
		}
		give, err := f.take(m, id)
		if err != nil {
			return came, err
		}
		event, id, data = "", "", ""
		came = came || m.opened == nil
		if !give {
			continue
		}
		if err := fn(m); err != nil {
			return came, stopped{err}
		}
	}
}

func decode(event, data string) (Message, error) {
	var m Message
	var v any
	switch event {
	case "open":
		m.opened = &httpapi.Opened{}
		v = m.opened
	case "event":
		m.Event = &httpapi.Event{}
		v = m.Event
	case "delta":
		m.Delta = &httpapi.Delta{}
		v = m.Delta
	case "snapshot":
		m.Snapshot = &httpapi.Snapshot{}
		v = m.Snapshot
	case "list":
		m.List = &httpapi.Page[httpapi.ThreadRow]{}
		v = m.List
	case "row":
		m.Row = &httpapi.ThreadRow{}
		v = m.Row
	case "caught_up":
		m.CaughtUp = &httpapi.CaughtUp{}
		v = m.CaughtUp
	case "left":
		m.left = &httpapi.Left{}
		v = m.left
	case "live":
		m.Live = true
		return m, nil
	default:
		return m, nil // of a newer server
	}
	if err := json.Unmarshal([]byte(data), v); err != nil {
		return m, baton.Errorf(baton.CodeInternal, "the stream can't be read").WithDetail("%v", err)
	}
	return m, nil
}

// cursors is what a new connection asks for.
func (f *Follower) cursors() (query url.Values, threads map[string]*place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	query, threads = url.Values{}, map[string]*place{}
	for id, p := range f.threads {
		threads[id] = p
		query.Add("thread", id+"@"+strconv.FormatUint(p.version, 10))
	}
	if f.list {
		query.Set("list", "true")
	}
	if !f.snapshots {
		query.Set("snapshots", "false")
	}
	if f.listed {
		query.Set("after", f.last)
	}
	return query, threads
}
