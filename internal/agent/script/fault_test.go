package script

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
)

func TestErrors(t *testing.T) {
	for mark, code := range map[string]baton.Code{"[[fail it broke]]": baton.CodeAgentFailed, "[[fail-rate]]": baton.CodeRateLimited,
		"[[fail-auth]]": baton.CodeUnauthorized, "[[stop refusal]]": baton.CodeAgentFailed, "[[nonsense]]": baton.CodeAgentFailed} {
		b := started(t)
		facts := b.do(mark, baton.TurnFailed)
		if err := facts[len(facts)-1].(baton.FactTurnEnded).Err; err.Code != code || err.Detail == "" && err.Title == "" {
			t.Errorf("%s: %+v", mark, err)
		}
	}
}

func TestGarbageIsShownAndSurvived(t *testing.T) {
	b := started(t)
	facts := b.do("[[garbage]] [[say sane]]", baton.TurnCompleted)
	notices := 0
	for _, f := range facts {
		if n, ok := f.(baton.FactNotice); ok && n.Code == baton.CodeFrameRejected {
			notices++
		}
	}
	if got := said(t, facts, baton.ItemAssistantMessage); got != "sane" || notices != 5 {
		t.Errorf("said %q after %d notices", got, notices)
	}
}

func TestFlood(t *testing.T) {
	b := started(t)
	for _, mark := range []string{"[[flood 1m]]", "[[long-line 1m]]"} {
		if got := said(t, b.do(mark, baton.TurnCompleted), baton.ItemAssistantMessage); len(got) != 1<<20 {
			t.Errorf("%s: %d bytes", mark, len(got))
		}
	}
}

func TestDeath(t *testing.T) {
	for _, mark := range []string{"[[crash]]", "[[exit 3]]"} {
		b := started(t)
		b.send("[[say before]] " + mark)
		b.dies()
		facts := b.Facts()
		if said(t, facts, baton.ItemAssistantMessage) != "before" {
			t.Errorf("%s: %+v", mark, facts)
		}
		for _, f := range facts { // the turn's end is the session's to tell
			if ended, ok := f.(baton.FactTurnEnded); ok {
				t.Errorf("%s: %+v", mark, ended)
			}
		}
	}
}

// dies waits for the end of an agent in the middle of an answer.
func (b *bench) dies() {
	b.t.Helper()
	b.Wait(b.ctx, b.pos, "an answer that is cut", func(f baton.Fact) bool {
		closed, ok := f.(baton.FactItemClosed)
		return ok && closed.Status == baton.NodeInterrupted
	})
}

func TestEvidence(t *testing.T) {
	d := Driver().(agent.EvidenceFinder)
	for mark, want := range map[string]baton.Verdict{"[[crash-unseen]]": baton.VerdictHasNot, "[[crash-unacked]]": baton.VerdictHas} {
		b := started(t)
		id := b.send(mark)
		b.waitDead()
		for _, f := range b.Facts() {
			switch f.(type) {
			case baton.FactDeliveryAccepted, baton.FactTurnStarted, baton.FactTurnEnded, baton.FactDeliveryDropped:
				t.Errorf("%s: %T %+v", mark, f, f)
			}
		}
		q := agent.EvidenceQuery{Delivery: id, NativeID: b.native, Dir: b.dir, Env: b.env, New: true}
		if got, detail := d.FindEvidence(q); got != want {
			t.Errorf("%s: %s, %s", mark, got, detail)
		}
		q.NativeID = "script-00000000000000000000000000000000"
		if got, _ := d.FindEvidence(q); got != baton.VerdictUnknown {
			t.Errorf("no file: %s", got)
		}
	}
	if got, _ := d.FindEvidence(agent.EvidenceQuery{New: true}); got != baton.VerdictHasNot {
		t.Errorf("never opened: %s", got)
	}
}

// waitDead waits until the agent has ended by itself: its lock on the
// conversation goes with it.
func (b *bench) waitDead() {
	b.t.Helper()
	f, err := os.Open(sessionFile(b.home, b.native))
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		b.t.Fatal(err)
	}
	b.CloseStdin()
}

func TestResumeAfterKill(t *testing.T) {
	for _, noResume := range []string{"", "1"} {
		b := newBench(t)
		b.env["BATON_SCRIPT_NO_RESUME"] = noResume
		b.start("")
		b.do("remember the number 42", baton.TurnCompleted)
		b.send("and seven [[hang]]")
		agenttest.WaitFor[baton.FactTurnStarted](b.ctx, b.Live, b.pos)
		b.Kill()
		first := b.native
		// A line that the crash cut off.
		f, err := os.OpenFile(sessionFile(b.home, first), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, `{"type":"user","role":"mess`)
		f.Close()

		b.start(first)
		got := said(t, b.do("[[recall]]", baton.TurnCompleted), baton.ItemAssistantMessage)
		if !strings.Contains(got, "message 1: remember the number 42\n") || !strings.Contains(got, "message 2: and seven [[hang]]\n") {
			t.Errorf("after a kill it knows %q", got)
		}
		if got := b.requests(); len(got) != 3 || got[2].Turn != 3 || len(got[2].Messages) != 4 {
			t.Errorf("the model received %+v", got)
		}
	}
}

func TestResumeFails(t *testing.T) {
	b := started(t)
	self, _ := os.Executable()
	for native, want := range map[string]baton.ResumeFailure{b.native: baton.ResumeInUse, "script-00000000000000000000000000000000": baton.ResumeNotFound, "../x": baton.ResumeNotFound} {
		l := agenttest.StartLive(t, Driver(), agent.Spec{Command: []string{self, "agent", "script"}, Dir: b.dir, NativeID: native}, b.env)
		if got, _ := agenttest.WaitFor[baton.FactResumeFailed](b.ctx, l, 0); got.Class != want {
			t.Errorf("%s: %+v", native, got)
		}
	}
}

func TestEndOfInputEndsTheAgentAndItsCommands(t *testing.T) {
	b := started(t)
	b.send("[[run echo $$; exec sleep 1000]]")
	delta, _ := agenttest.WaitFor[baton.FactItemDelta](b.ctx, b.Live, b.pos)
	pid, _ := strconv.Atoi(strings.TrimSpace(delta.Text))
	b.CloseStdin()
	if alive(pid) {
		t.Errorf("process %d lives on", pid)
	}
}

func zombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(data), ") Z ")
}

func TestOrphanOutlivesTheAgent(t *testing.T) {
	b := started(t)
	fifo := filepath.Join(b.dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	b.do("[[orphan echo $$ > fifo; read x < fifo]]", baton.TurnCompleted)
	data, err := os.ReadFile(fifo)
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	b.Kill()
	if !alive(pid) || zombie(pid) {
		t.Errorf("process %d ended with the agent", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

func TestIgnoreSignals(t *testing.T) {
	b := started(t)
	b.send("[[ignore-signals]] [[gate g]] [[run echo $PPID]] [[gate g]] [[say deaf]]")
	gates := 0
	pass := func() { // the gate is reached once more
		gates++
		seen := 0
		b.opens("gate", func(o baton.FactItemOpened) bool {
			if o.Kind == baton.ItemTool {
				seen++
			}
			return seen == gates
		})
		if err := os.WriteFile(filepath.Join(b.dir, "g"), []byte("\n"), 0); err != nil {
			t.Fatal(err)
		}
	}
	pass()
	delta, _ := agenttest.WaitFor[baton.FactItemDelta](b.ctx, b.Live, b.pos)
	pid, _ := strconv.Atoi(strings.TrimSpace(delta.Text))
	b.interrupt("")
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	pass()
	// All that came first and was not heard: the agent goes on and says so.
	facts, ended := b.end()
	if said(t, facts, baton.ItemAssistantMessage) != "deaf" || ended.Status != baton.TurnInterrupted {
		t.Errorf("ended %+v", ended)
	}
}

// The end of its input reaches a deaf agent before its gate opens, since both
// are seen by it alone: it says something after that, and lives.
func TestDeafToTheEndOfInput(t *testing.T) {
	b := newBench(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(b.ctx, self, "agent", "script")
	c.Env = []string{"BATON_SCRIPT_HOME=" + b.home, "PATH=" + os.Getenv("PATH")}
	in, _ := c.StdinPipe()
	pipe, _ := c.StdoutPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	out := bufio.NewReader(pipe)
	until := func(part string) string {
		for {
			line, err := out.ReadString('\n')
			if err != nil {
				t.Fatalf("before %s: %v", part, err)
			}
			if strings.Contains(line, part) {
				return line
			}
		}
	}
	fmt.Fprintf(in, `{"id":1,"method":"session/new","params":{"cwd":%q}}`+"\n", b.dir)
	id := strings.Split(until("sessionId"), `"`)
	fmt.Fprintf(in, `{"id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"[[ignore-signals]] [[gate g]] [[run read x < fifo]]"}]}}`+"\n", id[slices.Index(id, "sessionId")+2])
	until("Wait for g")
	in.Close()
	fifo := filepath.Join(b.dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"g", "fifo"} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte("x\n"), 0); err != nil {
			t.Fatal(err)
		}
	}
	until("end_turn")
}
