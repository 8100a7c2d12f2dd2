package claude_test

import (
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
)

const rule = `,"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"x"}],"behavior":"allow","destination":"localSettings"},` +
	`{"type":"addDirectories","directories":["/"],"destination":"session"},{"type":"setMode","mode":"acceptEdits","destination":"session"}]`

func answer(u *unit, change func(*baton.IntentAnswer)) *unit {
	i := baton.IntentAnswer{Delivery: d3, Request: "r1", Decision: baton.ApproveOnce}
	if change != nil {
		change(&i)
	}
	u.facts = nil
	return u.step(agent.Input{Intent: i})
}

func decide(d baton.Decision) func(*baton.IntentAnswer) {
	return func(i *baton.IntentAnswer) { i.Decision = d }
}

func TestAnswers(t *testing.T) {
	asked := func() *unit {
		return turn(t).frames(asks("r1", "Bash", `{"command":"x"}`, rule)).
			want(isReady, "started turn-2 [dlv_u1]", "asks command r1 4 options")
	}
	u := answer(asked(), nil).wrote(`"response":{"behavior":"allow"}`)
	if u.out.Writes[0].Deliveries[0] != d3 {
		t.Errorf("write: %+v", u.out.Writes[0])
	}
	u.step(agent.Input{Written: &agent.WriteRef{Tag: u.out.Writes[0].Tag}}).want("accepted dlv_u3")
	answer(u, nil).want("dropped dlv_u3 not_resumable").silent()

	u = answer(asked(), decide(baton.ApproveSession)).wrote(`"updatedPermissions":[{"behavior":"allow","destination":"session","rules":[{"toolName":"Bash","ruleContent":"x"}],"type":"addRules"}]`)
	if s := string(u.out.Writes[0].Data); strings.Contains(s, "localSettings") || strings.Contains(s, "addDirectories") || strings.Contains(s, "setMode") {
		t.Errorf("allows more than asked: %s", s)
	}
	answer(asked(), func(i *baton.IntentAnswer) { i.Decision, i.Reason = baton.Decline, "why \"so\"" }).wrote(`"behavior":"deny"`, `why \"so\"`)
	answer(asked(), decide(baton.Decline)).wrote(`"message":"The user declined this."`)
	answer(asked(), decide(baton.CancelTurn)).wrote(`"behavior":"deny"`, `"interrupt":true`)
}

func TestRequests(t *testing.T) {
	edit := `,"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]`
	u := turn(t).frames(asks("r1", "Edit", `{"file_path":"/w/a"}`, edit), asks("r2", "WebFetch", `{"url":"x"}`, ""), asks("r3", "ExitPlanMode", `{"plan":"p"}`, ""),
		`{"type":"control_cancel_request","request_id":"r2"}`, `{"type":"control_cancel_request","request_id":"r2"}`).
		want(isReady, "started turn-2 [dlv_u1]", "asks file_change r1 3 options", "asks permission r2 3 options", "asks permission r3 3 options", "gone r2")
	answer(u, decide(baton.ApproveSession)).wrote(`"response":{"behavior":"allow"}`).want("notice info unsupported")
	u.frames(over(done, u1)).want("gone r3", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 completed")

	big := strings.Replace(rule, `"ruleContent":"x"`, `"ruleContent":"`+strings.Repeat("x", 9000)+`"`, 1)
	turn(t).frames(asks("r1", "Bash", `{"command":"x"}`, big)).want(isReady, "started turn-2 [dlv_u1]", "asks command r1 3 options")

	// A subagent in the background asks beyond the turn; one in the foreground does not.
	turn(t).frames(`{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"ag","description":"sub"}]}`,
		asks("r1", "Bash", `{}`, `,"agent_id":"ag"`), asks("r2", "Bash", `{}`, `,"agent_id":"other"`), over(done, u1)).
		want(isReady, "started turn-2 [dlv_u1]", "detached [sub]", "asks command r1 3 options", "asks command r2 3 options", "gone r2",
			"accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 completed")

	for _, line := range []string{`{"type":"control_request","request_id":"h","request":{"subtype":"hook_callback"}}`,
		`{"type":"control_request","request_id":"h","request":{"subtype":"mcp_message"}}`, `{"type":"control_request","request_id":"h"}`} {
		ready(t).frames(line).wrote(`"subtype":"error"`, `"request_id":"h"`).want(isReady, "notice warning unsupported")
	}
}

func TestQuestions(t *testing.T) {
	input := func(extra string) string {
		return `{"questions":[{"question":"Which?","header":"W","multiSelect":true,"options":[{"label":"A","description":"a","preview":"p"}]}]` + extra + `}`
	}
	give := func(i *baton.IntentAnswer) {
		i.Answers = map[string][]string{"Which?": {"A", "mine"}, "blank": {" "}}
		i.Questions = []baton.Question{{Key: "Which?", Text: "Which?", Header: "W", Multiple: true, Options: []baton.QuestionOption{{Label: "A", Description: "a"}}}}
	}
	u := turn(t).frames(asks("r1", "AskUserQuestion", input(""), "")).want(isReady, "started turn-2 [dlv_u1]", "asks user_input r1 0 options")
	answer(u, give).wrote(`"answers":{"Which?":"A, mine"}`, `"preview":"p"`, `"behavior":"allow"`)

	u = turn(t).frames(asks("r1", "AskUserQuestion", input(`,"note":"`+strings.Repeat("x", 20000)+`"`), ""))
	if len(u.state) > 4<<10 {
		t.Errorf("the state has %d bytes", len(u.state))
	}
	answer(u, give).wrote(`"answers":{"Which?":"A, mine"}`, `"questions":[{"header":"W","multiSelect":true,"options":[{"description":"a","label":"A"}],"question":"Which?"}]`)

	u = turn(t).frames(asks("r1", "AskUserQuestion", input(""), ""))
	answer(u, decide(baton.Decline)).wrote(`"behavior":"deny"`)
}
