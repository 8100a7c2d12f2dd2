package shim

import (
	"context"
	"encoding/binary"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func TestReattachGoesOnBehindTheLastCommittedFrame(t *testing.T) {
	r := start(t, `i=0; while read x; do i=$((i+1)); echo "line $i"; done`)
	c := r.dial(0)
	r.write(c, "1", "x\n")
	got := r.until(c, line("line 1"))
	committed := got[len(got)-1].Seq
	r.write(c, "2", "x\n")
	r.until(c, line("line 2")) // read, but never committed
	c.Close()

	c = r.dial(committed)
	if h := c.Hello(); h.Version != 1 || h.SessionID != "ses_test" || h.Nonce != r.spec.Nonce || h.Shim.PID != r.handle.PID || h.Acked != committed || h.Last < committed+2 {
		t.Errorf("hello is %+v", h)
	}
	again := r.until(c, line("line 2"))
	if again[0].Seq != committed+1 {
		t.Errorf("went on with frame %d", again[0].Seq)
	}
	for _, f := range again {
		if string(f.Data) == "line 1" {
			t.Error("a committed frame came again")
		}
	}
	if _, err := Dial(r.ctx, r.spec.Socket, 99, 1_000_000); ErrorCode(err) != CodeBadPosition {
		t.Errorf("attach behind the end: %v", err)
	}
	r.write(c, "3", "x\n") // the refused one has evicted nobody
	r.until(c, line("line 3"))
	if err := c.Ack(1_000_000); ErrorCode(err) != CodeBadPosition {
		t.Errorf("ack of a frame never read: %v", err)
	}
}

func TestHigherEpochEvicts(t *testing.T) {
	r := start(t, `while read x; do echo "got $x"; done`)
	r.epoch = 6
	old := r.dial(0) // 7
	r.until(old, kind(KindStart))
	waiting := make(chan error, 1)
	go func() { _, err := old.Next(r.ctx); waiting <- err }()
	for _, epoch := range []uint64{0, 6, 7} {
		if _, err := Dial(r.ctx, r.spec.Socket, epoch, 0); ErrorCode(err) != CodeStaleEpoch {
			t.Errorf("epoch %d: %v", epoch, err)
		}
	}
	c := r.dial(0) // 8
	if err := <-waiting; ErrorCode(err) != CodeEvicted {
		t.Errorf("the old one's Next: %v", err)
	}
	for name, err := range map[string]error{
		"write": old.Write(r.ctx, "old", []byte("old\n")), "ack": old.Ack(1), "lease": old.Lease(r.ctx, 1),
		"stop": old.Stop(r.ctx, Grace{}), "signal": old.Signal(r.ctx, 9),
	} {
		if ErrorCode(err) != CodeEvicted {
			t.Errorf("%s of an evicted one: %v", name, err)
		}
	}
	r.write(c, "new", "new\n")
	for _, f := range r.until(c, line("got new")) {
		if f.ID == "old" {
			t.Error("the evicted one has written")
		}
	}
	c.Close()
	if _, err := Dial(r.ctx, r.spec.Socket, 8, 0); ErrorCode(err) != CodeStaleEpoch {
		t.Errorf("the same epoch after a disconnect: %v", err)
	}
}

func TestNextLosesNothingWhenItsContextEnds(t *testing.T) {
	r := start(t, `while read x; do echo "got $x"; done`)
	c := r.dial(0)
	r.until(c, kind(KindStart))
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	for range 3 {
		if _, err := c.Next(ctx); err != context.Canceled {
			t.Fatalf("Next: %v", err)
		}
	}
	r.write(c, "w", "x\n")
	if got := r.until(c, line("got x")); got[0].Seq != 2 {
		t.Errorf("went on with %d", got[0].Seq)
	}
}

func TestCapStopsTheAgentAndAcksLetItGoOn(t *testing.T) {
	const lines = 20000
	r := start(t, `read go; seq 1 20000; read more; echo end`, func(s *Spec) { s.SpoolCap = 256 << 10 })
	c := r.dial(0)
	r.write(c, "go", "go\n")
	got := r.until(c, kind(KindBlocked))
	if size := spoolBytes(t, r.dir); size > 400<<10 {
		t.Errorf("%d bytes on disk at a cap of 256 KB", size)
	}
	r.write(c, "more", "more\n") // gets through all the same
	got = append(got, r.until(c, id(KindAccepted, "more"))...)
	n, marks := 0, 0
	count := func(frames []Frame) (end bool) {
		for _, f := range frames {
			switch f.Kind {
			case KindIn:
				n++
				end = end || string(f.Data) == "end"
			case KindBlocked, KindUnblocked:
				marks++
			}
		}
		return end
	}
	count(got)
	for end := false; !end; {
		frames, err := c.NextBatch(r.ctx, 256)
		if err != nil {
			t.Fatal(err)
		}
		end = count(frames)
		if err := c.Ack(frames[len(frames)-1].Seq); err != nil {
			t.Fatal(err)
		}
	}
	if n != lines+1 || marks < 2 {
		t.Errorf("%d lines and %d marks", n, marks)
	}
}

// The agent, and what it starts, must not attach to the shim that holds it.
func TestAgentCanNotAttach(t *testing.T) {
	r := start(t, "", func(s *Spec) { s.Argv = []string{os.Args[0], "attach", s.Socket} })
	c := r.dial(0)
	got := r.until(c, kind(KindExit))
	for _, f := range got {
		if f.Kind == KindIn && string(f.Data) == string(CodeForbidden) {
			return
		}
	}
	t.Errorf("the agent was told %s", brief(got))
}

// Nothing that a stranger says on the socket disturbs the agent.
func TestGarbageOnTheSocket(t *testing.T) {
	r := start(t, `while read x; do echo "got $x"; done`)
	c := r.dial(0)
	hello := message{kind: msgHello, tag: 1, length: 12}.encode()
	greeting := binary.BigEndian.AppendUint16([]byte(protocolMagic), 1)
	for name, said := range map[string]string{
		"nothing": "", "text": "GET / HTTP/1.1\r\n\r\n", "a huge length": "\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x01",
		"another magic": string(hello) + "not-a-shim\x00\x01",
		"no attach":     string(hello) + string(greeting) + string(message{kind: msgStop, tag: 2}.encode()),
		"short attach":  string(hello) + string(greeting) + string(message{kind: msgAttach, tag: 2, length: 3}.encode()) + "abc",
		"version 0":     string(hello) + protocolMagic + "\x00\x00",
	} {
		nc, err := net.Dial("unix", r.spec.Socket)
		if err != nil {
			t.Fatal(err)
		}
		nc.Write([]byte(said))
		nc.(*net.UnixConn).CloseWrite()
		_ = nc.SetReadDeadline(time.Now().Add(patience))
		buf := make([]byte, 4096)
		for err == nil { // until the shim hangs up
			_, err = nc.Read(buf)
		}
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Errorf("%s: the shim does not hang up", name)
		}
		nc.Close()
	}
	for kind, body := range map[uint8]string{99: "", msgAck: "abc", msgSignal: "", msgStop: "1", msgWrite: "\x00\x00data", msgLease: "", msgFrame: "x", msgHello: ""} {
		if _, err := c.call(r.ctx, kind, []byte(body)); err == nil {
			t.Errorf("message %d with body %q was taken", kind, body)
		}
	}
	r.write(c, "w", "x\n")
	r.until(c, line("got x"))
}

func TestLaunchRefuses(t *testing.T) {
	ctx := context.Background()
	dir, spec := newSpec(t, "true")
	tests := []struct {
		name   string
		change func(*Spec)
		code   Code
		says   string
	}{
		{"no command", func(s *Spec) { s.Argv = nil }, CodeInvalid, "empty"},
		{"short nonce", func(s *Spec) { s.Nonce = "x" }, CodeInvalid, "nonce"},
		{"long socket", func(s *Spec) { s.Socket = "/" + strings.Repeat("x", 110) }, CodeInvalid, "111 bytes"},
		{"relative socket", func(s *Spec) { s.Socket = "s" }, CodeInvalid, "absolute"},
	}
	for _, tt := range tests {
		s := spec
		tt.change(&s)
		if _, err := Launch(ctx, os.Args[0], dir, s); ErrorCode(err) != tt.code || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	open := t.TempDir()
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Launch(ctx, os.Args[0], open, spec); ErrorCode(err) != CodeInvalid || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("an open directory: %v", err)
	}
	// What only the shim notices comes back as well.
	s := spec
	s.Socket = open + "/s"
	if _, err := Launch(ctx, os.Args[0], dir, s); len(s.Socket) <= maxSockPath && (ErrorCode(err) != CodeInvalid || !strings.Contains(err.Error(), "chmod 700")) {
		t.Errorf("an open runtime directory: %v", err)
	}
	if _, err := Launch(ctx, "/bin/false", t.TempDir()+"/x", spec); ErrorCode(err) != CodeLaunch {
		t.Errorf("a shim that ends at once: %v", err)
	}
}

func TestSessionDirectoryIsUsedOnce(t *testing.T) {
	r := start(t, `read x`)
	if _, err := Launch(r.ctx, os.Args[0], r.dir, r.spec); ErrorCode(err) != CodeInUse {
		t.Errorf("a second launch: %v", err)
	}
	if _, err := claim(r.dir); ErrorCode(err) != CodeInUse {
		t.Errorf("a claim beside a living shim: %v", err)
	}
	r.killShim()
	if _, err := claim(r.dir); ErrorCode(err) != CodeInUse || !strings.Contains(err.Error(), "earlier") {
		t.Errorf("a claim on a dead one's directory: %v", err)
	}
	spec, err := ReadSpec(r.dir)
	if err != nil || spec.Env != nil || spec.Argv[0] != "sh" {
		t.Errorf("the specification is %+v, %v", spec, err)
	}
	for path, mode := range map[string]os.FileMode{r.dir: 0o700, r.dir + "/" + specFile: 0o600, r.dir + "/" + logFile: 0o600, r.spec.Socket: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v, want %v", path, info.Mode(), err, mode)
		}
	}
}
