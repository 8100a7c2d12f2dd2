package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
