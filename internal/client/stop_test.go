package client

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"baton/internal/config"
)

// Whoever holds the data is waited for; where nobody does, no server runs.
func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.lock")
	if held(path) {
		t.Error("a lock that is not there is held")
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if held(path) {
		t.Error("a lock that nobody took is held")
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if !held(path) {
		t.Error("a lock is not seen")
	}
	p := config.Places{Lock: path, Socket: filepath.Join(t.TempDir(), "s")}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := running(ctx, p); c != nil || err == nil {
		t.Errorf("a server that holds the data and does not answer: %v, %v", c, err)
	}
	f.Close()
	if ran, err := Stop(t.Context(), p); ran || err != nil {
		t.Errorf("no server: %v, %v", ran, err)
	}
}
