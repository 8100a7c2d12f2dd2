package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
)

func TestPromptCarriesHandoffsBeforeTheMessage(t *testing.T) {
	r := ready(t)
	r.intent(baton.IntentDeliver{
		Message:  baton.Payload{Delivery: "dlv_m", Text: "do <it> & more"},
		Handoffs: []baton.Payload{{Delivery: "dlv_1", Text: "<<<\none\n>>>\n"}, {Delivery: "dlv_2", Text: "<<<two>>>"}},
	})
	var p struct {
		Params struct {
			SessionID string
			Prompt    []struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal([]byte(r.writes[0]), &p); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, b := range p.Params.Prompt {
		texts = append(texts, b.Text)
	}
	if got := strings.Join(texts, "|"); got != "<<<\none\n>>>\n|<<<two>>>|\n|do <it> & more" || p.Params.SessionID != "s" {
		t.Errorf("prompt %q", got)
	}
	if !strings.Contains(r.writes[0], "do <it> & more") {
		t.Errorf("the text is escaped: %s", r.writes[0])
	}
	r.says()
	// A second one while it runs would be merged or kill it.
	r.writes = nil
	r.intent(baton.IntentDeliver{Message: baton.Payload{Delivery: "dlv_x", Text: "too early"}})
	r.says("dropped dlv_x conflict")
	r.wrote()
}

func TestAcceptance(t *testing.T) {
	for _, quiet := range []string{
		`{"sessionUpdate":"available_commands_update","availableCommands":[]}`,
		`{"sessionUpdate":"usage_update","used":1,"size":2}`,
		`{"sessionUpdate":"session_info_update","title":"x"}`,
		`{"sessionUpdate":"something_new"}`,
	} {
		r := prompted(t)
		r.update(quiet)
		r.says()
	}
	begun := func(evidence string) []string {
		return []string{"accepted dlv_m by " + evidence, "turn t1 [dlv_m]", "consumed dlv_m in t1"}
	}
	r := prompted(t)
	r.update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`)
	r.says(append(begun("session/update agent_thought_chunk"), "open t1.1 reasoning", `delta t1.1 "hm" false`)...)

	r = prompted(t)
	r.frame(`{"id":"b3","result":{"stopReason":"end_turn"}}`)
	r.says(append(begun("answer of session/prompt"), "turn t1 completed")...)

	r = prompted(t)
	r.frame(`{"id":7,"method":"session/request_permission","params":{"sessionId":"s","options":[],"toolCall":{"toolCallId":"c","kind":"other","title":"x"}}}`)
	if len(r.facts) == 0 || brief(r.facts[0]) != "accepted dlv_m by session/request_permission" {
		t.Errorf("facts %v", r.facts)
	}
}

func TestRefusedPromptIsDropped(t *testing.T) {
	for code, want := range map[string]string{"-32602": "agent_failed", "-32000": "unauthorized", "-32601": "agent_failed"} {
		r := prompted(t)
		r.frame(`{"id":"b3","error":{"code":` + code + `,"message":"no"}}`)
		r.says("dropped dlv_m " + want)
		r.intent(baton.IntentDeliver{Message: baton.Payload{Delivery: "dlv_n", Text: "again"}})
		r.wrote(`"id":"b4"`)
	}
}

func TestHowTurnsEnd(t *testing.T) {
	tests := []struct {
		name, answer string
		cancel       bool
		want         []string
	}{
		{"end_turn", `"result":{"stopReason":"end_turn"}`, false, []string{"turn t1 completed"}},
		{"cancelled by itself", `"result":{"stopReason":"cancelled"}`, false, []string{"turn t1 interrupted"}},
		{"cancelled", `"result":{"stopReason":"cancelled"}`, true, []string{"turn t1 interrupted"}},
		{"opencode in a retry", `"result":{"stopReason":"end_turn"}`, true, []string{"turn t1 interrupted"}},
		{"qwen in a retry", `"error":{"code":-32603,"message":"Request was aborted."}`, true, []string{"turn t1 interrupted"}},
		{"request cancelled", `"error":{"code":-32800,"message":"cancelled"}`, false, []string{"turn t1 interrupted"}},
		{"refusal", `"result":{"stopReason":"refusal"}`, false, []string{"turn t1 failed agent_failed"}},
		{"max_tokens", `"result":{"stopReason":"max_tokens"}`, false, []string{"notice warning", "turn t1 completed"}},
		{"gemini's loop detection", `"result":{"stopReason":"max_turn_requests"}`, false, []string{"notice warning", "turn t1 completed"}},
		{"a reason to come", `"result":{"stopReason":"tired"}`, false, []string{"notice info", "turn t1 completed"}},
		{"gemini 401", `"error":{"code":401,"message":"API key not valid"}`, false, []string{"turn t1 failed unauthorized"}},
		{"gemini 429", `"error":{"code":429,"message":"slow down"}`, false, []string{"turn t1 failed rate_limited"}},
		{"auth in the middle", `"error":{"code":-32000,"message":"Authentication required"}`, false, []string{"turn t1 failed unauthorized"}},
		{"server down", `"error":{"code":503,"message":"x"}`, false, []string{"turn t1 failed model_unreachable"}},
		{"no network", `"error":{"code":-32603,"message":"Internal error","data":{"details":"connect ECONNREFUSED 127.0.0.1:1"}}`, false, []string{"turn t1 failed model_unreachable"}},
		{"too long", `"error":{"code":-32603,"message":"Internal error: context_length_exceeded"}`, false, []string{"turn t1 failed context_too_long"}},
		{"opencode APIError", `"error":{"code":-32603,"message":"Internal error: scripted failure","data":{"service":"session","errorName":"APIError"}}`, false, []string{"turn t1 failed agent_failed"}},
		{"senseless answer", `"result":[1]`, false, []string{"notice warning", "notice info", "turn t1 completed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := running(t)
			if tt.cancel {
				r.intent(baton.IntentInterrupt{TurnKey: "t1"})
				r.wrote(`"method":"session/cancel","params":{"sessionId":"s"}`)
			}
			r.frame(`{"jsonrpc":"2.0","id":"b3",` + tt.answer + `}`)
			r.says(tt.want...)
			r.intent(baton.IntentInterrupt{TurnKey: "t1"}) // too late: it could only hit the next turn
			r.wrote()
		})
	}
}

func TestInterruptBeforeAnySign(t *testing.T) {
	r := prompted(t)
	r.intent(baton.IntentInterrupt{})
	r.wrote("session/cancel")
	r.frame(`{"id":"b3","result":{"stopReason":"cancelled"}}`)
	r.says("accepted dlv_m by answer of session/prompt", "turn t1 [dlv_m]", "consumed dlv_m in t1", "turn t1 interrupted")
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name    string
		updates []string
		answer  string
		want    baton.Usage
	}{
		{"opencode", []string{`{"sessionUpdate":"usage_update","used":900,"size":1000}`}, `{"stopReason":"end_turn","usage":{"inputTokens":11,"outputTokens":7,"totalTokens":18,"cachedReadTokens":3,"thoughtTokens":2}}`,
			baton.Usage{InputTokens: 11, OutputTokens: 7, CachedTokens: 3, ReasoningTokens: 2, ContextTokens: 900, ContextWindow: 1000}},
		{"gemini", nil, `{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":5,"output_tokens":6}}}}`, baton.Usage{InputTokens: 5, OutputTokens: 6}},
		{"qwen", []string{
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":5,"outputTokens":1}}}`,
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":6,"outputTokens":2}}}`}, `{"stopReason":"end_turn"}`,
			baton.Usage{InputTokens: 11, OutputTokens: 3}},
	}
	for _, tt := range tests {
		r := running(t)
		for _, u := range tt.updates {
			r.update(u)
		}
		r.frame(`{"id":"b3","result":` + tt.answer + `}`)
		if len(r.facts) != 1 || r.facts[0].(baton.FactTurnEnded).Usage != tt.want {
			t.Errorf("%s: %+v", tt.name, r.facts)
		}
	}
}

func TestUnsolicitedTurn(t *testing.T) {
	r := prompted(t) // our prompt and its turn have crossed
	r.frame(`{"method":"_baton/turn_started","params":{"sessionId":"s"}}`)
	r.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"built"}}`)
	r.frame(`{"method":"_baton/detached","params":{"sessionId":"s","names":["make"]}}`)
	r.frame(`{"method":"_baton/turn_ended","params":{"sessionId":"s","stopReason":"end_turn","usage":{"inputTokens":3}}}`)
	r.says("turn t2 []", "open t2.1 assistant_message", `delta t2.1 "built" false`, "detached [make]", "close t2.1 assistant_message completed", "turn t2 completed")
	r.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"yours"}}`)
	r.frame(`{"method":"_baton/turn_ended","params":{"sessionId":"s","stopReason":"end_turn"}}`) // nothing of the kind is open
	r.frame(`{"id":"b3","result":{"stopReason":"end_turn"}}`)
	r.says("accepted dlv_m by session/update agent_message_chunk", "turn t1 [dlv_m]", "consumed dlv_m in t1", "open t1.1 assistant_message", `delta t1.1 "yours" false`, "close t1.1 assistant_message completed", "turn t1 completed")
}

func TestUnsolicitedTurnFails(t *testing.T) {
	r := ready(t)
	r.frame(`{"method":"_baton/turn_started","params":{"sessionId":"s"}}`)
	r.frame(`{"method":"_baton/turn_ended","params":{"sessionId":"s","error":"no disk"}}`)
	r.says("turn t1 []", "turn t1 failed agent_failed")
}

func TestDeathClosesWhatIsOpen(t *testing.T) {
	r := running(t)
	r.update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"make","kind":"execute","status":"in_progress","rawInput":{"command":"make"}}`)
	r.frame(`{"id":1,"method":"session/request_permission","params":{"sessionId":"s","options":[{"optionId":"o","name":"Once","kind":"allow_once"}],"toolCall":{"toolCallId":"c"}}}`)
	r.take()
	r.step(agent.Input{Exited: true})
	r.says("close t1.call.c command interrupted", "gone q1: the agent's process has ended")
	r.wrote()

	r = prompted(t) // whether it has the message is for evidence to say
	r.step(agent.Input{Exited: true})
	r.says()

	r = running(t)
	r.intent(baton.IntentInterrupt{})
	r.step(agent.Input{Exited: true})
	r.says()
}
