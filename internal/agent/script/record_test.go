package script

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
	"baton/internal/jsonl"
)

var record = flag.Bool("record", false, "drive the real agent again and rewrite testdata")

// recordings are sessions of the real process, kept as inputs (.jsonl) and as
// what the machine makes of them (.golden).
var recordings = map[string]func(b *bench){
	"speaking": func(b *bench) {
		b.do("[[think hm, let me see]] [[say one two three four five six]] [[plan do it\\nproperly]] [[todo a+|b*|c]] [[todo a+|b+|c*]] [[usage 11 7]]", baton.TurnCompleted)
		b.do("[[subagent scout found it]] [[stop max_tokens]]", baton.TurnCompleted)
	},
	"tools": func(b *bench) {
		b.do("[[run echo out; exit 2]] [[write a.txt\none\ntwo]] [[edit a.txt\ntwo\n=>\n2]] [[edit a.txt\nno\n=>\nx]] [[flood-output 10k]]", baton.TurnCompleted)
	},
	"approvals": func(b *bench) {
		for _, d := range []baton.Decision{baton.Decline, baton.ApproveOnce, baton.CancelTurn} {
			b.send("[[ask true]] [[say after]]")
			b.answerNext(baton.IntentAnswer{Decision: d, Reason: "not now"})
			b.end()
		}
	},
	"question": func(b *bench) {
		b.send("[[question Which?|a|b]]")
		b.answerNext(baton.IntentAnswer{Decision: baton.ApproveOnce, Answers: map[string][]string{"answer": {"b"}}})
		b.end()
	},
	"interrupt": func(b *bench) {
		b.send("[[say begun]] [[ask sleep 1000]]")
		turn, _ := agenttest.WaitFor[baton.FactTurnStarted](b.ctx, b.Live, b.pos)
		agenttest.WaitFor[baton.FactRequestOpened](b.ctx, b.Live, b.pos)
		b.interrupt(turn.Key)
		b.end()
	},
	"background": func(b *bench) {
		b.do("[[background true]]", baton.TurnCompleted)
		b.end()
	},
	"handoff": func(b *bench) {
		b.send("[[say taken]]", "<<<handoff\nruns 1-5\n>>>\n", "<<<handoff without a line break>>>")
		b.end()
	},
	"failures": func(b *bench) {
		for _, m := range []string{"[[fail broken]]", "[[fail-rate]]", "[[fail-auth]]"} {
			b.do(m, baton.TurnFailed)
		}
		b.do("[[garbage]]", baton.TurnCompleted)
		b.send("[[say half]] [[crash]]")
		b.dies()
	},
	"load": func(b *bench) {
		b.do("before", baton.TurnCompleted)
		b.Kill()
		b.env["BATON_SCRIPT_NO_RESUME"] = "1"
		b.start(b.native)
		b.do("[[recall]]", baton.TurnCompleted)
	},
}

func (b *bench) answerNext(in baton.IntentAnswer) {
	b.t.Helper()
	req, pos := agenttest.WaitFor[baton.FactRequestOpened](b.ctx, b.Live, b.pos)
	in.Delivery, in.Request, in.Questions = baton.DeliveryID("dlv_"+req.Key), req.Key, req.Questions
	b.pos = pos
	b.Step(agent.Input{Intent: in})
}

func TestRecordings(t *testing.T) {
	for name, scene := range recordings {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".jsonl")
			if *record {
				b := started(t)
				scene(b)
				b.CloseStdin()
				if err := os.WriteFile(file, b.scrubbed(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			spec, entries := agenttest.Load(t, file)
			outs := agenttest.Replay(t, Driver(), spec, entries)
			agenttest.Golden(t, filepath.Join("testdata", name+".golden"), agenttest.Dialogue(entries, outs), *record)
		})
	}
}

// scrubbed is the recording without what differs between machines and runs.
func (b *bench) scrubbed() []byte {
	self, _ := os.Executable()
	replace := strings.NewReplacer(b.dir, "/dir", b.home, "/home/script", self, "baton", b.native, "script-00000000000000000000000000000000")
	var out bytes.Buffer
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, e := range b.Entries() {
		if !e.Time.IsZero() {
			at = at.Add(time.Millisecond)
			e.Time = at
		}
		out.WriteString(replace.Replace(string(jsonl.Line(e))))
	}
	return out.Bytes()
}
