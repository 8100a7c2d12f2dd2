package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

// crowd is a server with many threads and many readers of them.
type crowd struct {
	*rig
	api     *client.Client
	threads []string
	server  *os.Process
	died    <-chan struct{}
	back    chan struct{} // closed when the next server answers
}

func newCrowd(t *testing.T, threads int) *crowd {
	c := &crowd{rig: newRig(t, "").plain()}
	c.api = client.New(c.places().Socket)
	t.Cleanup(c.api.Close)
	c.server, c.died = c.serve("")
	for i := range threads {
		var th httpapi.Thread
		if err := c.api.Post(c.ctx, "/api/threads", map[string]string{"dir": c.project, "provider": "alpha", "title": fmt.Sprint("t", i)}, &th); err != nil {
			t.Fatal(err)
		}
		c.threads = append(c.threads, th.ID)
	}
	return c
}

// do gives a command, which the server may die in the middle of.
func (c *crowd) do(thread string, what ...string) error {
	err := c.api.Post(c.ctx, client.Path(append([]string{"threads", thread}, what...)...), nil, nil)
	if baton.ErrorCode(err) == baton.CodeServerUnreachable {
		<-c.back
		return nil
	}
	return err
}

func (c *crowd) say(thread, text string) {
	c.Helper()
	if err := c.api.Post(c.ctx, client.Path("threads", thread, "messages"), map[string]string{"text": text, "provider": "alpha"}, nil); err != nil {
		c.Fatal(err)
	}
}

// follow runs a follower until fn ends it, over the restart of the server.
func (c *crowd) follow(f *client.Follower, fn func(client.Message) error) error {
	for {
		err := f.Run(c.ctx, fn)
		if baton.ErrorCode(err) != baton.CodeServerUnreachable {
			return err
		}
		select {
		case <-c.back:
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
	}
}

// fresh reads a thread anew.
func (c *crowd) fresh(thread string) (s httpapi.Snapshot) {
	c.Helper()
	f := c.api.Follower(true)
	_ = f.Thread(c.ctx, thread, 0)
	err := f.Run(c.ctx, func(m client.Message) error {
		if m.Snapshot == nil {
			return nil
		}
		s = *m.Snapshot
		return io.EOF
	})
	if err != nil {
		c.Fatal(err)
	}
	return s
}

// settled waits until nothing goes on in the thread.
func (c *crowd) settled(thread string) {
	c.Helper()
	f := c.api.Follower(true)
	_ = f.Thread(c.ctx, thread, 0)
	open := map[string]bool{}
	err := f.Run(c.ctx, func(m client.Message) error {
		switch {
		case m.Snapshot != nil:
			for _, r := range m.Snapshot.Thread.Runs {
				open[r.ID] = r.EndedAt == nil
			}
		case m.Event != nil && m.Event.Type == "run.ended":
			clear(open)
		}
		for _, is := range open {
			if is {
				return nil
			}
		}
		return io.EOF
	})
	if err != nil {
		c.Fatal(err)
	}
}

// stall opens a stream of all threads and takes nothing of it.
func (c *crowd) stall() net.Conn {
	c.Helper()
	conn, err := net.Dial("unix", c.places().Socket)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "GET /api/streams?list=true&thread=%s HTTP/1.1\r\nHost: baton\r\n\r\n", strings.Join(c.threads, "&thread=")); err != nil {
		c.Fatal(err)
	}
	return conn
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// memory is what a process has held at most, in kB.
func memory(t *testing.T, pid int) (most int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		_, _ = fmt.Sscanf(line, "VmHWM: %d kB", &most)
	}
	return most
}

// TestStreamsOfManyClients: 300 clients on 50 threads, 50 of them take nothing,
// and the server is killed while all goes on. Each of the others ends with what
// a fresh snapshot shows, the stalled ones are cut off, and hold nothing.
func TestStreamsOfManyClients(t *testing.T) {
	const readers, stalled, threads, talking = 250, 50, 50, 3
	c := newCrowd(t, threads)
	back := make(chan struct{})
	c.back = back

	// The readers, each with some of the threads and some with the list.
	ended := map[string]uint64{} // versions to end at; written before over is closed
	over := make(chan struct{})
	var begun, all sync.WaitGroup
	states := make([]map[string]*mirror, readers)
	lists := make([]map[string]httpapi.ThreadRow, readers)
	errs := make([]error, readers)
	followers := make([]*client.Follower, readers)
	rng := rand.New(rand.NewPCG(7, 1))
	for i := range readers {
		f := c.api.Follower(i%3 != 0)
		followers[i], states[i], lists[i] = f, map[string]*mirror{}, map[string]httpapi.ThreadRow{}
		for _, n := range append([]int{i % threads}, rng.Perm(threads)[:rng.IntN(4)]...) {
			id := c.threads[n]
			states[i][id] = newMirror(id)
			_ = f.Thread(c.ctx, id, 0)
		}
		if i%10 == 0 {
			_ = f.List(c.ctx, true)
		}
		begun.Add(1)
		var once sync.Once
		all.Go(func() {
			errs[i] = c.follow(f, func(m client.Message) error {
				switch {
				case m.Live:
					once.Do(begun.Done)
				case m.List != nil:
					for _, t := range m.List.Items {
						if had, ok := lists[i][t.ID]; ok && isClosed(over) && had.QueueHeld != t.QueueHeld {
							return fmt.Errorf("the rows say that %s is held: %v, the list %v", t.ID, had.QueueHeld, t.QueueHeld)
						}
						lists[i][t.ID] = t
					}
				case m.Row != nil:
					lists[i][m.Row.ID] = *m.Row
				}
				id := threadOf(m)
				if s := states[i][id]; s != nil {
					if err := s.take(m); err != nil {
						return err
					}
				}
				if isClosed(over) {
					return done(states[i], ended)
				}
				return nil
			})
		})
	}
	begun.Wait()
	for range stalled {
		c.stall()
	}

	// The work: commands in all threads, and agents that talk in some.
	talk := func(mark string) {
		for i := range talking {
			c.say(c.threads[i], strings.Repeat(fmt.Sprintf("[[say %s: é, 𝄞 and 漢字, again and again; ]] [[run echo %s]]", mark, mark), 10))
		}
	}
	work := func(rounds int) *sync.WaitGroup {
		var at sync.WaitGroup
		for w := range 4 {
			at.Go(func() {
				for n := range rounds {
					for i := talking + 1 + w; i < threads; i += 4 {
						if err := c.do(c.threads[i], [][]string{{"stop"}, {"queue", "resume"}}[n%2]...); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		return &at
	}
	talk("first")
	before := work(6)
	c.until("text of an agent", func() bool { return c.fresh(c.threads[0]).Version > 15 })
	if err := c.server.Kill(); err != nil {
		t.Fatal(err)
	}
	<-c.died
	if c.server, c.died = c.serve(""); isClosed(c.died) {
		t.Fatal("the next server has ended at once")
	}
	close(back)
	before.Wait()

	// The same flood of text, without readers that are stalled and with them.
	flood := func() int {
		c.say(c.threads[talking], "[[flood 6m]]")
		c.settled(c.threads[talking])
		return memory(t, c.server.Pid)
	}
	without := flood()
	conns := make([]net.Conn, stalled)
	for i := range conns {
		conns[i] = c.stall()
	}
	talk("second")
	work(4).Wait()
	for i := range talking {
		c.settled(c.threads[i])
	}
	with := flood()
	t.Logf("the server held %d MB at most; with %d stalled readers %d MB", without>>10, stalled, with>>10)
	if with-without > 48<<10 {
		t.Errorf("stalled readers made the server grow from %d MB to %d MB", without>>10, with>>10)
	}
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(limit))
		if n, err := io.Copy(io.Discard, conn); err != nil {
			t.Fatalf("one that takes nothing is not cut off: %d bytes, then %v", n, err)
		}
	}

	// The end: all of it has to come to everybody.
	fresh := map[string]httpapi.Snapshot{}
	for _, id := range c.threads {
		fresh[id] = c.fresh(id)
		ended[id] = fresh[id].Version
	}
	close(over)
	for i, f := range followers { // so that they look
		if i%10 == 0 {
			_ = f.List(c.ctx, false)
		}
		if err := f.List(c.ctx, true); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	snapshots, events, deltas := 0, 0, 0
	for i, err := range errs {
		if err != nil {
			t.Errorf("reader %d: %v", i, err)
			continue
		}
		for id, s := range states[i] {
			if err := s.differs(fresh[id]); err != nil {
				t.Errorf("reader %d: %v", i, err)
			}
			snapshots, events, deltas = snapshots+s.counts.snapshots, events+s.counts.events, deltas+s.counts.deltas
		}
	}
	t.Logf("%d snapshots, %d events, %d deltas", snapshots, events, deltas)
}

func threadOf(m client.Message) string {
	switch {
	case m.Event != nil:
		return m.Event.ThreadID
	case m.Delta != nil:
		return m.Delta.ThreadID
	case m.Snapshot != nil:
		return m.Snapshot.ThreadID
	case m.CaughtUp != nil:
		return m.CaughtUp.ThreadID
	}
	return ""
}

// done ends a reader that has all of what it follows.
func done(states map[string]*mirror, ended map[string]uint64) error {
	for id, s := range states {
		if s.version < ended[id] {
			return nil
		}
	}
	return io.EOF
}

// TestStreamChangesAtRandom: while agents talk, a reader leaves threads and
// comes back to them, with what it knew or with nothing. It ends with what a
// fresh snapshot shows, and nothing came that did not fit.
func TestStreamChangesAtRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := newCrowd(t, 4)
	rng := rand.New(rand.NewPCG(seed, 1))
	ctx := c.ctx
	for _, id := range c.threads {
		c.say(id, "[[slow 10]]"+strings.Repeat("[[say words of é, 𝄞 and 漢字 that go on, and on, and on; ]] [[run echo out]] [[think hm 𝄞, hm, hm, and hm]]", 60))
	}
	f := c.api.Follower(true)
	settled := make(chan struct{})
	go func() {
		for _, id := range c.threads {
			c.settled(id)
		}
		close(settled)
		_ = f.List(ctx, true) // so that something comes, and the reader looks
	}()
	here, away := map[string]*mirror{}, map[string]*mirror{}
	join := func(id string) error {
		m := away[id]
		if m == nil || rng.IntN(2) == 0 {
			m = newMirror(id)
		}
		// What open items hold comes again from its beginning.
		here[id], away[id] = m, nil
		return f.Thread(ctx, id, m.version)
	}
	for _, id := range c.threads {
		if err := join(id); err != nil {
			t.Fatal(err)
		}
	}
	changes, connections := 0, 0
	over := false
	want, versions := map[string]httpapi.Snapshot{}, map[string]uint64{}
	err := f.Run(ctx, func(m client.Message) error {
		if m.Live {
			connections++
		}
		id := threadOf(m)
		if s := here[id]; s != nil {
			if err := s.take(m); err != nil {
				return err
			}
		} else if id != "" {
			return fmt.Errorf("of a thread that was left came %+v", m)
		}
		if !over && isClosed(settled) {
			over = true
			for _, id := range c.threads {
				if here[id] == nil {
					if err := join(id); err != nil {
						return err
					}
				}
				want[id] = c.fresh(id)
				versions[id] = want[id].Version
			}
		}
		if over {
			return done(here, versions)
		}
		if rng.IntN(3) > 0 {
			return nil
		}
		changes++
		id = c.threads[rng.IntN(len(c.threads))]
		s := here[id]
		if s == nil {
			return join(id)
		}
		if len(here) == 1 {
			return nil // something has to come
		}
		version, err := f.Leave(ctx, id)
		if err == nil && version != s.version {
			err = fmt.Errorf("left %s at %d, not %d", id, version, s.version)
		}
		delete(here, id)
		away[id] = s
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, s := range here {
		if err := s.differs(want[id]); err != nil {
			t.Error(err)
		}
		t.Logf("%s: %+v", id, s.counts)
	}
	t.Logf("%d changes", changes)
	if connections != 1 {
		t.Errorf("it took %d connections", connections)
	}
}
