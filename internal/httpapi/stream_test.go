package httpapi

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/engine"
	"baton/internal/journal"
)

// message is one server-sent event.
type message struct{ event, id, data string }

// reader follows a thread from a cursor.
type reader struct {
	*rig
	res   *http.Response
	lines *bufio.Scanner
}

func (r *rig) follow(thread, query, lastID string) *reader {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), "GET", "http://baton/api/threads/"+thread+"/stream"+query, nil)
	if err != nil {
		r.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	res, err := r.http.Do(req)
	if err != nil || res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		r.Fatalf("%v %v", res, err)
	}
	r.Cleanup(func() { res.Body.Close() })
	return &reader{rig: r, res: res, lines: bufio.NewScanner(res.Body)}
}

// next returns the next message; a comment comes as one with its text as event.
func (r *reader) next() message {
	r.Helper()
	var m message
	for r.lines.Scan() {
		line := r.lines.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			m.event = line[7:]
		case strings.HasPrefix(line, "id: "):
			m.id = line[4:]
		case strings.HasPrefix(line, "data: "):
			m.data = line[6:]
		case strings.HasPrefix(line, ":"):
			m.event = line
		case line == "" && m.event != "":
			return m
		}
	}
	r.Fatal("the stream has ended")
	return m
}

// until reads on until a message of the kind has come, and returns the
// versions of the events before it.
func (r *reader) until(event, contains string) (versions []int) {
	r.Helper()
	for {
		m := r.next()
		if m.id != "" {
			n, err := strconv.Atoi(m.id)
			if err != nil {
				r.Fatal(err)
			}
			versions = append(versions, n)
		}
		if m.event == event && strings.Contains(m.data, contains) {
			return versions
		}
	}
}

func sequence(versions []int, from int) bool {
	for i, v := range versions {
		if v != from+i {
			return false
		}
	}
	return true
}

func TestStreamReplaysThenGoesOn(t *testing.T) {
	r := newRig(t, nil)
	th := r.thread("s")
	live := r.follow(th.ID, "?after=0", "")
	first := live.until("caught_up", `"version":1`)
	if !sequence(first, 1) || len(first) != 1 {
		t.Errorf("replayed %v", first)
	}
	ask[baton.Reply](r, "POST", "/api/threads/"+th.ID+"/messages", `{"text":"hello"}`)
	seen := live.until("event", `"run.ended"`)
	if !sequence(seen, 2) {
		t.Errorf("live %v", seen)
	}
	last := seen[len(seen)-1]

	// A second reader gets the same by replay; one with a cursor gets the rest.
	again := r.follow(th.ID, "", "")
	if all := again.until("caught_up", ""); !sequence(all, 1) || len(all) < last {
		t.Errorf("replayed %v, want 1 to %d", all, last)
	}
	rest := r.follow(th.ID, "?after=1", strconv.Itoa(last-2)).until("caught_up", "")
	if len(rest) < 2 || !sequence(rest, last-1) {
		t.Errorf("behind Last-Event-ID %d came %v", last-2, rest)
	}
}

func TestStreamHeartbeat(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Heartbeat = time.Millisecond })
	s := r.follow(r.thread("h").ID, "", "")
	s.until("caught_up", "")
	s.until(": alive", "")
}

func TestStreamRefusesAStrangeCursor(t *testing.T) {
	r := newRig(t, nil)
	th := r.thread("c")
	req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://baton/api/threads/"+th.ID+"/stream", nil)
	req.Header.Set("Last-Event-ID", "yesterday")
	res, err := r.http.Do(req)
	if err != nil || res.StatusCode != 422 {
		t.Fatalf("%v %v", res, err)
	}
	res.Body.Close()
}

// written returns what a stream has written: events by version, deltas by text.
func written(t *testing.T, rec *httptest.ResponseRecorder) string {
	t.Helper()
	var out []string
	for block := range strings.SplitSeq(rec.Body.String(), "\n\n") {
		_, data, ok := strings.Cut(block, "data: ")
		if !ok {
			continue
		}
		var v struct {
			Version uint64
			Text    string
		}
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatal(err)
		}
		if v.Version != 0 {
			out = append(out, "v"+strconv.FormatUint(v.Version, 10))
		} else {
			out = append(out, v.Text)
		}
	}
	rec.Body.Reset()
	return strings.Join(out, " ")
}

func TestStreamDropsWhatIsKnown(t *testing.T) {
	rec := httptest.NewRecorder()
	st := newStream(rec, "thr_1", 2)
	event := func(v uint64, d baton.EventData) baton.Event {
		return baton.Event{Thread: "thr_1", Version: v, Data: d}
	}
	chunk := func(rev int, at int64, text string) journal.Chunk {
		return journal.Chunk{Item: "itm_1", Revision: rev, Offset: at, Text: text}
	}
	for i, test := range []struct {
		unit engine.Update
		want string
	}{
		// The unit was read from the journal already, but for its last event.
		{engine.Update{Events: []baton.Event{event(2, baton.EventQueueResumed{}), event(3, baton.EventItemOpened{Item: "itm_1", Open: true})},
			Chunks: []journal.Chunk{chunk(0, 0, "ab")}}, "v3 ab"},
		{engine.Update{Chunks: []journal.Chunk{chunk(0, 0, "ab"), chunk(0, 2, "cd")}}, "cd"},
		{engine.Update{Chunks: []journal.Chunk{{Item: "itm_1", Output: true, Text: "out"}}}, "out"},
		// A new revision begins at the start again.
		{engine.Update{Events: []baton.Event{event(4, baton.EventItemReset{Item: "itm_1", Revision: 1})}, Chunks: []journal.Chunk{chunk(1, 0, "x")}}, "v4 x"},
		// The close carries the whole text: what streamed beside it is dropped.
		{engine.Update{Events: []baton.Event{event(5, baton.EventItemClosed{Item: "itm_1"})}, Chunks: []journal.Chunk{chunk(1, 1, "y")}}, "v5"},
		{engine.Update{Events: []baton.Event{event(5, baton.EventItemClosed{Item: "itm_1"})}}, ""},
	} {
		if err := st.unit(test.unit); err != nil {
			t.Fatal(err)
		}
		if got := written(t, rec); got != test.want {
			t.Errorf("unit %d: wrote %q, want %q", i, got, test.want)
		}
	}
}
