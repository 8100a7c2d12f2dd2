package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSocketTakenAway: somebody cleans up the socket of a running server, or the
// directory that it lies in. The server stays the one, and can be reached and ended.
func TestSocketTakenAway(t *testing.T) {
	r := newRig(t, "").plain()
	id := r.thread()
	r.say(id, "alpha", "one [[say noted]]")
	server := r.find(isServer)[0]
	socket := r.places().Socket
	for _, gone := range []string{socket, filepath.Dir(socket)} {
		if gone == r.home {
			t.Fatal("the socket lies beside the data")
		}
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		if got := r.show(id).Runs; len(got) != 1 {
			t.Errorf("runs: %+v", got)
		}
		if now := r.find(isServer); len(now) != 1 || now[0].pid != server.pid {
			t.Errorf("the server was %d, now: %v", server.pid, now)
		}
	}
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	if out := r.baton("serve", "--stop"); !strings.Contains(out, "has ended") {
		t.Errorf("serve --stop: %s", out)
	}
	r.gone(server)
}

// TestDatabaseTakenAway: somebody cleans up the log of the running database, or
// all of it. Nothing more is accepted, the error and the log say what to do, and
// with that done nothing that was accepted is missing.
func TestDatabaseTakenAway(t *testing.T) {
	for _, c := range []struct {
		name   string
		remove []string
		title  string
	}{
		{"log", []string{"-wal"}, "the log of the database was removed"},
		{"all", []string{"", "-wal", "-shm"}, "the database was removed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, "").plain()
			id := r.thread()
			r.say(id, "alpha", "one [[say noted]]")
			database := r.places().Database
			for _, suffix := range c.remove {
				if err := os.Remove(database + suffix); err != nil {
					t.Fatal(err)
				}
			}
			_, errs, code := r.try("new")
			if code != 1 || !strings.Contains(errs, c.title) || !strings.Contains(errs, "nothing was accepted") || !strings.Contains(errs, "hint: end this server with `baton serve --stop`") {
				t.Fatalf("exit %d\n%s", code, errs)
			}
			log, err := os.ReadFile(r.places().Log)
			if err != nil || !strings.Contains(string(log), "level=ERROR msg=\"a unit was not stored") || !strings.Contains(string(log), c.title) {
				t.Errorf("%v, the log:\n%s", err, log)
			}
			r.baton("serve", "--stop")
			if copies, _ := filepath.Glob(database + ".rescued-*"); len(copies) == 1 {
				if err := os.Rename(copies[0], database); err != nil {
					t.Fatal(err)
				}
			}
			r.say(id, "alpha", "two [[say noted]]")
			if got := r.show(id).Runs; len(got) != 2 || got[0].Answer != "noted" {
				t.Errorf("runs: %+v", got)
			}
		})
	}
}

// TestDamagedDatabase: half of the database is overwritten. Every command that
// meets it says so and what to do; with a backup in its place all goes on.
func TestDamagedDatabase(t *testing.T) {
	r := newRig(t, "").plain()
	id := r.thread()
	r.say(id, "alpha", "one [[flood-output 200000]] [[say noted]]")
	r.baton("serve", "--stop")
	database := r.places().Database
	good, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	bad := append(good[:8192:8192], bytes.Repeat([]byte{0xff}, len(good)-8192)...)
	if err := os.WriteFile(database, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, errs, code := r.try("send", id, "two")
		if code != 1 || !strings.Contains(errs, "the database is damaged") || !strings.Contains(errs, database) || !strings.Contains(errs, "put a backup in its place") {
			t.Fatalf("exit %d\n%s", code, errs)
		}
	}
	_, _, _ = r.try("serve", "--stop")
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(database + suffix)
	}
	if err := os.WriteFile(database, good, 0o600); err != nil {
		t.Fatal(err)
	}
	r.say(id, "alpha", "two [[say noted]]")
}
