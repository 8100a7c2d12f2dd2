package agenttest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"baton/internal/agent"
)

// Golden compares what a machine says with the golden file, or writes the file
// where update is set. A difference is told by its first line.
func Golden(t testing.TB, file, got string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if at(g, i) != at(w, i) {
			t.Fatalf("%s:%d is\n%s\nand the machine says\n%s\nlook at it; the flag of these tests writes the file anew", file, i+1, at(w, i), at(g, i))
		}
	}
}

func at(lines []string, i int) string {
	if i >= len(lines) {
		return "(the end)"
	}
	return lines[i]
}

// Dialogue renders outputs behind the inputs that they answer.
func Dialogue(entries []Entry, outs []agent.Output) string {
	var b strings.Builder
	for i, out := range outs {
		if s := Show(out); s != "" {
			in, _ := json.Marshal(entries[i])
			b.WriteString("< " + agent.Head(string(in), 160) + "\n" + s)
		}
	}
	return b.String()
}
