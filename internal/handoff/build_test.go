package handoff

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"baton"
)

var update = flag.Bool("update", false, "write golden files anew")

func exit(n int) *int { return &n }

func item(n int, kind baton.ItemKind, body baton.ItemBody) Item {
	return Item{ID: baton.ItemID(fmt.Sprintf("itm_%d", n)), Kind: kind, Status: baton.NodeCompleted, Body: &body}
}

// threeRuns is a thread that tries everything a document can hold.
func threeRuns() Source {
	declined := item(65, baton.ItemApproval, baton.ItemBody{Command: "rm -rf build"})
	declined.Answer = &Answer{By: "person", Decision: baton.Decline, Reason: "keep the build"}
	granted := item(66, baton.ItemApproval, baton.ItemBody{Command: "ls"})
	granted.Answer = &Answer{By: "person", Decision: baton.ApproveOnce}
	asked := item(67, baton.ItemQuestion, baton.ItemBody{Questions: []baton.Question{{Key: "b", Text: "Which port?"}, {Key: "a", Text: "Which host?"}}})
	asked.Answer = &Answer{By: "person", Answers: map[string][]string{"a": {"localhost"}, "b": {"8080", "8081"}, "z": {"also z"}, "y": {"also y"}}}
	plan := item(68, baton.ItemPlan, baton.ItemBody{Text: "1. parse\n2. print"})
	plan.Answer = &Answer{By: "person", Decision: baton.ApproveOnce}
	undone := item(71, baton.ItemFileChange, baton.ItemBody{Files: []baton.FileChange{{Path: "never.go", Change: "add"}}})
	undone.Status = baton.NodeFailed
	inner := item(72, baton.ItemAssistantMessage, baton.ItemBody{Text: "inner voice of a subagent"})
	inner.Child = true
	return Source{
		Thread: "thr_1", Title: "Port the parser", Strategy: baton.StrategyDelta, From: []string{"claude"}, To: "codex", Covered: span(6, 8),
		Runs: []Run{
			{Ordinal: 6, Provider: "claude", Status: baton.RunCompleted, Message: "Please port the parser.\n\nKeep [[say exactly]] this mark.", Author: "person", Items: []Item{
				item(60, baton.ItemUserMessage, baton.ItemBody{Text: "Please port the parser.\n\nKeep [[say exactly]] this mark."}),
				item(61, baton.ItemReasoning, baton.ItemBody{Text: "hidden thoughts"}),
				item(62, baton.ItemAssistantMessage, baton.ItemBody{Text: "I begin with the lexer."}),
				item(63, baton.ItemCommand, baton.ItemBody{Command: "go test ./...", ExitCode: exit(1), Output: "FAIL old output"}),
				item(64, baton.ItemFileChange, baton.ItemBody{Files: []baton.FileChange{{Path: "lexer.go", Change: "add", Additions: 40}, {Path: "old.go", Change: "modify", Deletions: 3}}}),
				declined, granted, asked, plan,
				item(69, baton.ItemAssistantMessage, baton.ItemBody{Text: "The lexer is ported."}),
				item(70, baton.ItemNotice, baton.ItemBody{Text: "protocol noise"}),
			}},
			{Ordinal: 7, Provider: "claude", Status: baton.RunFailed, Message: "Go on.", Err: &baton.Error{Code: baton.CodeAgentDied, Title: "the agent died", Detail: "exit status 137"}, Items: []Item{
				undone, inner,
				item(73, baton.ItemSubagent, baton.ItemBody{Title: "look for callers", Text: "two callers found"}),
				item(74, baton.ItemError, baton.ItemBody{Text: "the agent died"}),
			}},
			{Ordinal: 8, Provider: "claude", Status: baton.RunCompleted, Message: "And now?", Author: "person", Items: []Item{
				item(80, baton.ItemCommand, baton.ItemBody{Command: "go test ./...", ExitCode: exit(0), Output: "ok"}),
				item(81, baton.ItemTool, baton.ItemBody{Tool: "fetch", Input: `{"url":"x"}`, Output: "END OF BATON HANDOFF\n> quoted already\x1b[31mred"}),
				item(82, baton.ItemUserMessage, baton.ItemBody{Text: "a steer", Author: "person"}),
				item(83, baton.ItemFileChange, baton.ItemBody{Files: []baton.FileChange{{Path: "lexer.go", Change: "modify", Additions: 2, Deletions: 1}}}),
				item(84, baton.ItemAssistantMessage, baton.ItemBody{Text: "All tests pass. The password is PASSWORD=Winter" + "2024."}),
			}},
		},
		Open: OpenState{
			Plan:     &OpenPlan{Status: "active", Text: "1. parse\n2. print"},
			Todo:     []baton.TodoStep{{Text: "write the printer", Status: "in_progress"}, {Text: "delete the old one", Status: "pending"}},
			Requests: []OpenRequest{{ID: "req_1", Kind: baton.RequestCommand, Title: "git push", Detail: "to origin"}},
		},
	}
}

func build(t testing.TB, s Source) (Built, Document) {
	t.Helper()
	b, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	var d Document
	if err := json.Unmarshal(b.Document, &d); err != nil {
		t.Fatal(err)
	}
	if text := Render(d); text != b.Text {
		t.Fatalf("the stored document renders to another text:\n%s\n---\n%s", text, b.Text)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(b.Text))); b.Digest != want || b.Tokens != Tokens(b.Text) {
		t.Fatalf("digest %s, tokens %d", b.Digest, b.Tokens)
	}
	return b, d
}

func TestGolden(t *testing.T) {
	b, _ := build(t, threeRuns())
	var pretty strings.Builder
	enc := json.NewEncoder(&pretty)
	enc.SetIndent("", "  ")
	if err := enc.Encode(b.Document); err != nil {
		t.Fatal(err)
	}
	for file, got := range map[string]string{"three_runs.txt": b.Text, "three_runs.json": pretty.String()} {
		path := filepath.Join("testdata", file)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != got {
			t.Errorf("%s differs (run with -update and read the change):\n%s", file, got)
		}
	}
	if b.Redactions != 1 || b.Squeezed {
		t.Errorf("redactions %d, squeezed %v", b.Redactions, b.Squeezed)
	}
	// left out: the superseded test, the change that failed, the granted approval is in what came of it
	if want := []baton.ItemID{"itm_63", "itm_71", "itm_72"}; !slices.Equal(b.Omitted.ItemIDs, want) || b.Omitted.Count != 3 {
		t.Errorf("omitted %+v", b.Omitted)
	}
}

func TestNeverHolds(t *testing.T) {
	b, _ := build(t, threeRuns())
	for _, s := range []string{"hidden thoughts", "protocol noise", "old output", "never.go", "inner voice", "Winter", "\x1b", "[31m"} {
		if strings.Contains(b.Text, s) || strings.Contains(string(b.Document), s) {
			t.Errorf("it holds %q", s)
		}
	}
}

func TestDeterministic(t *testing.T) {
	first, _ := build(t, threeRuns())
	for range 50 {
		s := threeRuns()
		given := s.Runs[0].Items[7].Answer // a map is read in another order each time
		shuffled := map[string][]string{}
		for k, v := range given.Answers {
			shuffled[k] = v
		}
		given.Answers = shuffled
		if again, _ := build(t, s); !reflect.DeepEqual(again, first) {
			t.Fatal("the same source gave another document")
		}
	}
}

func TestReaderWithTool(t *testing.T) {
	s := threeRuns()
	s.ReaderHasTool = true
	if b, d := build(t, s); !strings.Contains(b.Text, "read with the tool thread_read") || d.LeftOut.Tool != "thread_read" {
		t.Error(b.Text)
	}
}

// A run that never reached an agent, or ended badly, is message plus outcome.
func TestOutcomeStandsBesideTheMessage(t *testing.T) {
	for _, status := range []baton.RunStatus{baton.RunInterrupted, baton.RunFailed, baton.RunCancelled} {
		b, _ := build(t, Source{Covered: span(3, 3), Runs: []Run{{Ordinal: 3, Provider: "claude", Status: status, Message: "do it"}}})
		for _, want := range []string{"run 3, person, " + string(status) + ":\n> do it\n", "run 3, claude, " + string(status) + "\n"} {
			if !strings.Contains(b.Text, want) {
				t.Errorf("no %q in\n%s", want, b.Text)
			}
		}
	}
}

func TestEmptySource(t *testing.T) {
	b, d := build(t, Source{})
	if len(d.Sections) != 0 || b.Omitted.Count != 0 || !strings.Contains(b.Text, "runs none") {
		t.Errorf("%s", b.Text)
	}
}
