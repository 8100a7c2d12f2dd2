package claude_test

import (
	"testing"

	"baton"
	"baton/internal/agent"
)

const isReady = "ready new resumed=false"

func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"handoff, then message": {
			[]string{life(u2, "queued"), life(u2, "started"), life(u1, "queued"), began(u2), `{"type":"result","num_turns":0,"is_error":false,"user_message_uuids":["u2"]}`,
				life(u2, "completed"), life(u1, "started"), began(u1), said("hi"), over(done, u1), life(u1, "completed")},
			[]string{"accepted dlv_u2", "started turn-2 [dlv_u2 dlv_u1]", "consumed dlv_u2 turn-2", "close assistant_message text-3 completed hi",
				"accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 completed"}},
		"a handoff that the conversation had": {
			[]string{life(u2, "completed"), life(u1, "started"), began(u1), over(done, u1)},
			[]string{"accepted dlv_u2", "started turn-2 [dlv_u2 dlv_u1]", "consumed dlv_u2 turn-2", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 completed"}},
		"a message that the conversation had": {
			[]string{life(u2, "completed"), life(u1, "completed")},
			[]string{"accepted dlv_u2", "started turn-2 [dlv_u1]", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 failed agent_failed"}},
		"a turn that nobody asked for goes first": {
			[]string{`{"type":"system","subtype":"init"}`, said("bg"), life(u2, "queued"), over(done)},
			[]string{"started turn-2 []", "close assistant_message text-3 completed bg", "ended turn-2 completed"}},
		"both folded into such a turn": {
			[]string{`{"type":"system","subtype":"init"}`, life(u2, "started"), life(u1, "started"), life(u2, "completed"), life(u1, "completed"), over(done, u1)},
			[]string{"started turn-2 []", "accepted dlv_u2", "consumed dlv_u2 turn-2", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 completed"}},
		"withdrawn": {
			[]string{life(u2, "queued"), life(u1, "queued"), life(u2, "cancelled"), life(u1, "cancelled")},
			[]string{"dropped dlv_u2 interrupted", "dropped dlv_u1 interrupted"}},
		"a result without an init": {
			[]string{over(`"is_error":true,"terminal_reason":"api_error"`, u1)},
			[]string{"started turn-2 [dlv_u1]", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 failed agent_failed"}},
		"a second init in a turn": {
			[]string{`{"type":"system","subtype":"init"}`, began(u1), over(done)},
			[]string{"started turn-2 []", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 completed"}},
		"uuids of nobody": {
			[]string{life("x", "started"), life("x", "cancelled"), life("x", "completed"), began("x"), over(done, "x")},
			[]string{"started turn-2 []", "ended turn-2 completed"}},
	} {
		t.Run(name, func(t *testing.T) {
			ready(t).deliver(d1, "go", d2).frames(c.lines...).want(append([]string{isReady}, c.want...)...)
		})
	}
}

// Messages that were merged end with one result.
func TestMerged(t *testing.T) {
	ready(t).deliver(d1, "a").deliver(d3, "b").frames(life(u1, "started"), life(u3, "started"), began(u1, u3), over(done, u1, u3)).
		want(isReady, "started turn-2 [dlv_u1 dlv_u3]", "accepted dlv_u1", "consumed dlv_u1 turn-2", "accepted dlv_u3", "consumed dlv_u3 turn-2", "ended turn-2 completed")
}

func TestVerdict(t *testing.T) {
	for fields, want := range map[string]string{
		done: "completed",
		`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429`:           "failed rate_limited",
		`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":529`:           "failed rate_limited",
		`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":401`:           "failed unauthorized",
		`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":500`:           "failed agent_failed",
		`"subtype":"success","is_error":true,"terminal_reason":"prompt_too_long","api_error_status":400`:     "failed context_too_long",
		`"subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns","errors":["too many"]`:    "failed agent_failed",
		`"subtype":"success","is_error":false,"terminal_reason":"aborted_streaming"`:                         "interrupted",
		`"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"`:               "interrupted",
		`"subtype":"success","is_error":true,"terminal_reason":null,"result":"x","api_error_status":"weird"`: "failed agent_failed",
	} {
		turn(t).frames(over(fields, u1)).
			want(isReady, "started turn-2 [dlv_u1]", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 "+want)
	}
	for kind, want := range map[string]string{"authentication_failed": "unauthorized", "server_error": "model_unreachable", "max_output_tokens": "agent_failed"} {
		turn(t).frames(`{"type":"assistant","is_api_error_message":true,"error":"`+kind+`","message":{"content":[{"type":"text","text":"API Error"}]}}`,
			over(`"is_error":true,"terminal_reason":"api_error","api_error_status":null`, u1)).
			want(isReady, "started turn-2 [dlv_u1]", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 failed "+want)
	}
}

func TestFailureDetail(t *testing.T) {
	u := turn(t).frames(over(`"is_error":true,"errors":["[ede_diagnostic] secret","Reached maximum number of turns (2)"]`, u1))
	e := u.facts[len(u.facts)-1].(baton.FactTurnEnded)
	if e.Err.Detail != "Reached maximum number of turns (2)" || e.Err.Hint == "" {
		t.Errorf("error: %+v", e.Err)
	}
}

func TestUsage(t *testing.T) {
	u := turn(t).frames(event(`{"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"cache_read_input_tokens":5}}}`),
		event(`{"type":"message_delta","usage":{"output_tokens":3}}`),
		over(done+`,"usage":{"input_tokens":20,"cache_creation_input_tokens":1,"cache_read_input_tokens":5,"output_tokens":7,"output_tokens_details":{"thinking_tokens":2}},"modelUsage":{"a":{"contextWindow":100},"b":{"contextWindow":200}}`, u1))
	want := baton.Usage{InputTokens: 26, CachedTokens: 5, OutputTokens: 7, ReasoningTokens: 2, ContextTokens: 18, ContextWindow: 200}
	if got := u.facts[len(u.facts)-1].(baton.FactTurnEnded).Usage; got != want {
		t.Errorf("usage %+v", got)
	}
}

func TestInterrupt(t *testing.T) {
	stop := func(key string) agent.Input {
		return agent.Input{Intent: baton.IntentInterrupt{TurnKey: key}}
	}
	u := turn(t).step(stop("turn-1")).silent().
		step(stop("turn-2")).wrote(`"subtype":"interrupt"`, `"cancel_queued":true`).
		deliver(d3, "late")
	u.facts = nil
	u.frames(`{"type":"control_response","response":{"subtype":"success","request_id":"baton-3","response":{"still_queued":[],"cancelled":["u3","u1","x"]}}}`,
		life(u3, "cancelled"), over(aborted, u1), life(u1, "cancelled")).
		want("dropped dlv_u3 interrupted", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 interrupted").
		step(stop("turn-2")).silent()
}

func TestInterruptBackground(t *testing.T) {
	u := turn(t).frames(`{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b1","description":"x"}]}`).
		step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: "turn-2"}}).
		frames(over(aborted, u1)).wrote(`"subtype":"stop_task","task_id":"b1"`)
	u.facts = nil
	u.frames(`{"type":"control_response","response":{"subtype":"error","request_id":"baton-4","error":"no such task"}}`).want()
}
