package client

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"baton"
	"baton/internal/httpapi"
)

// Message is one message of a stream: one field is set.
type Message struct {
	Event    *httpapi.Event
	Delta    *httpapi.Delta
	CaughtUp *httpapi.CaughtUp
}

// Stream follows a thread behind a version until fn returns an error or ctx
// ends. When the connection ends it comes back with its cursor, so fn sees
// every event once; deltas may be seen again. A connection without a sign of life
// for three heartbeats counts as ended. Where the server is gone, a client that
// Connect has made waits for the next one, but starts none: see away.go.
// fn may return io.EOF to end without an error.
func (c *Client) Stream(ctx context.Context, thread string, version uint64, fn func(Message) error) error {
	c.followed.Store(&thread)
	for failed := 0; ; {
		before := version
		err := c.follow(ctx, thread, &version, fn)
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
		case err != nil && c.start != nil:
			if err := c.back(ctx, err); err != nil {
				return err
			}
		case err != nil && before == version:
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

func (c *Client) follow(ctx context.Context, thread string, version *uint64, fn func(Message) error) error {
	alive, cancel := context.WithCancel(ctx)
	defer cancel()
	life := time.AfterFunc(c.times.silence, cancel)
	defer life.Stop()
	res, err := c.request(alive, http.MethodGet, Path("threads", thread, "stream")+after(*version), nil)
	if err != nil && alive.Err() != nil {
		err = unreachable(err)
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		return httpapi.Failure(res.StatusCode, b)
	}
	r := bufio.NewReaderSize(res.Body, 64<<10)
	event, data := "", ""
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return unreachable(err)
		}
		life.Reset(c.times.silence)
		line = strings.TrimSuffix(line, "\n")
		if field, value, ok := strings.Cut(line, ": "); ok {
			switch field {
			case "event":
				event = value
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
			return err
		}
		event, data = "", ""
		if m.Event != nil {
			if m.Event.Version <= *version {
				continue
			}
			*version = m.Event.Version
		}
		if err := fn(m); err != nil {
			return stopped{err}
		}
	}
}

func decode(event, data string) (Message, error) {
	var m Message
	var v any
	switch event {
	case "event":
		m.Event = &httpapi.Event{}
		v = m.Event
	case "delta":
		m.Delta = &httpapi.Delta{}
		v = m.Delta
	case "caught_up":
		m.CaughtUp = &httpapi.CaughtUp{}
		v = m.CaughtUp
	default:
		return m, nil // of a newer server
	}
	if err := json.Unmarshal([]byte(data), v); err != nil {
		return m, baton.Errorf(baton.CodeInternal, "the stream can't be read").WithDetail("%v", err)
	}
	return m, nil
}
