package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"baton/internal/journal"
)

// rows reads what threadRows writes of the documents.
func listed(t *testing.T, next string, docs ...string) Page[ThreadRow] {
	t.Helper()
	var in []journal.Document
	for _, d := range docs {
		in = append(in, journal.Document{Kind: journal.KindThread, Body: json.RawMessage(d)})
	}
	raw, err := threadRows(in, next)
	if err != nil {
		t.Fatal(err)
	}
	var p Page[ThreadRow]
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return p
}

// A row is what the thread's own struct says, in brief.
func TestThreadRows(t *testing.T) {
	doc := func(more string) string {
		return `{"created_at":"2026-03-01T09:00:00Z","dir":"/p","id":"thr_1","queue_held":false,"state":"active","stop_epoch":0,"workspace_id":"wsp_1","settings":{"model":"m"}` + more + `}`
	}
	for name, more := range map[string]string{
		"new":     ``,
		"title":   `,"title":"a \"title\" {\\ \u2028 漢字"`,
		"idle":    `,"provider":"codex","open_runs":{},"pending_requests":{},"updated_at":"2026-03-01T09:00:00.001Z","last_run":{"ended_at":"2026-03-01T09:00:00Z","id":"run_1","status":"completed","ordinal":3,"provider":"claude"}`,
		"old end": `,"last_run":{"id":"run_1","status":"failed"}`,
		"running": `,"open_runs":{"run_1":{"ordinal":1,"status":"running","provider":"x"},"run_2":{"ordinal":2,"status":"queued"},"run_3":{"status":"queued"}}`,
		"queued":  `,"open_runs":{"run_2":{"status":"queued"}}`,
		"held":    `,"open_runs":{"run_2":{"status":"queued"}},"queue_held_reason":"failed","archived":true`,
		"waiting": `,"open_runs":{"run_1":{"status":"running"}},"pending_requests":{"req_1":{"kind":"command","title":"t"},"req_2":{"kind":"x","title":"status"}}`,
	} {
		body := doc(more)
		if name == "held" {
			body = strings.Replace(body, `"queue_held":false`, `"queue_held":true`, 1)
		}
		p := listed(t, "", body)
		var d threadDoc
		if err := json.Unmarshal([]byte(body), &d); err != nil {
			t.Fatal(err)
		}
		th := d.thread()
		want := ThreadRow{ID: th.ID, Title: th.Title, State: th.State, Activity: th.Activity, Provider: th.Provider, QueueHeld: th.QueueHeld,
			Requests: len(th.PendingRequests), UpdatedAt: th.UpdatedAt, QueuedRuns: strings.Count(more, `"queued"`)}
		if th.LastRun != nil {
			want.LastRun = &RowRun{Ordinal: th.LastRun.Ordinal, Status: th.LastRun.Status, Provider: th.LastRun.Provider}
		}
		if len(p.Items) != 1 || !reflect.DeepEqual(p.Items[0], want) {
			t.Errorf("%s: %+v, want %+v", name, p.Items, want)
		}
	}
	if p := listed(t, ""); p.Items == nil || len(p.Items) != 0 || p.Next != "" {
		t.Errorf("no threads: %+v", p)
	}
	if p := listed(t, "5~thr_2", doc(""), doc("")); len(p.Items) != 2 || p.Next != "5~thr_2" {
		t.Errorf("two threads: %+v", p)
	}
}

// The list is packed for who asks, and only if it is worth it.
func TestThreadsArePackedForWhoAsks(t *testing.T) {
	r := newRig(t, nil)
	get := func(encoding string) (res *http.Response, packed, plain []byte) {
		req, err := http.NewRequestWithContext(r.Context(), "GET", "http://baton/api/threads", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", encoding)
		if res, err = r.http.Do(req); err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if packed, err = io.ReadAll(res.Body); err != nil {
			t.Fatal(err)
		}
		if plain = packed; res.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(packed))
			if err == nil {
				plain, err = io.ReadAll(z)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return res, packed, plain
	}
	r.thread("alone")
	if res, _, _ := get("gzip"); res.Header.Get("Content-Encoding") != "" || res.Header.Get("Content-Type") != "application/json" {
		t.Errorf("one row: %v", res.Header)
	}
	for i := range 40 {
		r.thread(fmt.Sprintf("thread %d", i))
	}
	_, packed, plain := get("gzip, br")
	res, bare, _ := get("identity")
	if len(packed)*2 > len(plain) || !bytes.Equal(plain, bare) || res.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("%d bytes packed, %d unpacked, %d bare; %v", len(packed), len(plain), len(bare), res.Header)
	}
	if n := strings.Count(string(bare), `"id":"thr_`); n != 41 {
		t.Errorf("%d rows", n)
	}
}
