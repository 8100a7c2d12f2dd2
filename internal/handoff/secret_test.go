package handoff

import (
	"fmt"
	"strings"
	"testing"

	"baton"
	"baton/internal/redact/redacttest"
)

// planted is a thread in which a text stands wherever a person, an agent or a
// tool can put one.
func planted(text string) Source {
	asked := item(6, baton.ItemQuestion, baton.ItemBody{Questions: []baton.Question{{Key: "k", Text: text}}})
	asked.Answer = &Answer{By: "person", Answers: map[string][]string{"k": {text}, text: {"yes"}}}
	refused := item(7, baton.ItemApproval, baton.ItemBody{Command: text})
	refused.Answer = &Answer{By: "person", Decision: baton.Decline, Reason: text}
	return Source{
		Thread: "thr_1", Title: text, Strategy: baton.StrategyFull, From: []string{"claude"}, To: "codex", Covered: span(1, 1),
		Runs: []Run{{Ordinal: 1, Provider: "claude", Status: baton.RunFailed, Message: text, Err: &baton.Error{Code: baton.CodeAgentDied, Title: text, Detail: text}, Items: []Item{
			item(1, baton.ItemUserMessage, baton.ItemBody{Text: "and " + text}),
			item(2, baton.ItemCommand, baton.ItemBody{Command: "run " + text, Output: text, ExitCode: exit(1)}),
			item(3, baton.ItemFileChange, baton.ItemBody{Files: []baton.FileChange{{Path: text, Change: "add", Additions: 1}}}),
			item(4, baton.ItemTool, baton.ItemBody{Tool: "fetch", Title: text, Input: fmt.Sprintf("{%q:%q}", "url", text), Output: text}),
			item(5, baton.ItemSubagent, baton.ItemBody{Title: text, Text: text}),
			asked, refused,
			item(8, baton.ItemSearch, baton.ItemBody{Title: text, Output: text}),
			item(9, baton.ItemError, baton.ItemBody{Text: "else: " + text}),
			item(10, baton.ItemAssistantMessage, baton.ItemBody{Text: text}),
		}}},
		Open: OpenState{Plan: &OpenPlan{Status: "active", Text: text}, Todo: []baton.TodoStep{{Text: text, Status: "pending"}},
			Requests: []OpenRequest{{ID: "req_1", Kind: baton.RequestCommand, Title: text, Detail: text, Questions: []baton.Question{{Text: text}}}}},
	}
}

// Keys of all kinds, planted everywhere: of none is anything left in document or
// text, and marks say what was there.
func TestNoPlantedSecret(t *testing.T) {
	for _, p := range redacttest.Plants(2) {
		s := planted(p.Text)
		s.Budget = 60_000
		b, _ := build(t, s)
		for what, got := range map[string]string{"text": b.Text, "document": string(b.Document)} {
			if left := redacttest.Left(got, p.Secret); left != "" {
				t.Errorf("%s in a %s: the %s holds %q:\n%s", p.Issuer, p.Where, what, left, got)
			}
			if !strings.Contains(got, "[redacted:"+p.Kind+"]") {
				t.Errorf("%s in a %s: the %s has no mark of %s", p.Issuer, p.Where, what, p.Kind)
			}
		}
		if b.Redactions < 10 {
			t.Errorf("%s in a %s: %d redactions", p.Issuer, p.Where, b.Redactions)
		}
	}
}

// Long secrets, such as key blocks and web tokens of kilobytes, are not shown in
// half either, wherever the text is cut.
func TestNoHalfOfALongSecret(t *testing.T) {
	token := "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + strings.Repeat("zdWIiOiIxMjM0", 180) + "." + strings.Repeat("q7Zk2Xw9Rb", 4)
	var block string
	for _, p := range redacttest.Plants(40) {
		if p.Kind == "private_key" && p.Where == "message" {
			block = p.Secret // the last is the longest
		}
	}
	for name, secret := range map[string]string{"token": token, "block": block} {
		for pad := 0; pad < 5000; pad += 97 {
			filler := strings.Repeat("x ", pad/2)
			text := filler + secret + strings.Repeat(" y", 20_000) + " " + secret + " " + filler
			s := Source{Strategy: baton.StrategyFull, Budget: 1200, Covered: span(1, 1), Runs: []Run{{Ordinal: 1, Message: text, Items: []Item{
				item(1, baton.ItemCommand, baton.ItemBody{Command: "cat", Output: text, ExitCode: exit(1)})}}}}
			b, _ := sound(t, s)
			if left := redacttest.Left(b.Text, secret); left != "" {
				t.Fatalf("%s, pad %d: %q is left in\n%s", name, pad, left, b.Text)
			}
		}
	}
}
