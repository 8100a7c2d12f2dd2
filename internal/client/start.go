package client

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"baton"
	"baton/internal/config"
	"baton/internal/httpapi"
	"baton/internal/shim"
)

// Start says how a server is started where none runs.
type Start struct {
	Places config.Places
	Self   string   // our own executable
	Args   []string // `serve …`; the number of the descriptor to be ready on follows
	Env    []string // all of the server's environment
}

const (
	// startTime is how long a server may take to come up.
	startTime = 60 * time.Second
	// lookAgain is how often a server that somebody else started is looked for,
	// which gives no sign of its own.
	lookAgain = 20 * time.Millisecond
	// heldTime is how long data may be held by a server that does not answer.
	heldTime = 10 * time.Second
)

// Ready is what a server that came up says on its descriptor. One that did not
// says its error as JSON instead.
const Ready = "ready\n"

// Reachable returns a client of the running server, or an error: with
// CodeServerUnreachable where none runs, with CodeTimedOut where one runs and
// does not answer.
func Reachable(ctx context.Context, socket string) (*Client, httpapi.ServerInfo, error) {
	return reachable(ctx, socket, usual)
}

func reachable(ctx context.Context, socket string, t times) (*Client, httpapi.ServerInfo, error) {
	c := New(socket)
	c.times = t
	var info httpapi.ServerInfo
	greeting, cancel := context.WithTimeout(ctx, t.greeting)
	defer cancel()
	err := c.Get(greeting, "/api/server", nil, &info)
	if err == nil {
		return c, info, nil
	}
	c.Close()
	if greeting.Err() != nil && ctx.Err() == nil {
		err = silent(t.greeting)
	}
	return nil, info, err
}

// Running is Reachable for the server of these places; the error of one that
// does not answer names its process.
func Running(ctx context.Context, p config.Places) (*Client, httpapi.ServerInfo, error) {
	c, info, err := Reachable(ctx, p.Socket)
	return c, info, named(err, p)
}

// Connect returns a client of the server, which is started where none runs.
// Clients that come at the same time start one: they take turns by a lock. What
// the client reads and follows later outlives its server: see Get and Stream.
// A server that runs and does not answer is no reason to start another.
func Connect(ctx context.Context, s Start) (*Client, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	c.start = &s
	return c, nil
}

func (s Start) connect(ctx context.Context) (*Client, error) {
	c, _, err := Running(ctx, s.Places)
	if err == nil || baton.ErrorCode(err) != baton.CodeServerUnreachable {
		return c, err
	}
	if err := s.Places.Make(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	unlock, err := lock(ctx, s.Places.Starting)
	if err != nil {
		return nil, baton.Errorf(baton.CodeServerUnreachable, "the server can't be started").WithDetail("%v", err).WithHint("look at %s", s.Places.Log)
	}
	defer unlock()
	if c, _, err := Running(ctx, s.Places); err == nil || baton.ErrorCode(err) == baton.CodeTimedOut {
		return c, err // somebody else was first
	}
	return s.launch(ctx)
}

// launch starts a server. One that finds the data held looks on: the holder may
// be just coming up, or just ending, and neither gives a sign.
func (s Start) launch(ctx context.Context) (*Client, error) {
	unreachable := func(err error) error {
		return baton.Errorf(baton.CodeServerUnreachable, "the server can't be started").WithDetail("%v", err).WithHint("look at %s", s.Places.Log)
	}
	held, cancel := context.WithTimeout(ctx, heldTime)
	defer cancel()
	for {
		said, _, err := shim.Daemon(ctx, s.Self, s.Args, s.Env, s.Places.Log)
		if err != nil {
			return nil, unreachable(err)
		}
		if string(said) != Ready {
			failed := startError(said, s.Places.Log)
			if failed.Code != baton.CodeDataLocked {
				return nil, failed
			}
			select {
			case <-time.After(lookAgain):
			case <-held.Done():
				return nil, failed
			}
		}
		if c, _, err := Reachable(ctx, s.Places.Socket); err == nil || string(said) == Ready {
			return c, err
		}
	}
}

// startError is what a server said instead of being ready, else the end of its log.
func startError(said []byte, log string) *baton.Error {
	var e baton.Error
	if json.Unmarshal(said, &e) == nil && e.Code != "" {
		return &e
	}
	tail, _ := os.ReadFile(log)
	return baton.Errorf(baton.CodeServerUnreachable, "the server ended before it was up").
		WithDetail("its log ends with: %s", strings.TrimSpace(strings.ToValidUTF8(string(tail[max(0, len(tail)-1000):]), "?"))).
		WithHint("look at %s, or run `baton serve` to see what it says", log)
}

// lock takes the lock of a file and returns what gives it back.
func lock(ctx context.Context, path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	got := make(chan error, 1)
	go func() {
		err := flock(f)
		got <- err
		if err != nil || ctx.Err() != nil {
			f.Close() // nobody waits any more
		}
	}()
	select {
	case err := <-got:
		return func() { f.Close() }, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Stop ends the running server and waits until it has let go of its data. It
// returns false where none runs.
func Stop(ctx context.Context, p config.Places) (bool, error) {
	c, err := running(ctx, p)
	if c == nil {
		return false, err
	}
	defer c.Close()
	// A client that comes now starts the next server: not before we have seen this
	// one end.
	begin, err := lock(ctx, p.Starting)
	if err != nil {
		return false, baton.Errorf(baton.CodeTimedOut, "a server is being started").WithDetail("%v", err).WithHint("look at %s", p.Log)
	}
	defer begin()
	if err := c.Post(ctx, "/api/server/stop", nil, nil); err != nil && baton.ErrorCode(err) != baton.CodeServerUnreachable {
		return false, err
	}
	unlock, err := lock(ctx, p.Lock)
	if err != nil {
		return true, baton.Errorf(baton.CodeTimedOut, "the server does not end").WithDetail("%v", err).WithHint("look at %s", p.Log)
	}
	unlock()
	return true, nil
}

// running returns a client of the running server, nil where none runs. One that
// holds the data and does not answer may be coming up, ending, or about to make
// the socket again that somebody has removed: it is waited for.
func running(ctx context.Context, p config.Places) (*Client, error) {
	limit, cancel := context.WithTimeout(ctx, heldTime)
	defer cancel()
	for {
		c, _, err := Running(ctx, p)
		if err == nil || baton.ErrorCode(err) != baton.CodeServerUnreachable {
			return c, err
		}
		if !held(p.Lock) {
			return nil, nil
		}
		select {
		case <-time.After(lookAgain):
		case <-limit.Done():
			return nil, named(silent(heldTime), p)
		}
	}
}

// held says whether a server holds the lock.
func held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // lets go of the lock, if we got it
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}
