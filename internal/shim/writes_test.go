package shim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baton/internal/failpoint"
)

func TestWriteHappensOnceForEachID(t *testing.T) {
	r := start(t, `while read x; do echo "got $x"; done`)
	c := r.dial(0)
	for range 3 {
		r.write(c, "a", "first\n")
	}
	r.write(c, "b", "second\n")
	c.Close()
	c = r.dial(0)
	r.write(c, "a", "first\n")
	r.write(c, "c", "third\n")
	got := r.until(c, line("got third"))
	var in, accepted, written []string
	for _, f := range got {
		switch f.Kind {
		case KindIn:
			in = append(in, string(f.Data))
		case KindAccepted:
			accepted = append(accepted, f.ID+"="+string(f.Data))
		case KindWritten:
			written = append(written, f.ID)
		}
	}
	if s := strings.Join(in, ","); s != "got first,got second,got third" {
		t.Errorf("the agent got %s", s)
	}
	if s := strings.Join(accepted, ""); s != "a=first\nb=second\nc=third\n" {
		t.Errorf("accepted: %q", s)
	}
	if s := strings.Join(written, ""); !strings.HasPrefix("abc", s) || len(s) < 2 {
		t.Errorf("written: %s", s)
	}
}

// A large write to an agent that prints a lot before it reads must not stop
// the reading of what it prints.
func TestWritingDoesNotBlockReading(t *testing.T) {
	r := start(t, `yes printed | head -c 5000000; n=$(head -c 5000000 | wc -c); echo; echo "read $n"`)
	c := r.dial(0)
	r.write(c, "big", strings.Repeat("w", 5_000_000))
	got := r.until(c, kind(KindExit))
	n, read := 0, false
	for _, f := range got {
		if f.Kind == KindIn {
			n += len(f.Data)
			read = read || strings.Contains(string(f.Data), "read 5000000")
		}
	}
	if n < 4_000_000 || !read {
		t.Errorf("%d bytes printed, all of the write read: %v", n, read)
	}
}

func TestWriteToAnAgentThatDoesNotRead(t *testing.T) {
	r := start(t, `read go; exec sleep 1000`)
	c := r.dial(0)
	r.write(c, "go", "go\n")
	r.write(c, "stuck", strings.Repeat("x", 1<<20)) // accepted: its first bytes are in the pipe
	waits, err := c.ask(msgWrite, encodeWrite("waits", make([]byte, queueBytes)))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(r.ctx, "refused", []byte("x")); ErrorCode(err) != CodeBusy {
		t.Errorf("a write into a full queue: %v", err)
	}
	// A new server comes: what waited is forgotten, what is known is not written again.
	c2 := r.dial(0)
	if a := <-waits; ErrorCode(a.err) != CodeEvicted {
		t.Errorf("the write of the old server: %v", a.err)
	}
	r.write(c2, "stuck", "again")
	if err := c2.Stop(r.ctx, Grace{}); err != nil {
		t.Fatal(err)
	}
	got := r.until(c2, kind(KindExit))
	var failed Failed
	for _, f := range got {
		if f.ID == "waits" || f.ID == "refused" {
			t.Errorf("%s %s is spooled", f.Kind, f.ID)
		}
		if f.Kind == KindFailed && f.ID == "stuck" {
			decode(t, f, KindFailed, &failed)
		}
	}
	if failed.Written < 4096 || failed.Written >= 1<<20 || failed.Error == "" {
		t.Errorf("the write that was under way: %+v", failed)
	}
	if err := c2.Write(r.ctx, "late", []byte("x")); ErrorCode(err) != CodeAgentGone {
		t.Errorf("a write after the end: %v", err)
	}
	if err := c2.Write(r.ctx, "stuck", []byte("x")); err != nil {
		t.Errorf("a known id after the end: %v", err)
	}
}

func TestWriteAfterTheAgentClosedItsStdin(t *testing.T) {
	r := start(t, `exec 0<&-; echo closed; exec sleep 1000`)
	c := r.dial(0)
	r.until(c, line("closed"))
	r.write(c, "w", "into nothing\n")
	r.until(c, id(KindFailed, "w"))
	if err := c.Write(r.ctx, "v", []byte("x")); ErrorCode(err) != CodeAgentGone {
		t.Errorf("the next write: %v", err)
	}
}

func TestFailpoints(t *testing.T) {
	for _, tt := range []struct {
		point    string
		accepted bool
		written  bool
		reached  bool // the agent got it
	}{
		{"shim.accepted", true, false, false},
		{"shim.written", true, true, true},
		{"shim.spooled:2", true, false, false}, // start is the first, accepted the second
	} {
		t.Run(tt.point, func(t *testing.T) {
			t.Setenv(failpoint.Env, tt.point)
			// The reader is not the agent itself, which dies with the shim.
			r := start(t, `cat > got.new; mv got.new got`)
			c := r.dial(0)
			_ = c.Write(r.ctx, "w", []byte("hello\n"))
			r.shimEnds()
			if Alive(r.handle) {
				t.Error("a dead shim is called alive")
			}
			var accepted, written bool
			for _, f := range r.evidence() {
				accepted = accepted || f.Kind == KindAccepted && f.ID == "w"
				written = written || f.Kind == KindWritten && f.ID == "w"
			}
			if accepted != tt.accepted || written != tt.written {
				t.Errorf("accepted %v, written %v", accepted, written)
			}
			if !tt.reached {
				if _, err := Sweep(r.spec.Nonce, nil); err != nil {
					t.Fatal(err)
				}
				b, _ := os.ReadFile(filepath.Join(r.spec.Dir, "got.new"))
				if len(b) > 0 {
					t.Errorf("the agent got %q", b)
				}
			}
		})
	}
}
