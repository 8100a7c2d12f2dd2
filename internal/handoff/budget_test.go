package handoff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"baton"
)

// sound checks what holds for every document: it fits, it is UTF-8, and a
// reader gets back the very quotes of the structure and none besides.
func sound(t testing.TB, s Source) (Built, Document) {
	t.Helper()
	b, d := build(t, s)
	budget := max(s.Budget, MinBudget)
	if s.Budget == 0 {
		budget = DefaultBudget
	}
	if b.Tokens > budget {
		t.Fatalf("%d tokens in a budget of %d:\n%.2000s", b.Tokens, budget, b.Text)
	}
	if !utf8.ValidString(b.Text) {
		t.Fatal("no UTF-8")
	}
	var want []string
	for _, sec := range d.Sections {
		joined := "" // entries without a label of their own run together
		for i, e := range sec.Entries {
			for k, q := range e.Quotes {
				next := q.Text
				if i > 0 && k == 0 && q.Of == "" && label(e) == "" && len(want) > 0 && joined != "" {
					want[len(want)-1] += "\n" + next
				} else {
					want = append(want, next)
				}
				joined = "x"
				if q.CutBytes > 0 {
					want = append(want, q.Tail)
				}
			}
		}
	}
	own, got := unquote(t, b.Text)
	if !slices.Equal(got, want) {
		t.Fatalf("read back\n%q\nwant\n%q", got, want)
	}
	for _, line := range []string{own[0], own[len(own)-1]} {
		if !strings.Contains(line, "BATON HANDOFF "+string(s.Strategy)+", runs ") {
			t.Fatalf("the frame is %q", line)
		}
	}
	return b, d
}

// long is a thread of n items in n/10 runs, different in size and script.
func long(n int) Source {
	r := rand.New(rand.NewPCG(7, 7))
	text := func(most int) string {
		words := []string{"parser ", "漢字", "😀", "\n", "func f() {\n\treturn\n}\n", "1234 ", "é", "\r\n", "[[say x]] "}
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	s := Source{Thread: "thr_long", Title: "a long thread", Strategy: baton.StrategyFull, From: []string{"codex", "claude"}, To: "gemini", Covered: span(1, n/10),
		Open: OpenState{Plan: &OpenPlan{Status: "active", Text: text(60)}, Requests: []OpenRequest{{Kind: baton.RequestUserInput, Title: "which one?"}}}}
	for i := range 8 {
		s.Open.Todo = append(s.Open.Todo, baton.TodoStep{Text: fmt.Sprintf("todo number %d", i), Status: "pending"})
	}
	for o := range n / 10 {
		run := Run{Ordinal: o + 1, Provider: s.From[o%2], Status: baton.RunCompleted, Message: fmt.Sprintf("message %d: %s", o+1, text(30)), Author: "person"}
		for k := range 10 {
			id := o*10 + k
			switch k {
			case 1, 5:
				run.Items = append(run.Items, item(id, baton.ItemCommand, baton.ItemBody{Command: fmt.Sprintf("go test ./p%d", r.IntN(300)), ExitCode: exit(r.IntN(2)), Output: text(400)}))
			case 2, 6:
				run.Items = append(run.Items, item(id, baton.ItemFileChange, baton.ItemBody{Files: []baton.FileChange{{Path: fmt.Sprintf("dir%d/file%d.go", r.IntN(20), r.IntN(200)), Change: "modify", Additions: 1, Diff: text(300)}}}))
			case 9:
				run.Items = append(run.Items, item(id, baton.ItemAssistantMessage, baton.ItemBody{Text: fmt.Sprintf("conclusion %d: %s", o+1, text(100))}))
			default:
				run.Items = append(run.Items, item(id, baton.ItemTool, baton.ItemBody{Tool: "read", Output: text(300)}))
			}
		}
		if o%50 == 3 {
			run.Status, run.Err = baton.RunFailed, &baton.Error{Code: baton.CodeAgentFailed, Title: "the model refused"}
		}
		s.Runs = append(s.Runs, run)
	}
	return s
}

func TestAlwaysFits(t *testing.T) {
	s := long(10000)
	for _, budget := range []int{-1, 1, MinBudget, 257, 300, 400, 700, 1500, 4000, 0, 1 << 20} {
		s.Budget = budget
		b, d := sound(t, s)
		if len(d.section(SectionMessages)) == 0 {
			t.Errorf("budget %d: no message of the person is left", budget)
		}
		if last := d.section(SectionMessages); last[len(last)-1].Run != 1000 {
			t.Errorf("budget %d: the newest message is of run %d", budget, last[len(last)-1].Run)
		}
		if b.Omitted.Count == 0 || !strings.Contains(b.Text, "LEFT OUT: ") {
			t.Errorf("budget %d: %d left out", budget, b.Omitted.Count)
		}
		if whole := budget == 1<<20; b.Squeezed == whole {
			t.Errorf("budget %d: squeezed %v", budget, b.Squeezed)
		}
	}
}

// As the budget shrinks, what survives longer is whole before more than crumbs
// of what gives way earlier are there.
func TestOrderOfSurvival(t *testing.T) {
	text := func(what string) string { return strings.Repeat(what+" ", 800/(len(what)+1)) }
	var paths []baton.FileChange
	for i := range 30 {
		paths = append(paths, baton.FileChange{Path: fmt.Sprintf("directory/file%02d.go", i), Change: "modify"})
	}
	s := Source{Strategy: baton.StrategyFull, From: []string{"claude"}, To: "codex", Covered: span(1, 2),
		Open: OpenState{Requests: []OpenRequest{{Kind: baton.RequestCommand, Detail: text("request")}}},
		Runs: []Run{
			{Ordinal: 1, Status: baton.RunFailed, Message: text("message"), Err: &baton.Error{Title: text("failure")}, Items: []Item{
				item(1, baton.ItemFileChange, baton.ItemBody{Files: paths}),
				item(2, baton.ItemCommand, baton.ItemBody{Command: "make", ExitCode: exit(1), Output: text("output")}),
				item(3, baton.ItemAssistantMessage, baton.ItemBody{Text: text("older")}),
			}},
			{Ordinal: 2, Status: baton.RunCompleted, Message: "go on", Items: []Item{item(4, baton.ItemAssistantMessage, baton.ItemBody{Text: text("newest")})}},
		}}
	// words of each class in the order of survival, and how often each is there
	// in the whole document
	order := []string{"message ", "request ", "newest ", "modify directory/", "failure ", "output ", "older "}
	seen := map[string]bool{}
	for budget := 400; budget < 2600; budget += 10 {
		seen[survives(t, s, budget, order)] = true
	}
	for _, word := range append(order, "") {
		if !seen[word] {
			t.Errorf("no budget cut %q", word)
		}
	}
}

// survives checks the order of survival in a budget: the words stand for the
// classes. It returns that of the first class that is not whole, or "".
func survives(t *testing.T, s Source, budget int, order []string) (lacking string) {
	t.Helper()
	s.Budget = 1 << 20
	whole, _ := sound(t, s)
	s.Budget = budget
	b, _ := sound(t, s)
	for _, word := range order {
		n := strings.Count(b.Text, word)
		crumbs := n*4 < strings.Count(whole.Text, word)               // in the last room, where nothing longer fits
		if lacking != "" && n > 0 && !crumbs && lacking != order[0] { // messages leave a third of the room
			t.Fatalf("budget %d: %q is there while %q is not whole:\n%s", budget, word, lacking, b.Text)
		}
		if n < strings.Count(whole.Text, word) && lacking == "" {
			lacking = word
		}
	}
	return lacking
}

// One pasted log neither pushes out the plan nor another message.
func TestAPastedLogIsShortened(t *testing.T) {
	s := threeRuns()
	log := strings.Repeat("2024 line of a log\n", 60000) + "the last line"
	s.Runs[0].Message, s.Runs[0].Items[0].Body.Text = log, log
	b, d := sound(t, s)
	m := d.section(SectionMessages)
	if len(m) != 4 || m[1].Quotes[0].Text != "Go on." || len(d.section(SectionTodo)) != 2 || len(d.section(SectionPlan)) != 1 || !b.Squeezed {
		t.Fatalf("%.3000s", b.Text)
	}
	q := m[0].Quotes[0]
	if !strings.HasPrefix(log, q.Text) || !strings.HasSuffix(log, q.Tail) || q.CutBytes != len(log)-len(q.Text)-len(q.Tail) {
		t.Errorf("%d bytes, cut %d: %.80q … %.80q", len(log), q.CutBytes, q.Text, q.Tail)
	}
	if !strings.Contains(b.Text, fmt.Sprintf("\n[%d bytes left out]\n", q.CutBytes)) || !strings.Contains(b.Text, "; 1 text is shortened") {
		t.Error("it is not said")
	}
}

// A secret that lies where a text is cut is not shown in half.
func TestNoHalfSecret(t *testing.T) {
	secret := "ghp" + "_" + strings.Repeat("q7Zk2Xw9Rb", 4)
	for pad := 0; pad < 400; pad += 7 {
		text := strings.Repeat("x ", 300+pad) + secret + strings.Repeat(" y", 4000) + " " + secret + strings.Repeat(" z", 300+pad)
		s := Source{Strategy: baton.StrategyFull, Budget: 700, Covered: span(1, 1), Runs: []Run{{Ordinal: 1, Message: text}}}
		b, _ := sound(t, s)
		if strings.Contains(b.Text, "q7Zk") || strings.Contains(string(b.Document), "q7Zk") {
			t.Fatalf("pad %d: %s", pad, b.Text)
		}
	}
}

func FuzzBuild(f *testing.F) {
	f.Add("message", "answer", "output", "path.go", "title", "codex", 300, 3)
	f.Add("> quoted\nEND OF BATON HANDOFF", "a\rb\u2028c", "\x1b[31m\xff\x00", "a\n> b", "\n", "co\ndex", 1000, 900)
	f.Fuzz(func(t *testing.T, message, answer, output, path, title, provider string, budget, repeat int) {
		repeat = max(0, min(repeat, 2000))
		given := item(5, baton.ItemQuestion, baton.ItemBody{Questions: []baton.Question{{Key: "k", Text: output}}})
		given.Answer = &Answer{By: provider, Answers: map[string][]string{"k": {message}, path: {answer}}}
		s := Source{Thread: "thr_1", Title: title, Strategy: baton.StrategyFull, From: []string{provider, "b", "c", "d"}, To: provider,
			Covered: span(1, 2).Add(4, 4).Add(6, 9), Budget: max(-1, min(budget, 1<<20)),
			Open: OpenState{Plan: &OpenPlan{Status: path, Text: answer}, Todo: []baton.TodoStep{{Text: output, Status: path}},
				Requests: []OpenRequest{{Kind: baton.RequestKind(path), Title: title, Detail: output, Questions: []baton.Question{{Text: path}}}}}}
		for o := range 2 {
			s.Runs = append(s.Runs, Run{Ordinal: o + 1, Provider: provider, Status: baton.RunFailed, Author: title, Message: strings.Repeat(message, repeat),
				Err: &baton.Error{Code: baton.Code(path), Title: title, Detail: output}, Items: []Item{
					given, item(1, baton.ItemCommand, baton.ItemBody{Command: path, Output: strings.Repeat(output, repeat), ExitCode: exit(1)}),
					item(2, baton.ItemFileChange, baton.ItemBody{Files: []baton.FileChange{{Path: path, Change: title}, {Path: output}}}),
					item(3, baton.ItemTool, baton.ItemBody{Tool: title, Input: output, Output: answer}),
					item(4, baton.ItemAssistantMessage, baton.ItemBody{Text: strings.Repeat(answer, repeat)}),
				}})
		}
		b, d := sound(t, s)
		verbatim := utf8.ValidString(message) && !strings.Contains(message, "\x00") && message != "" && repeat > 0
		if verbatim && !b.Squeezed && b.Redactions == 0 {
			if got := d.section(SectionMessages)[0].Quotes[0].Text; got != s.Runs[0].Message {
				t.Fatalf("the message %q became %q", s.Runs[0].Message, got)
			}
		}
	})
}

func BenchmarkBuild10k(b *testing.B) { benchmark(b, long(10000)) }

// Every output, diff and message is as large as the journal keeps them.
func BenchmarkBuild10kLarge(b *testing.B) {
	s := long(10000)
	large := strings.Repeat("\x1b[32mok\x1b[0m  \tpackage/漢字\t0.01s token := next()\r\n", 1300)
	for i := range s.Runs {
		s.Runs[i].Message = large
		for k := range s.Runs[i].Items {
			s.Runs[i].Items[k].Body.Output = large
			s.Runs[i].Items[k].Body.Text = large
		}
	}
	benchmark(b, s)
}

func benchmark(b *testing.B, s Source) {
	for b.Loop() {
		if _, err := Build(s); err != nil {
			b.Fatal(err)
		}
	}
}
