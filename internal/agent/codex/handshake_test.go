package codex

import (
	"slices"
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
)

func TestLaunch(t *testing.T) {
	todo := []string{"-c", "tools.update_plan.enabled=true"}
	for _, c := range []struct {
		command, want []string
	}{
		{[]string{"codex"}, append([]string{"codex", "app-server"}, todo...)},
		{[]string{"codex", "app-server"}, append([]string{"codex", "app-server"}, todo...)},
		{[]string{"codex", "--strict-config"}, append([]string{"codex", "--strict-config", "app-server"}, todo...)},
		{[]string{"/opt/codex-app-server"}, append([]string{"/opt/codex-app-server"}, todo...)},
		{[]string{"codex", "-c", "tools.update_plan.enabled=false"}, []string{"codex", "-c", "tools.update_plan.enabled=false", "app-server"}},
	} {
		command := slices.Clone(c.command)
		got := Driver{}.Launch(agent.Spec{Command: c.command, Dir: `/a "b"`}).Argv
		want := append(c.want, "-c", `projects={"/a \"b\""={trust_level="untrusted"}}`)
		if !slices.Equal(got, want) || !slices.Equal(command, c.command) {
			t.Errorf("%q is launched as %q", c.command, got)
		}
	}
	got := Driver{}.Launch(agent.Spec{Command: []string{"codex"}, Dir: "/w", Trusted: true}).Argv
	if got[len(got)-1] != `projects={"/w"={trust_level="trusted"}}` {
		t.Errorf("trusted: %q", got)
	}
}

func TestHandshake(t *testing.T) {
	b := newBench(t, func(s *agent.Spec) { s.Settings = baton.Settings{Model: "big", PermissionMode: "ask"} })
	b.step(agent.Input{Started: true})
	b.writes(`"experimentalApi":true`)
	if b.out.Deadlines[deadlineHandshake] != answerTime {
		t.Errorf("deadlines: %v", b.out.Deadlines)
	}
	b.result(1, obj{"userAgent": "baton/0.172.0-alpha.3 (x)"}).writes(`{"method":"initialized"}`, `"config/read"`)
	b.refusal(2, -32600, "failed to load configuration").writes(`"approvalPolicy":"on-request","cwd":"/w","model":"big","sandbox":"workspace-write"`)
	b.result(3, obj{"thread": obj{"id": root}}).facts(baton.FactSessionReady{})
	if d, ok := b.out.Deadlines[deadlineHandshake]; !ok || d != 0 {
		t.Errorf("deadlines: %v", b.out.Deadlines)
	}
	b.step(agent.Input{Deadline: deadlineHandshake}).facts()
}

func TestHandshakeFails(t *testing.T) {
	code := func(b *bench, want baton.Code) {
		b.t.Helper()
		if f := wantFailed(b); f.Code != want || f.Hint == "" {
			b.t.Errorf("%+v, not %s", f, want)
		}
		b.deliver(msg1)
		b.facts(baton.FactDeliveryDropped{})
		b.asks(0, askCommand, obj{}).writes(`{"error":{"code":-32601`)
		b.step(agent.Input{Exited: true}).facts()
	}
	begin := func(t *testing.T) *bench { return newBench(t).step(agent.Input{Started: true}) }
	t.Run("old", func(t *testing.T) {
		code(begin(t).result(1, obj{"userAgent": "baton/0.99.9 (x)"}), baton.CodeAgentTooOld)
	})
	t.Run("refused", func(t *testing.T) { code(begin(t).refusal(1, -32600, "no"), baton.CodeStartFailed) })
	t.Run("silent", func(t *testing.T) {
		code(begin(t).step(agent.Input{Deadline: deadlineHandshake}), baton.CodeStartFailed)
	})
	t.Run("exited", func(t *testing.T) { code(begin(t).step(agent.Input{Exited: true}), baton.CodeStartFailed) })
	t.Run("mode", func(t *testing.T) {
		b := newBench(t, func(s *agent.Spec) { s.Settings.PermissionMode = "yolo" })
		code(b.step(agent.Input{Started: true}), baton.CodeInvalid)
	})
	t.Run("config", func(t *testing.T) {
		b := begin(t).result(1, obj{"userAgent": "baton/0.171.0 (x)"}).refusal(2, -32600, "broken")
		code(b.refusal(3, -32600, "failed to load configuration: config.toml:36:7: unclosed table"), baton.CodeStartFailed)
	})
	t.Run("no id", func(t *testing.T) {
		b := begin(t).result(1, obj{"userAgent": "baton/0.171.0 (x)"}).result(2, obj{})
		code(b.result(3, obj{}), baton.CodeStartFailed)
	})
	t.Run("no version", func(t *testing.T) {
		b := begin(t).result(1, obj{"userAgent": "something"})
		b.facts(baton.FactNotice{})
	})
}

func wantFailed(b *bench) *baton.Error {
	b.t.Helper()
	return want[baton.FactSessionFailed](b).Err
}

func TestResumeFailure(t *testing.T) {
	for text, class := range map[string]baton.ResumeFailure{
		"no rollout found for thread id 01a2":                              baton.ResumeNotFound,
		"invalid session id: invalid character: expected …":                baton.ResumeNotFound,
		"thread 01a2 already has an active writer":                         baton.ResumeInUse,
		"invalid paginated history lineage … missing source rollout":       baton.ResumeDamaged,
		"failed to read thread: thread-store internal error":               baton.ResumeDamaged,
		"session 01a2 is archived. Run `codex unarchive 01a2` to …":        baton.ResumeOther,
		"direct app-server input is not allowed for multi-agent v2 agents": baton.ResumeOther,
	} {
		b := newBench(t, resumes).step(agent.Input{Started: true}).result(1, obj{"userAgent": "baton/0.171.0 (x)"}).result(2, obj{})
		b.writes(`"excludeTurns":true`)
		b.refusal(3, -32600, text)
		if f := want[baton.FactResumeFailed](b); f.Class != class || f.Detail != text {
			t.Errorf("%q: %+v, not %s", text, f, class)
		}
	}
	b := newBench(t, resumes).step(agent.Input{Started: true}).result(1, obj{"userAgent": "baton/0.171.0 (x)"}).result(2, obj{})
	b.result(3, obj{"thread": obj{"id": kid}}).facts(baton.FactResumeFailed{})
}

// Settings stick to a codex thread, so an empty one is given as codex's own
// wherever something else may stick.
func TestSettingsStick(t *testing.T) {
	b := newBench(t, resumes).step(agent.Input{Started: true}).result(1, obj{"userAgent": "baton/0.171.0 (x)"})
	b.result(2, obj{"config": obj{"approval_policy": "never", "sandbox_mode": "read-only", "model": "own", "model_reasoning_effort": "low"}})
	b.writes(`"approvalPolicy":"never","cwd":"/w","excludeTurns":true,"model":"own","sandbox":"read-only"`)
	b.result(3, obj{"thread": obj{"id": root}, "model": "own"})
	give := func(n int, s baton.Settings) string {
		b.step(agent.Input{Intent: baton.IntentDeliver{Message: baton.Payload{Delivery: msg1}, Settings: s}})
		line := string(b.out.Writes[0].Data)
		b.refusal(n, -32600, "no")
		return line
	}
	contains := func(line string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(line, p) {
				t.Errorf("%s\nlacks %s", line, p)
			}
		}
	}
	contains(give(4, baton.Settings{}), `"approvalPolicy":"never"`, `{"networkAccess":false,"type":"readOnly"}`, `"effort":"low"`, `"mode":"default"`)
	if line := give(5, baton.Settings{}); strings.Contains(line, "approvalPolicy") || strings.Contains(line, "effort") {
		t.Errorf("nothing sticks any more: %s", line)
	}
	contains(give(6, baton.Settings{PermissionMode: "plan", Model: "big", Effort: "high"}),
		`"mode":"plan","settings":{"developer_instructions":null,"model":"big","reasoning_effort":"high"}`, `"approvalPolicy":"on-request"`)
	contains(give(7, baton.Settings{PermissionMode: "full-access"}), `"approvalPolicy":"never"`, `"dangerFullAccess"`, `"mode":"default"`, `"model":"own"`)
	contains(give(8, baton.Settings{}), `"approvalPolicy":"never"`, `"readOnly"`)
	b.step(agent.Input{Intent: baton.IntentDeliver{Message: baton.Payload{Delivery: msg1}, Settings: baton.Settings{PermissionMode: "yolo"}}})
	b.facts(baton.FactDeliveryDropped{})
}

func TestLoad(t *testing.T) {
	for stored, want := range map[string]baton.Code{"": baton.CodeInternal, "[]": baton.CodeInternal, `{"v":99}`: baton.CodeDataNewer} {
		if _, err := (Driver{}).Load([]byte(stored)); baton.ErrorCode(err) != want {
			t.Errorf("%q: %v", stored, err)
		}
	}
}
