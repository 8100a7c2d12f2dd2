package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
	"baton/internal/modelscript/harness"
)

// TestKilled kills codex at points of a delivery. What the files tell must be
// what its model is told afterwards.
func TestKilled(t *testing.T) {
	const words, quoted = "the message in question", "the handoff in question"
	accepted := func(n int) func(*talk) {
		return func(k *talk) {
			for range n {
				expect[baton.FactDeliveryAccepted](k)
			}
		}
	}
	for _, p := range []struct {
		name             string
		until            func(*talk)
		message, handoff string // verdicts that may come
	}{
		{"at once", func(*talk) {}, "has has_not unknown", "has has_not"},
		{"handoff accepted", accepted(1), "has has_not unknown", "has"},
		{"turn started", func(k *talk) { expect[baton.FactTurnStarted](k) }, "has has_not unknown", "has"},
		{"message accepted", accepted(2), "has unknown", "has"},
		{"turn ended", func(k *talk) { expect[baton.FactTurnEnded](k) }, "has", "has"},
	} {
		t.Run(p.name, func(t *testing.T) {
			w := newWorld(t, harness.CodexOptions{})
			k := w.open()
			k.say("hello")
			k.Ended(baton.TurnCompleted)
			h := baton.Payload{Delivery: w.delivery(), Text: quoted}
			d := k.say(words, h)
			p.until(k)
			k.Kill()

			q := agent.EvidenceQuery{Delivery: d, NativeID: k.native, Dir: w.dir, Env: w.agent.Env, New: true}
			message, why := Driver{}.FindEvidence(q)
			t.Logf("message: %s (%s)", message, why)
			q.Delivery = h.Delivery
			handoff, why := Driver{}.FindEvidence(q)
			t.Logf("handoff: %s (%s)", handoff, why)
			if !strings.Contains(" "+p.message+" ", " "+string(message)+" ") || !strings.Contains(" "+p.handoff+" ", " "+string(handoff)+" ") {
				t.Errorf("not %s and %s", p.message, p.handoff)
			}

			k2 := w.open(func(s *agent.Spec) { s.NativeID = k.native })
			k2.say("what now?")
			k2.Ended(baton.TurnCompleted)
			all := w.model.Requests()
			last := all[len(all)-1]
			said := 0
			for _, b := range last.UserTexts() {
				if b == words {
					said++
				}
			}
			if message != baton.VerdictUnknown && (message == baton.VerdictHas) != (said == 1) {
				t.Errorf("the message is %s, and the model is told it %d times", message, said)
			}
			if handoff != baton.VerdictUnknown && (handoff == baton.VerdictHas) != (last.Has(quoted) == 1) {
				t.Errorf("the handoff is %s, and the model is told it %d times", handoff, last.Has(quoted))
			}
		})
	}
}

// TestNothingStored kills codex in a conversation that it has not begun to store.
func TestNothingStored(t *testing.T) {
	w := newWorld(t, harness.CodexOptions{})
	k := w.open()
	k.Kill()
	q := agent.EvidenceQuery{Delivery: w.delivery(), NativeID: k.native, Env: w.agent.Env, New: true}
	if v, why := (Driver{}).FindEvidence(q); v != baton.VerdictHasNot {
		t.Errorf("%s (%s)", v, why)
	}
	q.New = false
	if v, why := (Driver{}).FindEvidence(q); v != baton.VerdictUnknown {
		t.Errorf("of an older conversation: %s (%s)", v, why)
	}
	spec := w.spec()
	spec.NativeID = k.native
	l := agenttest.StartLive(t, Driver{}, spec, w.agent.Env)
	if f, _ := agenttest.WaitFor[baton.FactResumeFailed](w.ctx, l, 0); f.Class != baton.ResumeNotFound {
		t.Errorf("%+v", f)
	}
}

const (
	rootThread = "01a22f34-01e5-7143-8416-b3c437227667"
	segment2   = "01a22f34-02eb-72e0-9962-3e40e3e36bb2"
	forkThread = "01a22f34-03bb-79e0-a2c2-2592c990a3ba"
	wanted     = baton.DeliveryID("dlv_01a22e96-9e0a-7571-a44e-4913f99f172c")
)

// Lines as codex 0.171.0 writes them, cut to what counts.
const (
	lineMeta    = `{"timestamp":"t","ordinal":0,"type":"session_meta","payload":{"id":"` + rootThread + `"}}` + "\n"
	lineItem    = `{"ordinal":6,"type":"response_item","payload":{"type":"message","id":"msg_01a22e96-9e0a-7571-a44e-4913f99f172c","role":"user"}}` + "\n"
	lineTurn    = `{"ordinal":7,"type":"event_msg","payload":{"type":"task_started","turn_id":"T1"}}` + "\n"
	lineText    = `{"ordinal":8,"type":"response_item","payload":{"type":"message","id":"msg_x","role":"user","internal_chat_message_metadata_passthrough":{"turn_id":"T1","content_item_kinds":["user.text"]}}}` + "\n"
	lineMessage = `{"ordinal":9,"type":"event_msg","payload":{"type":"item_completed","turn_id":"T1","item":{"type":"UserMessage","client_id":"dlv_01a22e96-9e0a-7571-a44e-4913f99f172c"}}}` + "\n"
	lineOther   = `{"ordinal":9,"type":"event_msg","payload":{"type":"item_completed","turn_id":"T1","item":{"type":"UserMessage","client_id":"dlv_other"}}}` + "\n"
	lineReverts = `{"ordinal":7,"type":"session_meta","payload":{"id":"` + rootThread + `","history_base":{"thread_id":"` + rootThread + `","end_ordinal_exclusive":7,"end_byte_offset":1}}}` + "\n"
)

// store writes rollout files as codex keeps them in its home.
func store(t *testing.T, home string, files map[string]string) {
	t.Helper()
	dir := filepath.Join(home, "sessions/2026/12/01")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindEvidence(t *testing.T) {
	first, second := "rollout-2026-12-01T01-24-27-"+rootThread+".jsonl", "rollout-2026-12-01T01-24-27-"+rootThread+"_"+segment2+".jsonl"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  baton.Verdict
	}{
		{"nothing of it", map[string]string{first: lineMeta}, "has_not"},
		{"the injected item", map[string]string{first: lineMeta + lineItem}, "has"},
		{"the message", map[string]string{first: lineMeta + lineTurn + lineText + lineMessage}, "has"},
		{"another message", map[string]string{first: lineMeta + lineTurn + lineText + lineOther}, "has_not"},
		{"the turn without a text", map[string]string{first: lineMeta + lineTurn}, "has_not"},
		{"a text that may be it", map[string]string{first: lineMeta + lineTurn + lineText}, "unknown"},
		{"cut off", map[string]string{first: lineMeta + lineItem[:40]}, "unknown"},
		{"garbage", map[string]string{first: lineMeta + "garbage\n" + lineTurn}, "unknown"},
		{"kept by a revert", map[string]string{first: lineMeta + lineItem + lineTurn, second: lineReverts}, "has"},
		{"gone by a revert", map[string]string{first: lineMeta + lineTurn + lineText + lineMessage, second: lineReverts}, "has_not"},
		{"again after a revert", map[string]string{first: lineMeta + lineTurn + lineText + lineMessage, second: lineReverts + lineText + lineMessage}, "has"},
		{"base missing", map[string]string{second: lineReverts}, "unknown"},
		{"compressed", map[string]string{first + ".zst": "x"}, "unknown"},
		{"of another thread", map[string]string{"rollout-x-" + forkThread + ".jsonl": lineMeta + lineItem}, "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			store(t, filepath.Join(home, ".codex"), c.files)
			q := agent.EvidenceQuery{Delivery: wanted, NativeID: rootThread, Env: map[string]string{"HOME": home}}
			if v, why := (Driver{}).FindEvidence(q); v != c.want {
				t.Errorf("%s (%s), not %s", v, why, c.want)
			}
		})
	}
	for _, q := range []agent.EvidenceQuery{
		{Delivery: wanted, NativeID: "*", Env: map[string]string{"HOME": "/"}, New: true},
		{Delivery: wanted, NativeID: rootThread, New: true},
		{Delivery: wanted, NativeID: rootThread, Env: map[string]string{"CODEX_HOME": "/nowhere"}, New: true},
	} {
		if v, _ := (Driver{}).FindEvidence(q); v != baton.VerdictUnknown {
			t.Errorf("%+v: %s", q, v)
		}
	}
}
