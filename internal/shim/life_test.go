package shim

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stubborn starts a process that has a session of its own, ignores SIGTERM and
// has lost its parent; its number is printed.
const stubborn = `setsid sh -c 'trap "" TERM HUP INT; echo $$; while :; do sleep 100; done' & `

// child reads the number that stubborn printed.
func (r *rig) child(c *Conn) Proc {
	r.t.Helper()
	got := r.until(c, kind(KindIn))
	return pidIn(r.t, got[len(got)-1].Data)
}

func names(procs []Proc, p Proc) bool {
	for _, q := range procs {
		if q.PID == p.PID && q.StartTime == p.StartTime {
			return true
		}
	}
	return false
}

func TestStopEndsWhatResists(t *testing.T) {
	r := start(t, stubborn+`trap "" TERM; while :; do sleep 100; done`)
	c := r.dial(0)
	p := r.child(c)
	if err := c.Stop(r.ctx, Grace{Stdin: 50 * time.Millisecond, Term: 50 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	e := exitOf(t, r.until(c, kind(KindExit)))
	if e.Reason != ReasonStopped || e.Signal != "killed" || !names(e.Left, p) || len(e.Survivors) > 0 || e.Truncated {
		t.Errorf("exit is %+v, the child %+v", e, p)
	}
	r.noneLeft()
}

func TestStopIsGentleFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		grace  Grace
		last   string
		code   int
	}{
		"stdin": {`trap 'echo term' TERM; echo up; cat >/dev/null; echo bye; exit 7`, Grace{patience, patience}, "bye", 7},
		"term":  {`trap 'echo term; exit 8' TERM; echo up; while :; do sleep 0.05; done`, Grace{0, patience}, "term", 8},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, tt.script)
			c := r.dial(0)
			r.until(c, line("up"))
			if err := c.Stop(r.ctx, tt.grace); err != nil {
				t.Fatal(err)
			}
			got := r.until(c, kind(KindExit))
			if e := exitOf(t, got); e.Reason != ReasonStopped || e.Code != tt.code {
				t.Errorf("exit is %+v", e)
			}
			last := "" // of stdout; sh has its own words on stderr
			for _, f := range got {
				if f.Kind == KindIn {
					last = string(f.Data)
				}
			}
			if last != tt.last {
				t.Errorf("the last line is %q", last)
			}
		})
	}
}

func TestSecondStopOnlyShortens(t *testing.T) {
	r := start(t, `echo up; trap "" TERM; while :; do sleep 100; done`)
	c := r.dial(0)
	r.until(c, line("up"))
	for _, g := range []Grace{{patience * 2, patience * 2}, {patience * 9, patience * 9}, {}} {
		if err := c.Stop(r.ctx, g); err != nil {
			t.Fatal(err)
		}
	}
	if e := exitOf(t, r.until(c, kind(KindExit))); e.Signal != "killed" {
		t.Errorf("exit is %+v", e)
	}
}

// The agent ends by itself, its child holds stdout open and goes on.
func TestAgentLeavesAChild(t *testing.T) {
	r := start(t, stubborn+`read go; echo last; exit 5`)
	c := r.dial(0)
	p := r.child(c)
	r.write(c, "go", "go\n")
	got := r.until(c, kind(KindExit))
	e := exitOf(t, got)
	if e.Reason != ReasonExited || e.Code != 5 || !names(e.Left, p) || e.Truncated {
		t.Errorf("exit is %+v, the child %+v", e, p)
	}
	if s := brief(got); !strings.Contains(s, `"last"`) {
		t.Errorf("frames are %s", s)
	}
	r.noneLeft()
}

func TestKilledAgentLeavesNobody(t *testing.T) {
	r := start(t, stubborn+`(sleep 1000 >/dev/null 2>&1 &) ; env -i sleep 1000 >/dev/null 2>&1 & wait`)
	c := r.dial(0)
	got := r.until(c, kind(KindIn))
	p := pidIn(t, got[len(got)-1].Data)
	var s Start
	decode(t, got[0], KindStart, &s)
	syscall.Kill(s.Agent.PID, syscall.SIGKILL)
	e := exitOf(t, r.until(c, kind(KindExit)))
	if e.Reason != ReasonExited || e.Code != -1 || e.Signal != "killed" || !names(e.Left, p) {
		t.Errorf("exit is %+v, the child %+v", e, p)
	}
	r.noneLeft()
	all, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	if left := descendants(all, r.handle.PID); len(left) > 0 { // the one without an environment too
		t.Errorf("the shim still has %v", left)
	}
}

func TestSweepAfterTheShimWasKilled(t *testing.T) {
	// One orphan has the nonce, its child has an empty environment.
	r := start(t, `setsid sh -c 'trap "" TERM; env -i sleep 1000 >/dev/null 2>&1 & echo $!; wait' & cat >/dev/null`)
	c := r.dial(0)
	got := r.until(c, kind(KindIn))
	bare := pidIn(t, got[len(got)-1].Data)
	var s Start
	decode(t, got[0], KindStart, &s)
	agent, err := openProc(s.Agent)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.close()
	if !Alive(r.handle) {
		t.Error("a living shim is called dead")
	}
	wrong := r.handle
	wrong.StartTime++
	other := r.handle
	other.Nonce += "x"
	if Alive(wrong) || Alive(other) {
		t.Error("another process is taken for the shim")
	}
	r.killShim()
	if Alive(r.handle) {
		t.Error("a dead shim is called alive")
	}
	if !agent.wait(patience) {
		t.Error("the agent outlives its shim")
	}
	killed, err := Sweep(r.spec.Nonce, []Proc{s.Agent, {PID: os.Getpid(), StartTime: 1}})
	if err != nil || !names(killed, bare) {
		t.Errorf("killed %v, %v; wanted %v among them", killed, err, bare)
	}
	r.noneLeft()
	if _, err := stat(bare.PID); err == nil {
		t.Error("the process without an environment is left")
	}
	if again, err := Sweep(r.spec.Nonce, nil); err != nil || len(again) > 0 {
		t.Errorf("a second sweep: %v %v", again, err)
	}
	if _, err := Sweep("", nil); ErrorCode(err) != CodeInvalid {
		t.Errorf("a sweep of everybody: %v", err)
	}
	frames := r.evidence()
	if len(frames) != 2 || frames[0].Kind != KindStart {
		t.Errorf("the evidence is %s", brief(frames))
	}
	if _, err := c.Next(r.ctx); ErrorCode(err) != CodeClosed {
		t.Errorf("Next on a dead shim: %v", err)
	}
	if _, err := Dial(r.ctx, r.spec.Socket, 50, 0); ErrorCode(err) != CodeClosed {
		t.Errorf("Dial to a dead shim: %v", err)
	}
}

// A process whose main thread has ended looks like a zombie, but runs.
func TestSweepFindsAProcessWithoutItsMainThread(t *testing.T) {
	r := start(t, `setsid `+os.Args[0]+` headless & cat >/dev/null`)
	p := r.child(r.dial(0))
	r.killShim()
	if killed, err := Sweep(r.spec.Nonce, nil); err != nil || !names(killed, p) {
		t.Errorf("killed %v, %v; wanted %v among them", killed, err, p)
	}
	if _, err := stat(p.PID); err == nil {
		t.Error("it is left")
	}
}

func TestLeaseEndsASessionThatNobodyWants(t *testing.T) {
	r := start(t, `echo up; cat; echo stdin closed; exec sleep 1000`)
	c := r.dial(0)
	r.until(c, line("up"))
	if err := c.Lease(r.ctx, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	// While a server is attached, no lease ends: what is asked is answered.
	r.write(c, "w", strings.Repeat("x\n", 3))
	r.until(c, id(KindWritten, "w"))
	c.Close()
	r.shimEnds()
	r.noneLeft()
	frames := r.evidence()
	if e := exitOf(t, frames); e.Reason != ReasonLease || e.Signal != "terminated" {
		t.Errorf("exit is %+v", e)
	}
	if s := brief(frames); !strings.Contains(s, "stdin closed") {
		t.Errorf("the evidence is %s", s)
	}
	if _, err := os.Stat(r.spec.Socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// At the cap, without a server: the shim gives up on the rest and says so.
func TestLeaseEndsABlockedSession(t *testing.T) {
	r := start(t, `yes blocked`, func(s *Spec) { s.SpoolCap, s.Lease = 256<<10, 300*time.Millisecond })
	r.shimEnds()
	r.noneLeft()
	frames := r.evidence()
	if e := exitOf(t, frames); e.Reason != ReasonLease || !e.Truncated {
		t.Errorf("exit is %+v", e)
	}
	if k := frames[len(frames)-2].Kind; k != KindBlocked {
		t.Errorf("before it comes %s", k)
	}
}

func TestSignalToTheShimRunsTheLadder(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		r := start(t, stubborn+`wait`)
		c := r.dial(0)
		p := r.child(c)
		syscall.Kill(r.handle.PID, sig)
		got := r.until(c, kind(KindExit))
		if e := exitOf(t, got); e.Reason != ReasonSignal || !names(e.Left, p) {
			t.Errorf("%v: exit is %+v, the child %+v", sig, e, p)
		}
		r.noneLeft()
		c.Ack(got[len(got)-1].Seq)
		r.shimEnds()
	}
}

func TestSignalReachesTheAgent(t *testing.T) {
	r := start(t, `trap 'echo interrupted; exit' INT; echo up; while :; do sleep 0.05; done`)
	c := r.dial(0)
	r.until(c, line("up"))
	if err := c.Signal(r.ctx, 999); ErrorCode(err) != CodeInvalid {
		t.Errorf("signal 999: %v", err)
	}
	if err := c.Signal(r.ctx, int(syscall.SIGINT)); err != nil {
		t.Fatal(err)
	}
	r.until(c, line("interrupted"))
	r.until(c, kind(KindExit))
	if err := c.Signal(r.ctx, int(syscall.SIGINT)); ErrorCode(err) != CodeAgentGone {
		t.Errorf("after the end: %v", err)
	}
}

func TestStartFailureIsAnExitFrame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*Spec)
		says   string
	}{
		"not on the path": {func(s *Spec) { s.Argv = []string{"no-such-agent"} }, "no-such-agent: no such executable on the agent's PATH"},
		"no such file":    {func(s *Spec) { s.Argv = []string{"/no/such/agent"} }, "/no/such/agent: no such executable"},
		"no directory":    {func(s *Spec) { s.Dir = "/no/such/dir" }, "working directory /no/such/dir"},
		"a directory":     {func(s *Spec) { s.Argv = []string{"/"} }, "not executable"},
		"no program":      {func(s *Spec) { s.Argv = []string{file} }, "exec format error"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "", tt.change)
			c := r.dial(0)
			got := r.until(c, kind(KindExit))
			e := exitOf(t, got)
			if e.Reason != ReasonStartFailed || e.Code != -1 || !strings.Contains(e.Error, tt.says) || len(got) != 1 {
				t.Errorf("exit is %+v", e)
			}
			if err := c.Write(r.ctx, "w", nil); ErrorCode(err) != CodeAgentGone {
				t.Errorf("write: %v", err)
			}
			if err := c.Signal(r.ctx, 15); ErrorCode(err) != CodeAgentGone {
				t.Errorf("signal: %v", err)
			}
			c.Ack(1)
			r.shimEnds()
		})
	}
}

func TestAgentsEnvironment(t *testing.T) {
	t.Setenv("SERVER_SECRET", "must not be seen")
	r := start(t, `env`, func(s *Spec) { s.Env = append(s.Env, "MINE=yes", NonceEnv+"=of-an-outer-session") })
	c := r.dial(0)
	text := brief(r.until(c, kind(KindExit)))
	for _, want := range []string{`"MINE=yes"`, NonceEnv + "=nonce-"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	for _, not := range []string{"SERVER_SECRET", "outer-session", shimNonceEnv} {
		if strings.Contains(text, not) {
			t.Errorf("%s in %s", not, text)
		}
	}
}
