package export

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
	"baton/internal/journal/memory"
)

var ctx = context.Background()

// hostile texts try to end their block and to become structure of the page.
var hostile = []string{
	"```\n# I am a heading\n```", "`````\n## And I\n`````text\n", "~~~\n# Not me\n~~~", "</code></pre><script>alert(1)</script>",
	"- [x] done\n\n---\n", "a\r\n```\r\nb", "\x1b[31mred\x1b[0m ```", strings.Repeat("`", 200) + "\n# no", "    indented\n\t# tab", "<!--", "``` ``` ````\n```",
}

func written(t *testing.T, data ...baton.EventData) *Document {
	t.Helper()
	j := memory.New(memory.Options{})
	s := journaltest.NewScribe("thr_1")
	s.Must(t, j, s.Unit(data...))
	d, err := Read(ctx, j, "thr_1", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func markdown(t *testing.T, d *Document) string {
	t.Helper()
	page, err := Markdown(d)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// outline reads the page as CommonMark does, as far as headings and fences go:
// lines outside of code blocks that begin with #.
func outline(t *testing.T, page string) (headings []string, blocks []string) {
	t.Helper()
	open := ""
	var block strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(page, "\n"), "\n") {
		n := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case open != "":
			if n >= len(open) && strings.Trim(line[n:], " \t") == "" {
				blocks = append(blocks, block.String())
				open = ""
				block.Reset()
				continue
			}
			block.WriteString(line + "\n")
		case n >= 3 && !strings.Contains(line[n:], "`"):
			open = line[:n]
		case strings.HasPrefix(line, "#"):
			headings = append(headings, line)
		}
	}
	if open != "" {
		t.Errorf("a block is not ended:\n%s", page)
	}
	return headings, blocks
}

func TestNoTextBreaksThePage(t *testing.T) {
	zero := 0
	for _, text := range hostile {
		items := []baton.ItemBody{{Text: text, Author: text}, {Text: text}, {Text: text}, {Command: text, Output: text, Cwd: text, ExitCode: &zero},
			{Files: []baton.FileChange{{Path: text, Change: text, Diff: text}}}, {Tool: text, Title: text, Input: text, Output: text},
			{Steps: []baton.TodoStep{{Text: text, Status: text}}}, {Title: text, Text: text, Questions: []baton.Question{{Text: text}}, Answer: text},
			{Text: text, Code: baton.Code(text), Hint: text}, {From: text, To: text}}
		kinds := []baton.ItemKind{baton.ItemUserMessage, baton.ItemAssistantMessage, baton.ItemReasoning, baton.ItemCommand, baton.ItemFileChange, baton.ItemTool,
			baton.ItemTodo, baton.ItemQuestion, baton.ItemNotice, baton.ItemProviderSwitch}
		data := []baton.EventData{baton.EventThreadCreated{Title: text, Dir: text, Workspace: "wsp_1"},
			baton.EventRunQueued{Run: "run_1", Ordinal: 1, Trigger: baton.TriggerMessage, Message: "msg_1", Provider: text, Settings: baton.Settings{Model: text}},
			baton.EventMessageAccepted{Message: "msg_1", Run: "run_1", Text: text, Author: text},
			baton.EventRequestOpened{Request: "req_1", Run: "run_1", Kind: "command", Title: text, Detail: text},
			baton.EventRequestResolved{Request: "req_1", Reason: text, Answers: map[string][]string{text: {text}}, By: text},
			baton.EventHandoffRequested{Handoff: "hnd_1", Run: "run_1", Strategy: "none", Covered: baton.Ordinals(1, 2, 4)},
			baton.EventHandoffReady{Handoff: "hnd_1", Text: text, Digest: "sha256:1"}}
		for i, b := range items {
			data = append(data, baton.EventItemOpened{Item: baton.ItemID("itm_" + string(rune('a'+i))), Run: "run_1", Kind: kinds[i], Position: i + 1, Body: b})
		}
		data = append(data, baton.EventItemOpened{Item: "itm_z", Kind: baton.ItemNotice, Position: 99, Body: baton.ItemBody{Text: text}})
		page := markdown(t, written(t, data...))
		headings, blocks := outline(t, page)
		if len(headings) != 3 || !strings.HasPrefix(headings[0], "# ") || !strings.HasPrefix(headings[1], "## Run 1: ") || headings[2] != "## Beside the runs" {
			t.Errorf("%q makes the headings %q", text, headings)
		}
		want := strings.TrimRight(printable(strings.ReplaceAll(text, "\r\n", "\n")), "\n") + "\n"
		same := 0
		for _, b := range blocks {
			if b == want {
				same++
			}
		}
		if same < 14 {
			t.Errorf("%q stands whole in %d of %d blocks:\n%s", text, same, len(blocks), page)
		}
		if strings.ContainsRune(page, 0x1b) {
			t.Errorf("%q drives a terminal", text)
		}
		for line := range strings.SplitSeq(page, "\n") {
			if strings.HasPrefix(line, "- Thread: ") && !strings.HasPrefix(line, "- Thread: `thr_1`") {
				t.Errorf("the head is %q", line)
			}
		}
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	const key = "AKIAIOSFODNN7EXAMPLE"
	d := written(t, baton.EventThreadCreated{Title: "with " + key, Dir: "/p", Workspace: "wsp_1"},
		baton.EventItemOpened{Item: "itm_1", Kind: baton.ItemCommand, Position: 1, Body: baton.ItemBody{Command: "echo " + key, Output: key}})
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	page := markdown(t, d)
	if d.Redactions != 3 || strings.Contains(string(b), key) || strings.Contains(page, key) {
		t.Errorf("%d secrets were taken out of\n%s\n%s", d.Redactions, b, page)
	}
	if !strings.Contains(page, "3 secrets were taken out") {
		t.Errorf("the page does not say so:\n%s", page)
	}
}

// Ids, digests and what else is no secret stay as they are.
func TestNothingElseIsTakenOut(t *testing.T) {
	d := written(t, baton.EventThreadCreated{Title: "t", Dir: "/p", Workspace: "wsp_01a22fd4-fbb4-74f9-9088-614f0df440e4"},
		baton.EventHandoffRequested{Handoff: "hnd_01a22fd4-fbb4-74f9-9088-614f0df440e4", Run: "run_1"},
		baton.EventHandoffReady{Handoff: "hnd_01a22fd4-fbb4-74f9-9088-614f0df440e4", Text: "x", Digest: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", Tokens: 12})
	if d.Redactions != 0 {
		b, _ := json.Marshal(d)
		t.Errorf("%d redactions in %s", d.Redactions, b)
	}
}

// A text of which the document has head and tail is put in whole.
func TestLongTextsAreWhole(t *testing.T) {
	j := memory.New(memory.Options{})
	s := journaltest.NewScribe("thr_1")
	s.Must(t, j, s.Unit(baton.EventThreadCreated{Title: "t", Dir: "/p", Workspace: "wsp_1"},
		baton.EventItemOpened{Item: "itm_1", Kind: baton.ItemCommand, Position: 1, Open: true, Body: baton.ItemBody{Command: "seq"}}))
	long := strings.Repeat("0123456789\n", 100)
	u := s.Unit()
	u.Chunks = []journal.Chunk{{Item: "itm_1", Output: true, Text: long[:500]}, {Item: "itm_1", Output: true, Offset: 500, Text: long[500:]}}
	s.Must(t, j, u)
	s.Must(t, j, s.Unit(baton.EventItemClosed{Item: "itm_1", Status: baton.NodeCompleted,
		Body: baton.ItemBody{Output: long[:10] + long[len(long)-10:], Cut: &baton.Cut{Bytes: int64(len(long)), Omitted: int64(len(long) - 20), Head: 10}}}))
	d, err := Read(ctx, j, "thr_1", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if page := markdown(t, d); !strings.Contains(page, strings.TrimSpace(long)) || strings.Contains(page, "left out") {
		t.Errorf("the page is\n%s", page)
	}
}

// A message that no agent got stands on the page too.
func TestQueuedMessage(t *testing.T) {
	page := markdown(t, written(t, baton.EventThreadCreated{Title: "t", Dir: "/p", Workspace: "wsp_1"},
		baton.EventRunQueued{Run: "run_1", Ordinal: 1, Trigger: baton.TriggerMessage, Message: "msg_1", Provider: "a"},
		baton.EventMessageAccepted{Message: "msg_1", Run: "run_1", Text: "still waiting", Author: "person"}))
	if !strings.Contains(page, "given to no agent") || !strings.Contains(page, "still waiting") {
		t.Errorf("the page is\n%s", page)
	}
}

func TestNoThread(t *testing.T) {
	if _, err := Read(ctx, memory.New(memory.Options{}), "thr_none", time.Time{}); err != journal.ErrNotFound {
		t.Error(err)
	}
}

func FuzzFence(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		page := "# Head\n\n" + fence("text", text) + "\n## Tail\n\n" + code(text) + " " + inline(text) + "\n"
		headings, blocks := outline(t, page)
		if len(headings) != 2 || headings[1] != "## Tail" || len(blocks) != 1 {
			t.Errorf("%q makes of the page\n%s", text, page)
		}
	})
}
