package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/script"
	"baton/internal/config"
	"baton/internal/decide"
	"baton/internal/engine"
	"baton/internal/journal/memory"
)

// rig is a server on a real socket over a journal in memory. Its agents can't
// be started: a run fails at once, and its events are what the tests look at.
type rig struct {
	*testing.T
	server *Server
	http   *http.Client
	socket string
	dir    string
	stops  atomic.Int32
}

func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	home, err := os.MkdirTemp("", "api")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	places, err := config.Find(map[string]string{"BATON_HOME": home}, os.Getuid())
	if err != nil {
		t.Fatal(err)
	}
	if err := places.Make(); err != nil {
		t.Fatal(err)
	}
	drivers := agent.NewRegistry(script.Driver())
	providers := config.NewProviders(config.Config{}, drivers, places, filepath.Join(home, "no-such-program"), map[string]string{})
	log := slog.New(slog.DiscardHandler)
	newID := func(prefix string) string { return prefix + "_" + uuid.Must(uuid.NewV7()).String() }
	eng, err := engine.New(t.Context(), engine.Config{Journal: memory.New(memory.Options{}), Drivers: drivers, Providers: providers, Policy: decide.DefaultPolicy(),
		Self: filepath.Join(home, "no-such-program"), Sessions: places.Sessions, Runtime: places.Runtime, HostEnv: map[string]string{},
		Now: time.Now, NewID: newID, NewNonce: func() string { return "0123456789abcdef" }, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, socket: places.Socket, dir: home}
	cfg := Config{Engine: eng, Providers: providers, Places: places, Version: "test", NewID: newID, Log: log, Stop: func() { r.stops.Add(1) },
		Probe: func(context.Context, []string, []string) ([]byte, error) { return nil, nil }}
	if change != nil {
		change(&cfg)
	}
	r.server = New(cfg)
	l, err := Listen(places.Socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.server.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		eng.Close()
	})
	r.http = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", places.Socket)
	}}}
	t.Cleanup(r.http.CloseIdleConnections)
	return r
}

// do sends a request and returns the answer's status and body.
func (r *rig) do(method, path, body string) (int, []byte) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, "http://baton"+path, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := r.http.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		r.Fatal(err)
	}
	return res.StatusCode, b
}

// ask does the same and reads the answer, which must be a good one.
func ask[T any](r *rig, method, path, body string) T {
	r.Helper()
	status, b := r.do(method, path, body)
	var v T
	if err := json.Unmarshal(b, &v); err != nil || status != http.StatusOK {
		r.Fatalf("%s %s: %d %s", method, path, status, b)
	}
	return v
}

func (r *rig) refused(method, path, body string, status int, code baton.Code) Problem {
	r.Helper()
	got, b := r.do(method, path, body)
	var p Problem
	if err := json.Unmarshal(b, &p); err != nil || got != status || p.Code != code || p.Status != status || p.Title == "" {
		r.Errorf("%s %s: %d %s, want %d with %s", method, path, got, b, status, code)
	}
	return p
}

// thread makes a thread with the title.
func (r *rig) thread(title string) Thread {
	r.Helper()
	return ask[Thread](r, "POST", "/api/threads", `{"title":`+quote(title)+`,"dir":`+quote(r.dir)+`,"provider":"script"}`)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
