package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/config"
)

// serve answers on a socket of its own and returns its path.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "client")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { srv.Close() })
	return socket
}

func TestAllFollowsTheCursor(t *testing.T) {
	c := New(serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query(); q.Get("cursor") {
		case "":
			fmt.Fprintf(w, `{"items":["a %s"],"next":"n"}`, q.Get("limit"))
		case "n":
			fmt.Fprint(w, `{"items":["b"]}`)
		}
	}))
	defer c.Close()
	got, err := All[string](t.Context(), c, "/api/x", url.Values{"limit": {"1"}})
	if err != nil || strings.Join(got, ",") != "a 1,b" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestErrorsKeepTheirCode(t *testing.T) {
	c := New(serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(409)
		_ = json.NewEncoder(w).Encode(map[string]any{"code": "conflict", "title": "taken", "detail": "d", "hint": "h", "status": 409})
	}))
	defer c.Close()
	var e *baton.Error
	if err := c.Get(t.Context(), "/api/x", nil, nil); !errors.As(err, &e) || *e != (baton.Error{Code: "conflict", Title: "taken", Detail: "d", Hint: "h"}) {
		t.Errorf("got %v", err)
	}
	if err := New("/no/such/socket").Get(context.Background(), "/api/x", nil, nil); baton.ErrorCode(err) != baton.CodeServerUnreachable {
		t.Errorf("got %v", err)
	}
}

// start is a server that does what the script says; the descriptor comes as $1.
func start(t *testing.T, script string) Start {
	t.Helper()
	home, err := os.MkdirTemp("", "client")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	p, err := config.Find(map[string]string{"BATON_HOME": home}, os.Getuid())
	if err != nil {
		t.Fatal(err)
	}
	return Start{Places: p, Self: "/bin/sh", Args: []string{"-c", script, "server"}, Env: []string{"PATH=/bin:/usr/bin"}}
}

func TestAServerThatDoesNotComeUpSaysWhy(t *testing.T) {
	var e *baton.Error
	_, err := Connect(t.Context(), start(t, `echo '{"code":"config","title":"line 3"}' >&3; exit 1`))
	if !errors.As(err, &e) || e.Code != baton.CodeConfig || e.Title != "line 3" {
		t.Errorf("got %v", err)
	}
	_, err = Connect(t.Context(), start(t, `echo "it broke" >&2; exit 1`))
	if !errors.As(err, &e) || e.Code != baton.CodeServerUnreachable || !strings.Contains(e.Detail, "it broke") || e.Hint == "" {
		t.Errorf("got %v", err)
	}
}

// hung is a server that takes connections and never answers.
func hung(t *testing.T) string {
	end := make(chan struct{})
	socket := serve(t, func(http.ResponseWriter, *http.Request) { <-end })
	t.Cleanup(func() { close(end) })
	return socket
}

func TestAServerThatDoesNotAnswerIsGivenUp(t *testing.T) {
	p := config.Places{Socket: hung(t), Lock: filepath.Join(t.TempDir(), "lock")}
	if err := os.WriteFile(p.Lock, []byte("4711\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	few := usual
	few.greeting = time.Millisecond
	_, _, err := reachable(t.Context(), p.Socket, few)
	var e *baton.Error
	if !errors.As(named(err, p), &e) || e.Code != baton.CodeTimedOut || !strings.Contains(e.Detail, "process 4711") || !strings.Contains(e.Hint, "kill -CONT 4711") {
		t.Errorf("got %+v", e)
	}
}

func TestASilentStreamComesBack(t *testing.T) {
	var cursors []string
	end := make(chan struct{})
	c := New(serve(t, func(w http.ResponseWriter, r *http.Request) {
		cursors = append(cursors, r.URL.Query().Get("thread"))
		fmt.Fprintf(w, "event: event\nid: %[1]d\ndata: {\"thread_id\":\"thr_1\",\"version\":%[1]d,\"type\":\"t\"}\n\n", len(cursors))
		w.(http.Flusher).Flush()
		<-end // nothing more comes, no heartbeat either
	}))
	defer c.Close()
	defer close(end)
	c.times.silence = 20 * time.Millisecond
	err := c.Stream(t.Context(), "thr_1", 0, func(m Message) error {
		if m.Event.Version == 3 {
			return io.EOF
		}
		return nil
	})
	if err != nil || strings.Join(cursors, " ") != "thr_1@0 thr_1@1 thr_1@2" {
		t.Errorf("cursors %v, %v", cursors, err)
	}
}

func TestAServerThatWentAwayIsNotStartedByWhoFollows(t *testing.T) {
	for name, test := range map[string]struct {
		leave bool // the socket, as one that dies does
		title string
	}{"stopped": {false, "the server was stopped"}, "died": {true, "the server died"}} {
		t.Run(name, func(t *testing.T) {
			s := start(t, "exit 1")
			if err := s.Places.Make(); err != nil {
				t.Fatal(err)
			}
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.Places.Socket, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			l.SetUnlinkOnClose(!test.leave)
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/streams") {
					l.Close()
					return
				}
				fmt.Fprint(w, "{}")
			})}
			go func() { _ = srv.Serve(l) }()
			defer srv.Close()
			c, err := Connect(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.times.stopped, c.times.died = time.Millisecond, time.Millisecond
			err = c.Stream(t.Context(), "thr_1", 0, func(Message) error { return nil })
			var e *baton.Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Title, test.title) || !strings.Contains(e.Hint, "baton watch thr_1") {
				t.Errorf("got %v", err)
			}
		})
	}
}
