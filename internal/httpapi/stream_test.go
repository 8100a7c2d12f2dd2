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

// reader reads a stream.
type reader struct {
	*rig
	res   *http.Response
	lines *bufio.Scanner
}

func (r *rig) follow(query, lastID string) *reader {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), "GET", "http://baton/api/streams?"+query, nil)
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

// until reads on until a message of the kind has come, and returns all up to it.
func (r *reader) until(event, contains string) (all []message) {
	r.Helper()
	for {
		m := r.next()
		all = append(all, m)
		if m.event == event && strings.Contains(m.data, contains) {
			return all
		}
	}
}

// versions are those of a thread's events among the messages.
func versions(t *testing.T, thread string, all []message) (out []int) {
	t.Helper()
	for _, m := range all {
		if m.event != "event" {
			continue
		}
		if e := of[Event](t, m); e.ThreadID == thread {
			out = append(out, int(e.Version))
		}
	}
	return out
}

func of[T any](t *testing.T, m message) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(m.data), &v); err != nil {
		t.Fatal(err, m)
	}
	return v
}

// kinds are the kinds of the messages, each named once in a row.
func kinds(all []message) string {
	var out []string
	for _, m := range all {
		if len(out) == 0 || out[len(out)-1] != m.event {
			out = append(out, m.event)
		}
	}
	return strings.Join(out, " ")
}

func sequence(versions []int, from int) bool {
	for i, v := range versions {
		if v != from+i {
			return false
		}
	}
	return true
}

// hold and resume make events without an agent.
func (r *rig) hold(thread string) { ask[baton.Reply](r, "POST", "/api/threads/"+thread+"/stop", "{}") }

func TestStreamBeginsWithSnapshotsThenGoesOn(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.thread("a"), r.thread("b")
	s := r.follow("thread="+a.ID+"&thread="+b.ID, "")
	begin := s.until("live", "")
	if got := kinds(begin); got != "open snapshot caught_up snapshot caught_up live" {
		t.Errorf("it began with %s", got)
	}
	snap := of[Snapshot](t, begin[1])
	if snap.ThreadID != a.ID || snap.Version != 1 || snap.Thread.Title != "a" {
		t.Errorf("got %+v", snap)
	}
	ask[baton.Reply](r, "POST", "/api/threads/"+a.ID+"/messages", `{"text":"hello"}`)
	seen := s.until("event", `"run.ended"`)
	if got := versions(t, a.ID, seen); !sequence(got, 2) || len(got) < 3 {
		t.Errorf("live %v", got)
	}
	r.hold(b.ID)
	if got := versions(t, b.ID, s.until("event", `"queue.held"`)); !sequence(got, 2) {
		t.Errorf("of the other thread came %v", got)
	}

	// A snapshot now holds what the events told.
	all := r.follow("thread="+a.ID, "").until("live", "")
	snap = of[Snapshot](t, all[1])
	if len(snap.Items) == 0 || len(snap.Thread.Runs) != 1 || snap.Thread.Runs[0].Status != "failed" || int(snap.Version) < len(seen) {
		t.Errorf("got %+v", snap)
	}
}

func TestStreamResumes(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.thread("a"), r.thread("b")
	both := "thread=" + a.ID + "&thread=" + b.ID
	s := r.follow(both, "")
	live := s.until("live", "")
	id := live[len(live)-1].id
	for _, th := range []string{a.ID, b.ID, a.ID} {
		ask[baton.Reply](r, "POST", "/api/threads/"+th+"/queue/resume", "{}")
		r.hold(th)
	}
	for _, c := range []struct {
		what, query, id string
		a, b            int // first versions that come, 0 for none
	}{
		{"by id", both, id, 2, 2},
		{"by id in the query", both + "&after=" + id, "", 2, 2},
		{"by versions", "thread=" + a.ID + "@3&thread=" + b.ID + "@1&after=" + id, "", 4, 2},
		{"by id to an address with versions", "thread=" + a.ID + "@0&thread=" + b.ID + "@2", id, 2, 3},
	} {
		all := r.follow(c.query, c.id).until("live", "")
		va, vb := versions(t, a.ID, all), versions(t, b.ID, all)
		if kinds(all) != "open event caught_up event caught_up live" || !sequence(va, c.a) || !sequence(vb, c.b) {
			t.Errorf("%s: %s, %v %v", c.what, kinds(all), va, vb)
		}
		if end := of[CaughtUp](t, all[len(all)-2]); vb[len(vb)-1] != int(end.Version) {
			t.Errorf("%s: the events end at %v, it caught up at %d", c.what, vb, end.Version)
		}
		for _, m := range all[:len(all)-1] {
			if m.id != "" {
				t.Errorf("%s: an id before all is there: %+v", c.what, m)
			}
		}
	}
	// All that is live has an id, and each of them is a place to go on from.
	for _, m := range s.until("event", `"version":`+strconv.Itoa(versionOf(r, a.ID))) {
		if m.id == "" {
			t.Fatalf("a live event without id: %+v", m)
		}
		e := of[Event](t, m)
		all := r.follow("thread="+e.ThreadID, m.id).until("caught_up", "")
		if got := versions(t, e.ThreadID, all); !sequence(got, int(e.Version)+1) {
			t.Errorf("behind %+v came %v", m, got)
		}
	}
}

func versionOf(r *rig, thread string) int {
	return int(ask[Thread](r, "GET", "/api/threads/"+thread+"?runs=0", "").Version)
}

func TestStreamOfAnOldCursorIsASnapshot(t *testing.T) {
	r := newRig(t, nil)
	th := r.thread("s")
	for v := 1; v <= replayMost+1; v = versionOf(r, th.ID) {
		for range 100 {
			r.hold(th.ID)
		}
	}
	for query, want := range map[string]string{
		"thread=" + th.ID + "@1":                 "open snapshot caught_up live",
		"thread=" + th.ID + "@999999":            "open snapshot caught_up live", // of other data
		"thread=" + th.ID + "@200":               "open event caught_up live",
		"thread=" + th.ID + "@1&snapshots=false": "open event caught_up live",
		"thread=" + th.ID + "@0&snapshots=false": "open event caught_up live",
		"thread=" + th.ID + "&snapshots=true":    "open snapshot caught_up live",
	} {
		all := r.follow(query, "").until("live", "")
		if got := kinds(all); got != want {
			t.Errorf("%s: %s", query, got)
		}
		if v := of[CaughtUp](t, all[len(all)-2]).Version; int(v) != versionOf(r, th.ID) {
			t.Errorf("%s: caught up at %d", query, v)
		}
	}
}

func TestStreamIsChanged(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.thread("a"), r.thread("b")
	s := r.follow("thread="+a.ID, "")
	id := of[Opened](t, s.next()).StreamID
	s.until("live", "")
	post := func(body string) StreamState { return ask[StreamState](r, "POST", "/api/streams/"+id, body) }

	state := post(`{"subscribe":[{"thread_id":` + quote(b.ID) + `}]}`)
	if len(state.Threads) != 2 || state.List {
		t.Errorf("it brings %+v", state)
	}
	if got := kinds(s.until("caught_up", b.ID)); got != "snapshot caught_up" {
		t.Errorf("a new thread came as %s", got)
	}
	post(`{"unsubscribe":[` + quote(a.ID) + `]}`)
	s.until("left", a.ID) // until then its events may come
	r.hold(a.ID)
	r.hold(b.ID)
	if got := s.until("event", b.ID); len(versions(t, a.ID, got)) != 0 {
		t.Errorf("of the thread that was left came %v", got)
	}
	// Again, from where it was left.
	post(`{"subscribe":[{"thread_id":` + quote(a.ID) + `,"after":1}]}`)
	if got := versions(t, a.ID, s.until("caught_up", a.ID)); !sequence(got, 2) || len(got) == 0 {
		t.Errorf("missed: %v", got)
	}
	r.refused("POST", "/api/streams/"+id, `{"subscribe":[{"thread_id":"thr_nothing"}]}`, 404, baton.CodeNotFound)
	s.res.Body.Close()
}

func TestStreamBringsTheList(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.thread("a"), r.thread("b")
	s := r.follow("list=true", "")
	all := s.until("live", "")
	if list := of[Page[ThreadRow]](t, all[1]); kinds(all) != "open list caught_up live" || len(list.Items) != 2 {
		t.Errorf("it began with %s, %+v", kinds(all), list)
	}
	first := all[len(all)-1].id
	r.hold(b.ID)
	m := s.until("row", b.ID)
	if row := of[Thread](t, m[len(m)-1]); !row.QueueHeld || m[len(m)-1].id == "" {
		t.Errorf("got %+v", row)
	}
	c := r.thread("c")
	m = s.until("row", c.ID)
	if rest := r.follow("list=true", m[len(m)-1].id).until("live", ""); kinds(rest) != "open caught_up live" {
		t.Errorf("behind the last row came %s", kinds(rest))
	}

	// Who comes back gets the rows that have changed, who knows nothing the list.
	rest := r.follow("list=true", first).until("live", "")
	got := map[string]bool{}
	for _, m := range rest {
		if m.event == "row" {
			got[of[Thread](t, m).ID] = true
		}
	}
	if kinds(rest) != "open row caught_up live" || got[a.ID] || !got[b.ID] || !got[c.ID] {
		t.Errorf("%s with %v", kinds(rest), got)
	}
	if rest := r.follow("list=true", "99999").until("live", ""); kinds(rest) != "open list caught_up live" {
		t.Errorf("for a cursor of other data came %s", kinds(rest))
	}
}

// Rows are behind events while they are gathered, and the ids say so.
func TestStreamListIsNotAheadOfItsRows(t *testing.T) {
	r := newRig(t, nil)
	a := r.thread("a")
	s := r.follow("list=true&thread="+a.ID, "")
	s.until("live", "")
	r.hold(a.ID)
	m := s.until("event", `"queue.held"`)
	id := m[len(m)-1].id
	if !strings.Contains(id, ".") {
		t.Fatalf("the id %q hides that a row is to come", id)
	}
	rest := r.follow("list=true&thread="+a.ID, id).until("live", "")
	if !strings.Contains(kinds(rest), "row") || len(versions(t, a.ID, rest)) != 0 {
		t.Errorf("behind %s came %v", id, rest)
	}
}

func TestStreamHeartbeat(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Heartbeat = time.Millisecond })
	s := r.follow("thread="+r.thread("h").ID, "")
	s.until("live", "")
	s.until(": alive", "")
}

// written returns what a stream has written: events by version, deltas by
// offset and text.
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
			Offset  int64
			Text    string
		}
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatal(err)
		}
		if v.Version != 0 {
			out = append(out, "v"+strconv.FormatUint(v.Version, 10))
		} else {
			out = append(out, strconv.FormatInt(v.Offset, 10)+v.Text)
		}
	}
	rec.Body.Reset()
	return strings.Join(out, " ")
}

func TestStreamDropsWhatIsKnown(t *testing.T) {
	rec := httptest.NewRecorder()
	st := (&Server{cfg: Config{NewID: func(p string) string { return p }}}).newStream(true)
	st.w, st.rc = rec, http.NewResponseController(rec)
	f := &follower{id: "thr_1", at: 2, texts: map[textKey]place{}}
	event := func(v uint64, d baton.EventData) baton.Event {
		return baton.Event{Thread: "thr_1", Version: v, Data: d}
	}
	chunk := func(rev int, at int64, text string) journal.Chunk {
		return journal.Chunk{Item: "itm_1", Revision: rev, Offset: at, Text: text}
	}
	for i, test := range []struct {
		unit *engine.Update
		want string
	}{
		// The unit was read from the journal already, but for its last event.
		{&engine.Update{Version: 3, Events: []baton.Event{event(2, baton.EventQueueResumed{}), event(3, baton.EventItemOpened{Item: "itm_1", Open: true})},
			Chunks: []journal.Chunk{chunk(0, 0, "ab")}}, "v3 0ab"},
		{&engine.Update{Version: 3, Chunks: []journal.Chunk{chunk(0, 0, "ab"), chunk(0, 2, "cd")}}, "2cd"},
		{&engine.Update{Version: 3, Chunks: []journal.Chunk{{Item: "itm_1", Output: true, Text: "out"}}}, "0out"},
		// Offsets count UTF-16: é is one unit of two bytes, 𝄞 two of four.
		{&engine.Update{Version: 3, Chunks: []journal.Chunk{chunk(0, 4, "é𝄞"), chunk(0, 10, "x")}}, "4é𝄞 7x"},
		// Text of a revision that is void.
		{&engine.Update{Version: 4, Events: []baton.Event{event(4, baton.EventItemReset{Item: "itm_1", Revision: 1})},
			Chunks: []journal.Chunk{chunk(0, 11, "old"), chunk(1, 0, "new")}}, "v4 0new"},
		// A unit from before what was read: its items may have ended since.
		{&engine.Update{Version: 3, Chunks: []journal.Chunk{{Item: "itm_0", Text: "late"}}}, ""},
		// A text that ends in the same unit comes with the close alone.
		{&engine.Update{Version: 5, Events: []baton.Event{event(5, baton.EventItemClosed{Item: "itm_1"})}, Chunks: []journal.Chunk{chunk(1, 3, "tail")}}, "v5"},
		{&engine.Update{Version: 5, Chunks: []journal.Chunk{{Item: "itm_2", Text: "next"}}}, "0next"},
	} {
		u := test.unit
		for _, e := range u.Events {
			data, _ := json.Marshal(e.Data)
			u.Data = append(u.Data, data)
		}
		if err := f.update(st, u); err != nil {
			t.Fatal(i, err)
		}
		if got := written(t, rec); got != test.want {
			t.Errorf("unit %d: wrote %q, want %q", i, got, test.want)
		}
	}
	// What is missing is never glossed over.
	for _, u := range []*engine.Update{
		{Version: 7, Events: []baton.Event{event(7, baton.EventQueueResumed{})}, Data: []json.RawMessage{[]byte("{}")}},
		{Version: 5, Chunks: []journal.Chunk{{Item: "itm_2", Offset: 9, Text: "far"}}},
	} {
		if err := f.update(st, u); err == nil {
			t.Errorf("a gap was sent: %q", written(t, rec))
		}
	}
}
