package shim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestFramesAreTheAgentsLines(t *testing.T) {
	r := start(t, `printf 'one\ntw'; read go; printf 'o\r\n\ncaf\351 \000\n'; read go; echo oops >&2; read go; printf 'tail'; exit 3`)
	c := r.dial(0)
	var got []Frame
	got = append(got, r.until(c, line("one"))...)
	r.write(c, "w1", "go\n")
	got = append(got, r.until(c, line("caf\xe9 \x00"))...)
	r.write(c, "w2", "go\n")
	got = append(got, r.until(c, kind(KindErr))...)
	r.write(c, "w3", "go\n")
	got = append(got, r.until(c, kind(KindExit))...)

	var lines []Frame
	for i, f := range got {
		if f.Seq != uint64(i+1) {
			t.Fatalf("frame %d has the number %d", i+1, f.Seq)
		}
		if since := time.Since(f.Time); since < -time.Second || since > patience {
			t.Errorf("frame %d has the time %v", f.Seq, f.Time)
		}
		if f.Kind == KindIn || f.Kind == KindErr {
			lines = append(lines, f)
		}
	}
	const want = `in:"one" in:"two" in:"" in:"caf\xe9 \x00" err:"oops" partial-in:"tail" `
	if s := brief(lines); s != want {
		t.Errorf("frames are\n%s, want\n%s", s, want)
	}
	var s Start
	if decode(t, got[0], KindStart, &s); s.Agent.PID == 0 || s.Agent.StartTime == 0 {
		t.Errorf("start names %+v", s.Agent)
	}
	if e := exitOf(t, got); e.Reason != ReasonExited || e.Code != 3 || e.Signal != "" || len(e.Left) > 0 || e.Truncated {
		t.Errorf("exit is %+v", e)
	}
	if err := c.Ack(got[len(got)-1].Seq); err != nil {
		t.Error(err)
	}
	r.shimEnds() // all is committed: nothing to stay for
	if _, err := os.Stat(r.spec.Socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := c.Next(r.ctx); ErrorCode(err) != CodeClosed {
		t.Errorf("Next after the end: %v", err)
	}
}

func TestLineOverTheLimitIsOversize(t *testing.T) {
	const n = 70_000_000
	r := start(t, `head -c 70000000 /dev/zero | tr '\0' x; echo; echo after`)
	c := r.dial(0)
	got := r.until(c, line("after"))
	var o Oversize
	decode(t, got[len(got)-2], KindOversize, &o)
	sum := sha256.New()
	for chunk, left := bytes.Repeat([]byte{'x'}, 1_000_000), n; left > 0; left -= len(chunk) {
		sum.Write(chunk)
	}
	if o.Stream != "in" || o.Length != n || o.SHA256 != hex.EncodeToString(sum.Sum(nil)) || string(o.Head) != strings.Repeat("x", 4096) {
		t.Errorf("oversize frame: stream %q, length %d, hash %s, head of %d", o.Stream, o.Length, o.SHA256, len(o.Head))
	}
	if rss := vmRSS(t, r.handle.PID); rss > memoryScale*24<<20 {
		t.Errorf("the shim holds %d MB after a long line", rss>>20)
	}
}

func TestLongLineIsWhole(t *testing.T) {
	r := start(t, `printf '{"a":"'; head -c 30000000 /dev/zero | tr '\0' y; printf '"}\r\n'; printf z`)
	c := r.dial(0)
	got := r.until(c, kind(KindExit))
	want := `{"a":"` + strings.Repeat("y", 30_000_000) + `"}`
	if got[1].Kind != KindIn || string(got[1].Data) != want {
		t.Errorf("a line of %d bytes came as %s of %d", len(want), got[1].Kind, len(got[1].Data))
	}
	if s := brief(got[2:3]); s != `partial-in:"z" ` {
		t.Errorf("then came %s", s)
	}
}

// TestLines compares the splitter with a plain one, for lines around the sizes
// at which it changes its way, cut into pieces of many sizes.
func TestLines(t *testing.T) {
	long := func(n int) string { return strings.Repeat("abcdefg\r", n/8+1)[:n] }
	inputs := []string{
		"", "\n", "a", "a\n", "a\r\n", "\r\n\r\n", "a\rb\n", "a\r", "a\nb", "\xff\xfe\n\x00",
		long(lineBuffer-1) + "\n" + "x\n", long(lineBuffer) + "\nx", long(lineBuffer+1) + "\r\nx\n",
		long(3*lineBuffer) + "\n" + long(lineBuffer) + "\n", long(2*lineBuffer) + "\r", long(200_000), long(200_001) + "\n",
		"a\n" + long(150_000) + "\n\n" + long(100_000) + "\nb\n",
	}
	for _, limit := range []int64{10, lineBuffer, 180_000} {
		for _, in := range inputs {
			for _, piece := range []int{1 << 20, 4096, 999} {
				s := testSpool(t, 1<<30)
				l := &lines{spool: s, kind: KindIn, max: limit}
				if !l.run(&pieces{in, piece}) {
					t.Fatal("gave up")
				}
				got, want := spoolFrames(t, s), plainLines(in, int(limit))
				if !slices.EqualFunc(got, want, func(a, b Frame) bool {
					return a.Kind == b.Kind && a.Partial == b.Partial && bytes.Equal(a.Data, b.Data)
				}) {
					t.Errorf("limit %d, pieces of %d, input of %d bytes %.20q:\n got %s\nwant %s", limit, piece, len(in), in, brief(got), brief(want))
				}
			}
		}
	}
}

// plainLines is the model that lines is compared with.
func plainLines(in string, limit int) (out []Frame) {
	for len(in) > 0 {
		text, rest, whole := strings.Cut(in, "\n")
		in = rest
		f := Frame{Kind: KindIn, Partial: !whole}
		if whole {
			text = strings.TrimSuffix(text, "\r")
		}
		if f.Data = []byte(text); len(text) > limit {
			sum := sha256.Sum256(f.Data)
			f = Frame{Kind: KindOversize, Data: jsonOf(Oversize{Stream: "in", Length: int64(len(text)),
				SHA256: hex.EncodeToString(sum[:]), Head: f.Data[:min(len(text), 4096)]})}
		}
		out = append(out, f)
	}
	return out
}

// pieces is a reader that gives at most n bytes at a time.
type pieces struct {
	rest string
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.rest == "" {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.n, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

func vmRSS(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// A quarter of a gigabyte with nobody attached, pulled later: the shim's memory
// must not follow.
func TestMemoryIsFlat(t *testing.T) {
	r := start(t, `read go; yes "$(head -c 120 /dev/zero | tr '\0' m)" | head -c 200000000; echo; echo done >&2; read end`)
	idle := vmRSS(t, r.handle.PID)
	if idle > memoryScale*15<<20 {
		t.Errorf("idle: %d MB", idle>>20)
	}
	c := r.dial(0)
	r.write(c, "go", "go\n")
	r.until(c, id(KindWritten, "go"))
	c.Close()
	for waitFor := time.Now().Add(patience); ; {
		// The end of the flood is a line on stderr; only the files tell, since
		// nobody is attached.
		if size := spoolBytes(t, r.dir); size > 200_000_000 {
			break
		}
		if time.Now().After(waitFor) {
			t.Fatal("the output does not arrive")
		}
	}
	spooled := vmRSS(t, r.handle.PID)
	c = r.dial(0)
	n := 0
	for end := false; !end; {
		frames, err := c.NextBatch(r.ctx, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			n += len(f.Data)
			end = end || f.Kind == KindErr
		}
	}
	pulled := vmRSS(t, r.handle.PID)
	t.Logf("resident: idle %.1f MB, 200 MB spooled %.1f MB, pulled %.1f MB", mb(idle), mb(spooled), mb(pulled))
	if n < 198_000_000 {
		t.Errorf("only %d bytes came", n)
	}
	for _, rss := range []int64{spooled, pulled} {
		if rss > memoryScale*15<<20 {
			t.Errorf("%d MB resident", rss>>20)
		}
	}
}

func mb(n int64) float64 { return float64(n) / (1 << 20) }
