package acp

import (
	"testing"

	"baton"
	"baton/internal/agent"
)

const ask = `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","options":[` +
	`{"optionId":"proceed_always_project","name":"Always in project","kind":"allow_always"},` +
	`{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"once","name":"Allow","kind":"allow_once"},{"optionId":"no","name":"Reject","kind":"reject_once"}],` +
	`"toolCall":{"toolCallId":"c","status":"pending","title":"touch x","content":[],"locations":[],"kind":"execute","rawInput":{"command":"touch x"}}}}`

func TestPermission(t *testing.T) {
	tests := []struct {
		name   string
		answer baton.IntentAnswer
		writes []string
		closed string // of the call, which the agent leaves open
	}{
		{"once", baton.IntentAnswer{Decision: baton.ApproveOnce}, []string{`"result":{"outcome":{"optionId":"once","outcome":"selected"}}`}, "completed"},
		{"session", baton.IntentAnswer{Decision: baton.ApproveSession}, []string{`"optionId":"always"`}, "completed"},
		{"named option", baton.IntentAnswer{Decision: baton.ApproveSession, Option: "always"}, []string{`"optionId":"always"`}, "completed"},
		{"an option that is more than was decided", baton.IntentAnswer{Decision: baton.ApproveOnce, Option: "always"}, []string{`"optionId":"once"`}, "completed"},
		{"decline", baton.IntentAnswer{Decision: baton.Decline, Reason: "no"}, []string{`"result":{"_meta":{"baton":{"reason":"no"}},"outcome":{"optionId":"no","outcome":"selected"}}`}, "failed"},
		{"cancel", baton.IntentAnswer{Decision: baton.CancelTurn}, []string{`"result":{"outcome":{"outcome":"cancelled"}}`, "session/cancel"}, "interrupted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := running(t)
			r.frame(ask) // before any tool_call, as Gemini and Qwen do
			r.says(`open t1.call.c command {"title":"touch x","command":"touch x"}`,
				`request q1 command t1.call.c "touch x" approve_session=always approve=once decline=no cancel_turn=`)
			tt.answer.Delivery, tt.answer.Request = "dlv_a", "q1"
			r.intent(tt.answer)
			r.wrote(tt.writes...)
			r.says()
			r.step(agent.Input{Written: &agent.WriteRef{Tag: "answer:dlv_a"}})
			r.says("accepted dlv_a by written")
			r.intent(tt.answer) // the request has ended
			r.says("dropped dlv_a not_resumable")
			r.frame(`{"id":"b3","result":{"stopReason":"end_turn"}}`)
			r.says("close t1.call.c command "+tt.closed, "turn t1 "+map[string]string{"interrupted": "interrupted"}[tt.closed]+map[bool]string{true: "", false: "completed"}[tt.closed == "interrupted"])
		})
	}
}

func TestPermissionWithoutSuchAnOption(t *testing.T) {
	r := running(t)
	r.frame(`{"id":"x","method":"session/request_permission","params":{"sessionId":"s","options":[{"optionId":"a","name":"Always","kind":"allow_always"},{"optionId":"z","kind":"later"}],"toolCall":{"toolCallId":"c","kind":"edit","title":"Edit","content":[{"type":"diff","path":"/dir/n","newText":"one\n"}]}}}`)
	r.says(`open t1.call.c file_change {"title":"Edit","files":[{"path":"n","change":"add","additions":1,"diff":"@@ -0,0 +1,1 @@\n+one\n"}]}`,
		`request q1 file_change t1.call.c "add n\n@@ -0,0 +1,1 @@\n+one\n" approve_session=a cancel_turn=`)
	r.intent(baton.IntentAnswer{Delivery: "dlv_a", Request: "q1", Decision: baton.ApproveOnce})
	r.wrote(`"id":"x","jsonrpc":"2.0","result":{"outcome":{"outcome":"cancelled"}}`) // never more than was decided
}

func TestCancelAnswersWhatIsPending(t *testing.T) {
	r := running(t)
	r.frame(ask)
	r.frame(form)
	r.take()
	r.intent(baton.IntentInterrupt{TurnKey: "t1"})
	r.wrote("session/cancel", `"id":0,"jsonrpc":"2.0","result":{"outcome":{"outcome":"cancelled"}}`, `"result":{"action":"cancel"}`)
	r.says("gone q1: interrupted", "gone q2: interrupted")
	r.frame(ask) // it and our cancel crossed
	r.wrote(`"outcome":"cancelled"`)
	r.says()
}

func TestRequestDiesWithItsTurn(t *testing.T) {
	r := running(t)
	r.frame(ask)
	r.take()
	r.frame(ask) // the id of an open request
	r.says("notice warning")
	r.frame(`{"id":"b3","result":{"stopReason":"end_turn"}}`)
	r.says("close t1.call.c command completed", "gone q1: the turn has ended", "turn t1 completed")
}

const form = `{"id":9,"method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"Set up?","requestedSchema":{"type":"object","properties":{` +
	`"zeta":{"type":"string","title":"Colour","description":"Which?","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]},` +
	`"alpha":{"type":"array","title":"Parts","items":{"type":"string","enum":["a","b"]}},` +
	`"deep":{"type":"boolean","title":"Deep?"},"n":{"type":"integer","title":"How many?"},"f":{"type":"number"},"note":{"type":"string","title":"Note"}}}}}`

func TestElicitation(t *testing.T) {
	r := running(t)
	r.frame(form)
	f := r.facts[0].(baton.FactRequestOpened)
	if !f.Questions[1].Multiple || !f.Questions[3].FreeText || f.Questions[0].FreeText || f.Questions[0].Header != "Colour" {
		t.Errorf("questions %+v", f.Questions)
	}
	r.says(`request q1 user_input  "" zeta:Which?[{Red } {Green }] alpha:Parts[{a } {b }] deep:Deep?[{Yes } {No }] n:How many?[] f:Set up?[] note:Note[]`)
	r.intent(baton.IntentAnswer{Delivery: "dlv_a", Request: "q1", Decision: baton.ApproveOnce, Answers: map[string][]string{
		"zeta": {"Green"}, "alpha": {"a", "b"}, "deep": {"No"}, "n": {"3"}, "f": {"NaN"}, "stranger": {"x"}}})
	r.wrote(`"id":9,"jsonrpc":"2.0","result":{"action":"accept","content":{"alpha":["a","b"],"deep":false,"f":"NaN","n":3,"zeta":"g"}}`)

	for d, want := range map[baton.Decision]string{baton.Decline: "decline", baton.CancelTurn: "cancel"} {
		r := running(t)
		r.frame(form)
		r.intent(baton.IntentAnswer{Delivery: "dlv_a", Request: "q1", Decision: d})
		if d == baton.CancelTurn {
			r.wrote(`{"action":"`+want+`"}`, "session/cancel")
		} else {
			r.wrote(`{"action":"` + want + `"}`)
		}
	}
	r = running(t)
	r.frame(`{"id":9,"method":"elicitation/create","params":{"sessionId":"s","mode":"url","message":"x","url":"http://x","elicitationId":"e"}}`)
	r.frame(`{"id":8,"method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"x","requestedSchema":{"properties":[]}}}`)
	r.wrote(`"action":"decline"`, `"action":"decline"`)
	r.says("notice warning", "notice warning")
}
