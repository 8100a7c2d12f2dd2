package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/failpoint"
	"baton/internal/owner"
	"baton/internal/shim"
)

// link is the server's end of one session: it attaches to the shim, pulls
// frames for the owner and gives writes to the agent. Its goroutines end with
// the session or with the engine.
type link struct {
	a       *actor
	session baton.SessionID
	dir     string

	from    uint64      // newest committed frame; of the following goroutine
	dialed  uint64      // attachments so far; likewise
	foreign bool        // see errForeign; likewise
	ahead   bool        // what its spool holds is of a past that the journal does not know; likewise
	agent   []shim.Proc // the agent's process, where its start was seen; likewise

	mu       sync.Mutex
	followed bool // attach was called
	conn     *shim.Conn
	writes   []baton.Effect // not known to be accepted by the shim, in order
	ready    chan struct{}  // closed when conn is set, replaced when it is lost
	more     chan struct{}  // signals new writes
	over     chan struct{}  // closed when the session has ended
	once     sync.Once
}

// attached tells the owner's goroutine how far the spool of a session goes.
type attached struct {
	session baton.SessionID
	last    uint64
}

func (a *actor) link(id baton.SessionID) *link {
	if l := a.links[id]; l != nil {
		return l
	}
	l := &link{a: a, session: id, dir: filepath.Join(a.e.cfg.Sessions, string(id)), ready: make(chan struct{}),
		more: make(chan struct{}, 1), over: make(chan struct{})}
	a.links[id] = l
	return l
}

// takeAttached notes how far sessions have to be read before effects go on.
func (a *actor) takeAttached(waiting []entry) []entry {
	left := waiting[:0]
	for _, en := range waiting {
		if en.attach == nil {
			left = append(left, en)
			continue
		}
		if _, waits := a.behind[en.attach.session]; waits {
			a.behind[en.attach.session] = en.attach.last
		}
	}
	a.caughtUp()
	return left
}

// caughtUp lets the held effects go once every session is read as far as its
// spool went at attach.
func (a *actor) caughtUp() {
	for id, last := range a.behind {
		if a.own.State().Session(id) == nil || a.own.Frame(id) >= last {
			delete(a.behind, id)
		}
	}
	if len(a.behind) > 0 || len(a.held) == 0 {
		return
	}
	held := a.held
	a.held = nil
	for _, eff := range held {
		a.perform(eff)
	}
}

// afterCommit drops the links of ended sessions and renews leases.
func (a *actor) afterCommit() {
	for id := range a.links {
		if a.own.State().Session(id) == nil {
			delete(a.links, id)
			delete(a.lease, id)
		}
	}
	a.caughtUp()
	for _, x := range a.own.State().Sessions {
		want := shortLease
		if x.Turn != nil || a.own.State().Pending(x.ID) {
			want = longLease
		}
		if l := a.links[x.ID]; l != nil && a.lease[x.ID] != want && l.setLease(want) {
			a.lease[x.ID] = want
		}
	}
}

// How long a shim lives without a server: with a turn or a request open, and
// else.
const (
	longLease  = 24 * time.Hour
	shortLease = 10 * time.Minute
)

func (l *link) setLease(d time.Duration) bool {
	l.mu.Lock()
	conn := l.conn
	l.mu.Unlock()
	if conn == nil {
		return false
	}
	go func() { _ = conn.Lease(l.a.e.ctx, d) }()
	return true
}

// detach leaves the sessions to their shims.
func (a *actor) detach() {
	for _, l := range a.links {
		l.mu.Lock()
		if l.conn != nil {
			l.conn.Close()
		}
		l.mu.Unlock()
	}
}

// attach follows the session's spool behind the frame that is committed.
func (l *link) attach(from uint64) {
	l.mu.Lock()
	before := l.followed
	l.followed = true
	l.mu.Unlock()
	if before {
		return
	}
	l.a.e.all.Add(2)
	go func() { defer l.a.e.all.Done(); l.follow(from) }()
	go func() { defer l.a.e.all.Done(); l.give() }()
}

func (l *link) follow(from uint64) {
	ctx := l.a.e.ctx
	for l.from = from; ctx.Err() == nil; {
		conn, err := l.dial(ctx)
		if err != nil {
			l.afterDeath()
			return
		}
		ended := l.pull(ctx, conn)
		conn.Close()
		if ended {
			return
		}
	}
}

// unknown is how far a spool goes that is not attached to yet.
const unknown = ^uint64(0)

// dial attaches to the shim as long as it lives. A shim that nobody can reach or
// go on with is ended: its session is lost, and what it ran is swept.
func (l *link) dial(ctx context.Context) (*shim.Conn, error) {
	spec, err := shim.ReadSpec(l.dir)
	if err != nil {
		return nil, err
	}
	if spec.Socket != l.socket() {
		l.foreign = true
		return nil, errForeign
	}
	h, known := l.handle()
	for try := 0; ; try++ {
		conn, err := l.dialOnce(ctx, spec.Socket)
		if err == nil {
			return conn, nil
		}
		code := shim.ErrorCode(err)
		if code == shim.CodeStaleEpoch && !l.a.e.newest(ctx) {
			l.a.e.fenced("another server holds a session", "session", l.session)
			return nil, err
		}
		if code == shim.CodeStaleEpoch || code == shim.CodeBadPosition { // the journal was put back to an older state
			l.a.e.cfg.Log.Error("a session is ahead of the journal and is given up", "session", l.session, "error", err)
			l.ahead = true
			l.killShim(h, known)
			return nil, err
		}
		// A shim whose start the former server did not see may still be coming up.
		if known && !shim.Alive(h) || !known && try >= startTries || ctx.Err() != nil {
			return nil, err
		}
		if _, gone := os.Stat(spec.Socket); gone != nil && try >= startTries {
			l.a.e.cfg.Log.Error("the socket of a session is gone; the session is given up", "session", l.session)
			l.killShim(h, known)
			return nil, err
		}
		pause(ctx, firstPause)
	}
}

// errForeign: the session was started from another data directory, of which this
// one is a copy. Its processes are that one's.
var errForeign = errors.New("the session belongs to another data directory")

// helloTime is how long a shim may take to greet; one that is stopped never does.
const helloTime = 10 * time.Second

func (l *link) dialOnce(ctx context.Context, socket string) (*shim.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	return shim.Dial(ctx, socket, l.epoch(), l.from)
}

// killShim ends a shim that can't be asked to end.
func (l *link) killShim(h shim.Handle, known bool) {
	if known && shim.Alive(h) {
		_ = syscall.Kill(h.PID, syscall.SIGKILL)
	}
}

const startTries = 40

// dials is how many attachments of one server have epochs of their own.
const dials = 1 << 20

// epoch is that of the next attachment: each is higher than the last, and all of
// a server are lower than those of the next server.
func (l *link) epoch() uint64 {
	l.dialed++
	return l.a.e.epoch*dials + min(l.dialed, dials-1)
}

func (l *link) handle() (shim.Handle, bool) {
	var h shim.Handle
	b, err := os.ReadFile(filepath.Join(l.dir, "handle.json"))
	return h, err == nil && json.Unmarshal(b, &h) == nil
}

// pull gives frames to the owner, a batch at a time, and acknowledges what is
// committed, which may be less than what it has given. It returns when the connection ends, with true when the session has.
func (l *link) pull(ctx context.Context, conn *shim.Conn) bool {
	l.a.put(entry{attach: &attached{l.session, conn.Hello().Last}})
	l.connected(conn)
	defer l.lost()
	var unsaid unsaid
	for {
		frames, err := conn.NextBatch(ctx, batchFrames)
		if err != nil {
			if shim.ErrorCode(err) == shim.CodeEvicted {
				l.a.e.fenced("another server has taken a session", "session", l.session)
			}
			return false
		}
		durable, ok := l.hand(ctx, frames)
		if !ok {
			return false
		}
		if durable > l.from {
			l.from = durable
			failpoint.Hit("engine.frames_committed")
		}
		if unsaid.add(frames) {
			_ = conn.Ack(l.from)
		}
		if frames[len(frames)-1].Kind == shim.KindExit {
			l.finished(conn)
			return true
		}
	}
}

// unsaid counts what a shim was not told to be committed. A spool forgets whole
// files alone, so it need not be woken for each frame.
type unsaid struct{ frames, bytes int }

// add counts frames that were handed over, and says whether to tell the shim
// now: because they are many, or because it waits for that (an end, a full spool).
func (u *unsaid) add(frames []shim.Frame) bool {
	now := false
	for _, f := range frames {
		u.frames, u.bytes = u.frames+1, u.bytes+len(f.Data)
		now = now || f.Kind == shim.KindExit || f.Kind == shim.KindBlocked
	}
	if now = now || u.frames >= keepFrames || u.bytes >= keepBytes; now {
		*u = unsaid{}
	}
	return now
}

// hand gives frames to the owner and waits until they are taken. It returns the
// last frame that is committed.
func (l *link) hand(ctx context.Context, frames []shim.Frame) (durable uint64, ok bool) {
	taken := make(chan uint64, 1)
	batch := make([]owner.Frame, len(frames))
	for i, f := range frames {
		batch[i] = l.convert(f)
	}
	if !l.a.put(entry{frames: batch, taken: taken}) {
		return 0, false
	}
	select {
	case durable = <-taken:
		return durable, true
	case <-ctx.Done():
		return 0, false
	}
}

var kinds = map[shim.Kind]owner.FrameKind{shim.KindStart: owner.FrameStarted, shim.KindIn: owner.FrameOut, shim.KindErr: owner.FrameErr,
	shim.KindAccepted: owner.FrameAccepted, shim.KindWritten: owner.FrameWritten, shim.KindExit: owner.FrameExit, shim.KindOversize: owner.FrameOversize}

func (l *link) convert(f shim.Frame) owner.Frame {
	out := owner.Frame{Session: l.session, Seq: f.Seq, Time: f.Time, Kind: kinds[f.Kind], Write: baton.EffectID(f.ID), Data: f.Data}
	switch f.Kind {
	case shim.KindStart:
		var s shim.Start
		if json.Unmarshal(f.Data, &s) == nil {
			l.agent = []shim.Proc{s.Agent}
		}
	case shim.KindOversize:
		var o shim.Oversize
		_ = json.Unmarshal(f.Data, &o)
		out.Over = &agent.Oversize{Length: o.Length, SHA256: o.SHA256, Head: o.Head}
		if o.Stream != "in" {
			out.Kind = owner.FrameOther
		}
	case shim.KindExit:
		var x shim.Exit
		_ = json.Unmarshal(f.Data, &x)
		out.Exit = exitOf(x)
	case shim.KindAccepted:
		out.Data = nil
	}
	if out.Kind == "" {
		out.Kind = owner.FrameOther
	}
	return out
}

func exitOf(x shim.Exit) *owner.Exit {
	e := &owner.Exit{StartFailed: x.Reason == shim.ReasonStartFailed, Released: x.Reason == shim.ReasonLease}
	switch {
	case e.StartFailed:
		e.Detail = x.Error
	case x.Signal != "":
		e.Detail = "the process was ended by a signal (" + x.Signal + ")"
	default:
		e.Detail = fmt.Sprintf("the process ended with exit status %d", x.Code)
	}
	for _, p := range append(x.Left, x.Survivors...) {
		e.LeftOver = append(e.LeftOver, fmt.Sprintf("%s (%d)", p.Name, p.PID))
	}
	return e
}

// afterDeath is for a session whose shim is gone: what its spool still tells is
// taken in, what it left running is ended, and the session is told to be over.
func (l *link) afterDeath() {
	ctx := l.a.e.ctx
	if ctx.Err() != nil {
		return
	}
	exited := false
	if r, err := shim.ReadSpool(l.dir, l.from); err == nil && !l.ahead && !l.foreign {
		defer r.Close()
		for !exited {
			var frames []shim.Frame
			for len(frames) < batchFrames {
				f, err := r.Next()
				if errors.Is(err, io.EOF) || err != nil {
					break
				}
				frames = append(frames, f)
				exited = f.Kind == shim.KindExit
			}
			if len(frames) == 0 {
				break
			}
			if _, ok := l.hand(ctx, frames); !ok {
				return
			}
		}
	}
	if !exited {
		exit := &owner.Exit{Lost: true, Detail: "its shim was killed"}
		if spec, err := shim.ReadSpec(l.dir); l.foreign {
			exit.Detail = errForeign.Error()
		} else if err == nil {
			killed, err := shim.Sweep(spec.Nonce, l.agent)
			if err != nil {
				l.a.e.cfg.Log.Error("a dead session's processes could not all be ended", "session", l.session, "error", err)
			}
			for _, p := range killed {
				exit.LeftOver = append(exit.LeftOver, fmt.Sprintf("%s (%d)", p.Name, p.PID))
			}
		} else {
			exit.Detail = "it was never started"
		}
		taken := make(chan uint64, 1)
		l.a.put(entry{frames: []owner.Frame{{Session: l.session, Time: l.a.e.cfg.Now(), Kind: owner.FrameExit, Exit: exit}}, taken: taken})
		select {
		case <-taken:
		case <-ctx.Done():
			return
		}
	}
	l.finished(nil)
}

// finished is the end of a session whose exit is committed: its directory is
// of no use any more.
func (l *link) finished(conn *shim.Conn) {
	l.once.Do(func() { close(l.over) })
	if conn != nil {
		select {
		case <-conn.Done():
		case <-l.a.e.ctx.Done():
			return
		}
	}
	if err := os.RemoveAll(l.dir); err != nil {
		l.a.e.cfg.Log.Warn("a session's directory could not be removed", "dir", l.dir, "error", err)
	}
}

func (l *link) connected(conn *shim.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = conn
	close(l.ready)
}

func (l *link) lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = nil
	l.ready = make(chan struct{})
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
