package acp

import (
	"testing"

	"baton"
	"baton/internal/agent"
)

func TestHandshakeNew(t *testing.T) {
	r := newRig(t, "")
	r.wrote(`"method":"initialize"`)
	if r.deadlines["handshake"] != HandshakeTimeout {
		t.Errorf("deadlines %v", r.deadlines)
	}
	r.frame(`{"jsonrpc":"2.0","id":"b1","result":{"protocolVersion":1,"agentInfo":{"name":"a","version":"1.2"}}}`)
	r.wrote(`"method":"session/new","params":{"cwd":"/dir","mcpServers":[]}`)
	r.update(`{"sessionUpdate":"available_commands_update","availableCommands":[]}`)
	r.frame(`{"jsonrpc":"2.0","id":"b2","result":{"sessionId":"s"}}`)
	r.says("ready s version 1.2 resumed false")
	if d, ok := r.deadlines["handshake"]; !ok || d != 0 {
		t.Errorf("the deadline is not cleared: %v", r.deadlines)
	}
	r.step(agent.Input{Deadline: "handshake"}) // it and the answer crossed
	r.says()
}

func TestHandshakeFails(t *testing.T) {
	tests := []struct {
		name   string
		inputs []agent.Input
		want   string
	}{
		{"version 2", frames(`{"id":"b1","result":{"protocolVersion":2}}`), "session failed start_failed"},
		{"no ACP", frames(`{"id":"b1","error":{"code":-32601,"message":"no"}}`), "session failed start_failed"},
		{"not signed in", frames(`{"id":"b1","result":{"protocolVersion":1,"authMethods":[{"name":"key"}]}}`, `{"id":"b2","error":{"code":-32000,"message":"Authentication required"}}`), "session failed unauthorized"},
		{"no session id", frames(`{"id":"b1","result":{"protocolVersion":1}}`, `{"id":"b2","result":{}}`), "session failed start_failed"},
		{"silence", []agent.Input{{Deadline: "handshake"}}, "session failed start_failed"},
		{"death", []agent.Input{{Exited: true}}, "session failed start_failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "")
			for _, in := range tt.inputs {
				r.step(in)
			}
			r.says(tt.want)
			r.take()
			r.intent(baton.IntentInterrupt{})
			r.frame(`{"id":"b2","result":{"sessionId":"s"}}`)
			r.says()
			r.wrote()
		})
	}
}

func frames(lines ...string) (in []agent.Input) {
	for _, l := range lines {
		in = append(in, agent.Input{Frame: &agent.Frame{Data: []byte(l)}})
	}
	return in
}

func TestResume(t *testing.T) {
	const both = `{"loadSession":true,"sessionCapabilities":{"resume":{},"list":{}}}`
	replayed := `{"method":"session/update","params":{"sessionId":"n","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"x"}}}}`
	tests := []struct {
		name, agent, caps string
		frames            []string
		want              string
		quiet             bool
	}{
		{"resume", "opencode", both, []string{`{"id":"b2","result":{}}`}, "ready n version 1.2 resumed true", false},
		{"load with its replay before the answer", "copilot", `{"loadSession":true}`, []string{replayed, `{"id":"b2","result":null}`}, "ready n version 1.2 resumed true", false},
		{"gemini replays after the answer", "gemini-cli", `{"loadSession":true}`, []string{`{"id":"b2","result":{}}`, replayed}, "ready n version 1.2 resumed true", true},
		{"qwen claims resume and has load", "qwen-code", both, []string{`{"id":"b2","error":{"code":-32601,"message":"Method not found"}}`, replayed, `{"id":"b3","result":{}}`}, "ready n version 1.2 resumed true", false},
		{"qwen loads what it does not know", "qwen-code", `{"loadSession":true}`, []string{`{"id":"b2","result":{}}`}, "resume failed not_found", false},
		{"neither", "x", `{"loadSession":false,"sessionCapabilities":{"resume":null}}`, nil, "resume failed other", false},
		{"not found", "copilot", `{"loadSession":true}`, []string{`{"id":"b2","error":{"code":-32002,"message":"Resource not found"}}`}, "resume failed not_found", false},
		{"gemini's not found", "gemini-cli", `{"loadSession":true}`, []string{`{"id":"b2","error":{"code":-32603,"message":"Internal error","data":{"details":"Invalid session identifier \"n\""}}}`}, "resume failed not_found", false},
		{"opencode's failure", "opencode", both, []string{`{"id":"b2","error":{"code":-32603,"message":"OpenCode service failure"}}`}, "resume failed other", false},
		{"no load after all", "x", `{"loadSession":true}`, []string{`{"id":"b2","error":{"code":-32601,"message":"Method not found"}}`}, "resume failed other", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "n")
			r.frame(`{"id":"b1","result":{"protocolVersion":1,"agentInfo":{"name":"` + tt.agent + `","version":"1.2"},"agentCapabilities":` + tt.caps + `}}`)
			for _, f := range tt.frames {
				r.frame(f)
			}
			if tt.quiet {
				r.says()
				if r.deadlines["quiet"] != QuietAfterLoad {
					t.Errorf("deadlines %v", r.deadlines)
				}
				r.step(agent.Input{Deadline: "quiet"})
			}
			r.says(tt.want)
		})
	}
}

func TestStateOfAnotherVersionIsRefused(t *testing.T) {
	for _, s := range []string{`{"v":2}`, `{}`, `nonsense`} {
		if _, err := New("x", Options{}).Load([]byte(s)); err == nil {
			t.Errorf("%s was loaded", s)
		}
	}
}

func TestEvidenceIsAnOptionalPower(t *testing.T) {
	if _, ok := New("x", Options{}).(agent.EvidenceFinder); ok {
		t.Error("a driver without evidence claims to find it")
	}
	d := New("x", Options{Evidence: func(agent.EvidenceQuery) (baton.Verdict, string) { return baton.VerdictHas, "" }})
	if v, _ := d.(agent.EvidenceFinder).FindEvidence(agent.EvidenceQuery{}); v != baton.VerdictHas || !d.Capabilities().Evidence {
		t.Error("a driver with evidence does not find it")
	}
}
