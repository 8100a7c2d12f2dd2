package client

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"baton"
	"baton/internal/config"
)

// times are how long a client waits for what may never come.
type times struct {
	greeting time.Duration // for the first answer of a server
	answer   time.Duration // for the beginning of any answer
	silence  time.Duration // without a byte on a stream: three heartbeats
	stopped  time.Duration // for the next server after one that was stopped
	died     time.Duration // … after one that died
}

var usual = times{greeting: 10 * time.Second, answer: time.Minute, silence: 45 * time.Second, stopped: 3 * time.Second, died: time.Minute}

// back waits for a server after the failure of a read, or returns why it does
// not go on. A client that has followed nothing yet starts one: somebody has
// just typed a command that needs it.
//
// A server that is stopped takes its socket with it; one that dies leaves it.
// The first was wanted: the next one is waited for only as long as a restart
// takes. After the second whoever keeps servers may be just starting one.
func (c *Client) back(ctx context.Context, failed error) error {
	if c.start == nil || baton.ErrorCode(failed) == baton.CodeTimedOut {
		return failed
	}
	p := c.start.Places
	began := time.Now()
	for {
		// A server that is just ending still answers some: let it end.
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return ctx.Err()
		}
		thread := c.followed.Load()
		if thread == nil {
			next, err := c.start.connect(ctx)
			if next != nil {
				next.Close()
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return err
		}
		next, _, err := reachable(ctx, p.Socket, c.times)
		if err == nil {
			next.Close()
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if baton.ErrorCode(err) != baton.CodeServerUnreachable {
			return named(err, p)
		}
		_, gone := os.Stat(p.Socket)
		switch waited := time.Since(began); {
		case errors.Is(gone, fs.ErrNotExist) && waited >= c.times.stopped:
			return baton.Errorf(baton.CodeServerUnreachable, "the server was stopped").
				WithDetail("agents that are at work go on without it; nothing is lost").
				WithHint("`baton watch %s` starts the next one and goes on", *thread)
		case waited >= c.times.died:
			return baton.Errorf(baton.CodeServerUnreachable, "the server died and none has taken its place").
				WithDetail("agents that are at work go on without it; its log is %s", p.Log).
				WithHint("`baton watch %s` starts the next one and goes on", *thread)
		}
	}
}

// silent is the error of a server that is there and does not answer.
func silent(after time.Duration) *baton.Error {
	return baton.Errorf(baton.CodeTimedOut, "the server does not answer").
		WithDetail("nothing came for %s", after).WithHint("`baton doctor` says more")
}

// named adds the process to the error of a server that does not answer, and
// what can be done about it. The server has written its number into its lock.
func named(err error, p config.Places) error {
	var e *baton.Error
	if !errors.As(err, &e) || e.Code != baton.CodeTimedOut {
		return err
	}
	b, _ := os.ReadFile(p.Lock)
	pid := strings.TrimSpace(string(b))
	if pid == "" || strings.Trim(pid, "0123456789") != "" {
		return err
	}
	return e.WithDetail("process %s is there, but %s", pid, e.Detail).
		WithHint("it may be halted or overloaded: `kill -CONT %s` lets a halted one go on, `kill -KILL %s` ends it, and the next command starts another; agents at work go on", pid, pid)
}
