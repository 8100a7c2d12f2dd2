package httpapi

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baton"
)

func TestProblems(t *testing.T) {
	r := newRig(t, nil)
	th := r.thread("one")
	messages := "/api/threads/" + th.ID + "/messages"
	for _, test := range []struct {
		method, path, body string
		status             int
		code               baton.Code
	}{
		{"GET", "/api/nothing", "", 404, baton.CodeNotFound},
		{"GET", "/api/threads/thr_nothing", "", 404, baton.CodeNotFound},
		{"GET", "/api/streams?thread=thr_nothing", "", 404, baton.CodeNotFound},
		{"GET", "/api/streams?thread=" + th.ID + "@x", "", 422, baton.CodeInvalid},
		{"GET", "/api/streams?after=yesterday", "", 422, baton.CodeInvalid},
		{"POST", "/api/streams/str_nothing", "{}", 404, baton.CodeNotFound},
		{"GET", "/api/runs/run_nothing", "", 404, baton.CodeNotFound},
		{"GET", "/api/handoffs/hnd_nothing", "", 404, baton.CodeNotFound},
		{"GET", "/api/debug/sessions/..%2f..%2fetc/frames", "", 404, baton.CodeNotFound},
		{"POST", "/api/requests/req_nothing/answer", `{"decision":"approve"}`, 404, baton.CodeNotFound},
		{"GET", "/api/threads?cursor=x", "", 422, baton.CodeInvalid},
		{"GET", "/api/threads?limit=0", "", 422, baton.CodeInvalid},
		{"POST", "/api/threads", `{"dir":"relative"}`, 422, baton.CodeInvalid},
		{"POST", "/api/threads", `{"dir":"/no/such/place"}`, 422, baton.CodeInvalid},
		{"POST", "/api/threads", `{"dir":"/","unknown":1}`, 422, baton.CodeInvalid},
		{"POST", "/api/threads", `{`, 422, baton.CodeInvalid},
		{"POST", "/api/threads", `{"dir":"/","provider":"nobody"}`, 422, baton.CodeUnknownProvider},
		{"POST", messages, `{"text":"   "}`, 422, baton.CodeMessageEmpty},
		{"POST", messages, `{"text":"a\u0000b"}`, 422, baton.CodeMessageText},
		{"POST", messages, "{\"text\":\"caf\xe9\"}", 422, baton.CodeMessageText},
		{"POST", messages, `{"text":"` + strings.Repeat("x", baton.MaxMessage+1) + `"}`, 413, baton.CodeMessageTooLarge},
		{"POST", messages, `{"text":"` + strings.Repeat("x", maxBody) + `"}`, 413, baton.CodeMessageTooLarge},
		{"POST", messages, `{"text":"hi","provider":"nobody"}`, 422, baton.CodeUnknownProvider},
	} {
		r.refused(test.method, test.path, test.body, test.status, test.code)
	}
	if got := ask[Thread](r, "GET", "/api/threads/"+th.ID, ""); len(got.Runs) != 0 || got.Version != 1 {
		t.Errorf("something of it was taken: %+v", got)
	}
}

func TestTheLargestMessageFitsHoweverItIsEscaped(t *testing.T) {
	r := newRig(t, nil)
	th := r.thread("large")
	reply := ask[baton.Reply](r, "POST", "/api/threads/"+th.ID+"/messages", `{"text":"`+strings.Repeat(`\u0001`, baton.MaxMessage)+`"}`)
	if reply.Ordinal != 1 {
		t.Errorf("got %+v", reply)
	}
}

func TestCommandIDs(t *testing.T) {
	r := newRig(t, nil)
	body := `{"command_id":"cmd_1","dir":` + quote(r.dir) + `}`
	a := ask[Thread](r, "POST", "/api/threads", body)
	b := ask[Thread](r, "POST", "/api/threads", body)
	if a.ID != b.ID {
		t.Errorf("the same command made %s and %s", a.ID, b.ID)
	}
	r.refused("POST", "/api/threads", `{"command_id":"cmd_1","title":"other","dir":`+quote(r.dir)+`}`, 409, baton.CodeConflict)
}

func TestListsAreReadInParts(t *testing.T) {
	r := newRig(t, nil)
	want := map[string]bool{}
	for _, title := range []string{"a", "b", "c", "d", "e"} {
		want[r.thread(title).ID] = true
	}
	cursor, parts := "", 0
	for {
		p := ask[Page[ThreadRow]](r, "GET", "/api/threads?limit=2&cursor="+cursor, "")
		parts++
		for _, th := range p.Items {
			if !want[th.ID] {
				t.Fatalf("%s came twice", th.ID)
			}
			delete(want, th.ID)
		}
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	if len(want) != 0 || parts != 3 {
		t.Errorf("%d parts, missing %v", parts, want)
	}
}

func TestDerivedActivity(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "idle",
		`{"open_runs":{"r":{"status":"running"},"q":{"status":"queued"}}}`:                         "running",
		`{"open_runs":{"q":{"status":"queued"}}}`:                                                  "queued",
		`{"open_runs":{"q":{"status":"queued"}},"queue_held":true}`:                                "held",
		`{"open_runs":{"r":{"status":"running"}},"pending_requests":{"req_1":{"kind":"command"}}}`: "waiting",
	} {
		var d threadDoc
		if err := json.Unmarshal([]byte(body), &d); err != nil {
			t.Fatal(err)
		}
		if got := d.thread().Activity; got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

func TestOpenAPI(t *testing.T) {
	r := newRig(t, nil)
	spec := ask[struct {
		OpenAPI string                    `json:"openapi"`
		Paths   map[string]map[string]any `json:"paths"`
	}](r, "GET", "/openapi.json", "")
	if !strings.HasPrefix(spec.OpenAPI, "3.1") {
		t.Errorf("version %s", spec.OpenAPI)
	}
	for _, path := range []string{"/api/threads", "/api/streams", "/api/streams/{stream}", "/api/threads/{thread}/messages", "/api/handoffs/{handoff}"} {
		if spec.Paths[path] == nil {
			t.Errorf("no %s", path)
		}
	}
}

func TestStopIsAsked(t *testing.T) {
	r := newRig(t, nil)
	ask[ServerInfo](r, "POST", "/api/server/stop", "")
	if r.stops.Load() != 1 {
		t.Error("nobody was asked to stop")
	}
}

func TestARefusedPeerGetsNothing(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Check = func(*net.UnixConn) error { return baton.Errorf(baton.CodeForbidden, "an agent may not use this") }
	})
	for _, path := range []string{"/api/threads", "/openapi.json", "/api/server"} {
		r.refused("GET", path, "", 403, baton.CodeForbidden)
	}
}

func TestListen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	first, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	first.SetUnlinkOnClose(false)
	first.Close() // as a killed server leaves it
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(file); err == nil {
		t.Error("a plain file was replaced by a socket")
	}
}
