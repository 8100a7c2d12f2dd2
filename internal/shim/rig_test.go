package shim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is its own shim and, where sh can't do it, its own agent.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "shim" {
		os.Exit(Main(os.Args[2]))
	}
	if len(os.Args) >= 2 && os.Args[1] == "attach" {
		_, err := Dial(context.Background(), os.Args[2], 1<<40, 0)
		fmt.Println(ErrorCode(err))
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == "headless" {
		headless()
	}
	if err := BecomeSubreaper(); err != nil { // as the server is
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func init() {
	if len(os.Args) == 2 && os.Args[1] == "headless" {
		runtime.LockOSThread() // main must run on the main thread
	}
}

// headless ends the main thread of this process, prints its number once that
// has happened, and runs on.
func headless() {
	go func() {
		for {
			b, _ := os.ReadFile("/proc/self/stat")
			if _, state, _ := strings.Cut(string(b), ") "); strings.HasPrefix(state, "Z") {
				fmt.Println(os.Getpid())
				select {}
			}
		}
	}()
	syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
}

const patience = 60 * time.Second // a test that waits this long has failed

// rig is one shim with a shell script as its agent.
type rig struct {
	t      *testing.T
	dir    string
	spec   Spec
	handle Handle
	epoch  uint64
	ctx    context.Context
}

func newSpec(t *testing.T, script string) (dir string, spec Spec) {
	t.Helper()
	run, err := os.MkdirTemp("", "bs") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	nonce := fmt.Sprintf("nonce-%d-%d", os.Getpid(), time.Now().UnixNano())
	return filepath.Join(t.TempDir(), "ses"), Spec{
		SessionID: "ses_test", Nonce: nonce, Argv: []string{"sh", "-c", script}, Dir: t.TempDir(),
		Env:    []string{"PATH=" + os.Getenv("PATH")},
		Socket: filepath.Join(run, "s"),
		Grace:  Grace{Stdin: 200 * time.Millisecond, Term: 200 * time.Millisecond},
	}
}

func start(t *testing.T, script string, change ...func(*Spec)) *rig {
	t.Helper()
	dir, spec := newSpec(t, script)
	for _, c := range change {
		c(&spec)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	h, err := Launch(ctx, os.Args[0], dir, spec)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, spec: spec, handle: *h, ctx: ctx}
	t.Cleanup(func() {
		r.killShim()
		if _, err := Sweep(spec.Nonce, nil); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(dir, logFile))
			t.Logf("shim's log: %s", log)
		}
		cancel()
	})
	return r
}

func (r *rig) killShim() {
	if Alive(r.handle) {
		syscall.Kill(r.handle.PID, syscall.SIGKILL)
		r.shimEnds()
	}
}

// shimEnds waits until the shim's process is gone.
func (r *rig) shimEnds() {
	r.t.Helper()
	h, err := openProc(Proc{PID: r.handle.PID, StartTime: r.handle.StartTime})
	if err != nil {
		return
	}
	defer h.close()
	if !h.wait(patience) {
		r.t.Fatal("the shim does not end")
	}
}

func (r *rig) dial(after uint64) *Conn {
	r.t.Helper()
	r.epoch++
	c, err := Dial(r.ctx, r.spec.Socket, r.epoch, after)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Close)
	return c
}

// until collects frames up to the first that fits.
func (r *rig) until(c *Conn, fits func(Frame) bool) []Frame {
	r.t.Helper()
	var out []Frame
	for {
		f, err := c.Next(r.ctx)
		if err != nil {
			r.t.Fatalf("after %d frames, the last %s: %v", len(out), brief(out[max(0, len(out)-5):]), err)
		}
		if out = append(out, f); fits(f) {
			return out
		}
	}
}

func (r *rig) write(c *Conn, id, data string) {
	r.t.Helper()
	if err := c.Write(r.ctx, id, []byte(data)); err != nil {
		r.t.Fatalf("write %s: %v", id, err)
	}
}

// noneLeft fails the test if any process of the session still runs.
func (r *rig) noneLeft() {
	r.t.Helper()
	if left, err := marked(r.spec.Nonce, nil); err != nil || len(left) > 0 {
		r.t.Fatalf("still running: %v %v", left, err)
	}
}

// evidence reads the spool of a dead shim.
func (r *rig) evidence() []Frame {
	r.t.Helper()
	s, err := ReadSpool(r.dir, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	return readAll(r.t, s)
}

func kind(k Kind) func(Frame) bool { return func(f Frame) bool { return f.Kind == k } }

func line(text string) func(Frame) bool {
	return func(f Frame) bool { return f.Kind == KindIn && string(f.Data) == text }
}

func id(k Kind, id string) func(Frame) bool {
	return func(f Frame) bool { return f.Kind == k && f.ID == id }
}

// exitOf returns what the last of frames, an exit frame, says.
func exitOf(t *testing.T, frames []Frame) (e Exit) {
	t.Helper()
	decode(t, frames[len(frames)-1], KindExit, &e)
	return e
}

func decode(t *testing.T, f Frame, k Kind, v any) {
	t.Helper()
	if f.Kind != k {
		t.Fatalf("a frame of kind %s instead of %s", f.Kind, k)
	}
	if err := json.Unmarshal(f.Data, v); err != nil {
		t.Fatal(err)
	}
}

// brief shows frames, one word for each.
func brief(frames []Frame) string {
	var b strings.Builder
	for _, f := range frames {
		data := f.Data
		if f.Kind == KindStart || f.Kind == KindExit {
			data = nil
		}
		fmt.Fprintf(&b, "%s%s:%s", map[bool]string{true: "partial-"}[f.Partial], f.Kind, f.ID)
		if len(data) > 40 {
			fmt.Fprintf(&b, "%q…", data[:40])
		} else {
			fmt.Fprintf(&b, "%q", data)
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// pidIn returns the process that a file names, as a test's agent wrote it.
func pidIn(t *testing.T, data []byte) Proc {
	t.Helper()
	pid, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := stat(pid)
	if err != nil {
		t.Fatalf("process %d is not alive", pid)
	}
	return p.Proc
}
