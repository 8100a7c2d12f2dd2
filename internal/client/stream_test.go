package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

func event(w io.Writer, thread string, v int) {
	fmt.Fprintf(w, "event: event\nid: %d\ndata: {\"thread_id\":%q,\"version\":%d,\"type\":\"t\"}\n\n", v, thread, v)
}

func send(w io.Writer, event, data string) {
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
}

func TestStreamComesBackWithItsCursor(t *testing.T) {
	var cursors []string
	c := New(serve(t, func(w http.ResponseWriter, r *http.Request) {
		cursors = append(cursors, r.URL.Query().Get("thread"))
		switch len(cursors) {
		case 1: // cut off in the middle of a message
			event(w, "thr_1", 4)
			event(w, "thr_1", 5)
			fmt.Fprint(w, ": alive\n\nevent: event\nid: 6\ndata: {\"ver")
		case 2: // with one that is known, one of a newer server, then a gap
			event(w, "thr_1", 5)
			send(w, "novelty", `{}`)
			event(w, "thr_1", 6)
			send(w, "caught_up", `{"thread_id":"thr_1","version":6}`)
			event(w, "thr_1", 8)
		default:
			event(w, "thr_1", 7)
			send(w, "live", `{}`)
		}
	}))
	defer c.Close()
	var got []uint64
	err := c.Stream(t.Context(), "thr_1", 3, func(m Message) error {
		if m.Event != nil {
			got = append(got, m.Event.Version)
		}
		if m.Live {
			return io.EOF
		}
		return nil
	})
	if err != nil || fmt.Sprint(got) != "[4 5 6 7]" {
		t.Errorf("got %v, %v", got, err)
	}
	if strings.Join(cursors, " ") != "thr_1@3 thr_1@5 thr_1@6" {
		t.Errorf("it came back with %v", cursors)
	}
}

func TestStreamEndsWithTheCallersError(t *testing.T) {
	c := New(serve(t, func(w http.ResponseWriter, _ *http.Request) { send(w, "live", "{}") }))
	defer c.Close()
	mine := errors.New("enough")
	if err := c.Stream(t.Context(), "thr_1", 0, func(Message) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("got %v", err)
	}
}

// What is left is not given out any more, and what is followed again is not
// taken for new before the server has brought it.
func TestFollowerDropsWhatIsLeft(t *testing.T) {
	var mu sync.Mutex
	var changes []string
	posted := make(chan struct{}, 10)
	c := New(serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			b, _ := io.ReadAll(r.Body)
			mu.Lock()
			changes = append(changes, r.URL.Path+" "+string(b))
			mu.Unlock()
			fmt.Fprint(w, "{}")
			posted <- struct{}{}
			return
		}
		send(w, "open", `{"stream_id":"str_1"}`)
		send(w, "snapshot", `{"thread_id":"thr_1","version":7}`)
		send(w, "caught_up", `{"thread_id":"thr_1","version":7}`)
		send(w, "live", `{}`)
		_ = http.NewResponseController(w).Flush()
		<-posted // left
		<-posted // and followed again
		event(w, "thr_1", 8)
		send(w, "delta", `{"thread_id":"thr_1","text":"early"}`)
		send(w, "caught_up", `{"thread_id":"thr_1","version":8}`)
		send(w, "left", `{"thread_id":"thr_1"}`)
		send(w, "snapshot", `{"thread_id":"thr_1","version":9}`)
		send(w, "delta", `{"thread_id":"thr_1","text":"in time"}`)
		event(w, "thr_1", 9)
		event(w, "thr_1", 10)
	}))
	defer c.Close()
	f := c.Follower(true)
	if err := f.Thread(t.Context(), "thr_1", 0); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := f.Run(t.Context(), func(m Message) error {
		switch {
		case m.Live:
			if v, err := f.Leave(t.Context(), "thr_1"); err != nil || v != 7 {
				t.Errorf("left at %d, %v", v, err)
			}
			return f.Thread(t.Context(), "thr_1", 0)
		case m.Snapshot != nil:
			got = append(got, fmt.Sprint("snapshot ", m.Snapshot.Version))
		case m.Delta != nil:
			got = append(got, m.Delta.Text)
		case m.Event != nil:
			got = append(got, fmt.Sprint("event ", m.Event.Version))
			return io.EOF
		}
		return nil
	})
	if want := []string{"snapshot 7", "snapshot 9", "in time", "event 10"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{`/api/streams/str_1 {"unsubscribe":["thr_1"]}`, `/api/streams/str_1 {"subscribe":[{"thread_id":"thr_1"}]}`}; !slices.Equal(changes, want) {
		t.Errorf("asked for %q", changes)
	}
}

// What is followed while a connection is being made is asked for once that is there.
func TestFollowerTellsWhatChangedMeanwhile(t *testing.T) {
	asked, posted := make(chan string, 1), make(chan struct{})
	var f *Follower
	c := New(serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			b, _ := io.ReadAll(r.Body)
			asked <- string(b)
			fmt.Fprint(w, "{}")
			close(posted)
			return
		}
		if err := f.Thread(r.Context(), "thr_2", 5); err != nil {
			t.Error(err)
		}
		send(w, "open", `{"stream_id":"str_1"}`)
		_ = http.NewResponseController(w).Flush()
		<-posted
		send(w, "live", `{}`)
	}))
	defer c.Close()
	f = c.Follower(true)
	if err := f.Run(t.Context(), func(Message) error { return io.EOF }); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != `{"subscribe":[{"thread_id":"thr_2","after":5}]}` {
		t.Errorf("asked for %s", got)
	}
}

// The list comes back with its cursor where it is known, and whole where it is not.
func TestFollowerComesBackToTheList(t *testing.T) {
	var asked []string
	var f *Follower
	c := New(serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			fmt.Fprint(w, "{}")
			return
		}
		asked = append(asked, r.URL.Query().Get("list")+" "+r.URL.Query().Get("after"))
		send(w, "open", `{"stream_id":"str_1"}`)
		switch len(asked) {
		case 1:
			event(w, "thr_1", 4)
			_ = f.List(r.Context(), true) // comes with the next connection
		case 2:
			send(w, "list", `{"items":[]}`)
			fmt.Fprint(w, "event: row\nid: 7.5\ndata: {}\n\n")
		case 3:
			send(w, "row", `{}`)
			_, _ = f.Leave(r.Context(), "thr_1")
			_ = f.List(r.Context(), false)
			_ = f.List(r.Context(), true)
		default:
			send(w, "live", `{}`)
		}
	}))
	defer c.Close()
	f = c.Follower(true)
	_ = f.Thread(t.Context(), "thr_1", 3)
	err := f.Run(t.Context(), func(m Message) error {
		if m.Live {
			return io.EOF
		}
		return nil
	})
	if got := strings.Join(asked, ", "); err != nil || got != " , true , true 7.5, true " {
		t.Errorf("asked for %q, %v", got, err)
	}
}
