package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// TestDocumentOfEverything: a thread that holds one of each thing that a handoff
// tells of. Its document is the golden file, and codex and claude get that very
// text.
func TestDocumentOfEverything(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	r.say(id, "alpha", "Start. [[todo look+|cut*|test]] [[plan first look, then cut]] [[run echo built ok]] [[run false]] "+
		"[[write notes.txt\nhello]] [[subagent scout found three callers]] [[say conclusion one]]")
	r.offer(id, "alpha", "cmd_two", "Ask me. [[ask rm -rf x]] [[question which colour?|red|blue]] [[say thanks]]")
	first := r.asked(id)
	r.baton("decline", first, "-m", "too dangerous")
	second := r.await(id, "the question", func(e event) bool { return e.Type == "request.opened" && e.Data.Request != first }).Data.Request
	r.baton("answer", second, "answer=blue")
	r.ended(id, 2)
	r.offer(id, "alpha", "cmd_three", "Fail. [[run echo built ok]] [[fail no more quota]]")
	r.ended(id, 3)

	text := r.preview(id, "codex").Handoff.Text
	golden := filepath.Join("testdata", "everything.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("the document is\n%s\nwant\n%s", text, want)
	}
	r.say(id, "codex", "over to codex [[say ok]]")
	if n := r.told("codex", "over to codex", text); n != 1 {
		t.Errorf("codex was told it %d times", n)
	}
}
