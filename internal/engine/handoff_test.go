package engine

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"baton"
	"baton/internal/handoff"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
	"baton/internal/journal/memory"
)

// thread is thr_1 with n runs of a few items each; the second was taken in by
// the first one's turn.
func thread(t *testing.T, n int) journal.Journal {
	t.Helper()
	j := memory.New(memory.Options{})
	t.Cleanup(func() { j.Close() })
	s := journaltest.NewScribe("thr_1")
	s.Must(t, j, s.Create())
	at := n
	item := func(run baton.RunID, kind baton.ItemKind, body baton.ItemBody) baton.EventItemOpened {
		at++
		return baton.EventItemOpened{Item: baton.ItemID(fmt.Sprintf("itm_%d", at)), Run: run, Kind: kind, Position: at, Body: body}
	}
	for i := 1; i <= n; i++ {
		s.Must(t, j, s.Command(i))
		run := baton.RunID(fmt.Sprintf("run_thr_1_%d", i))
		asked := item(run, baton.ItemQuestion, baton.ItemBody{Questions: []baton.Question{{Key: "k", Text: "which?"}}})
		request := baton.RequestID(fmt.Sprintf("req_%d", i))
		s.Must(t, j, s.Unit(item(run, baton.ItemReasoning, baton.ItemBody{Text: "hidden"}), item(run, baton.ItemTool, baton.ItemBody{Tool: "read", Output: "output"}), asked,
			baton.EventRequestOpened{Request: request, Run: run, Item: asked.Item, Kind: baton.RequestUserInput, Title: "which?"},
			baton.EventRequestResolved{Request: request, By: "person", Answers: map[string][]string{"k": {"that"}}},
			item(run, baton.ItemTodo, baton.ItemBody{Steps: []baton.TodoStep{{Text: fmt.Sprint("step of ", i), Status: "pending"}}}),
			item(run, baton.ItemPlan, baton.ItemBody{Text: fmt.Sprint("plan of ", i)}),
			item(run, baton.ItemAssistantMessage, baton.ItemBody{Text: fmt.Sprint("answer of ", i)})))
		if i == 2 {
			s.Must(t, j, s.Unit(baton.EventRunFinalizing{Run: run, Outcome: baton.RunCancelled, AbsorbedBy: "run_thr_1_1"}, baton.EventRunEnded{Run: run, Status: baton.RunCancelled}))
		} else {
			s.Must(t, j, s.End(i))
		}
	}
	return j
}

func source(t *testing.T, j journal.Journal, covered baton.Intervals) handoff.Source {
	t.Helper()
	var src handoff.Source
	err := j.View(context.Background(), func(r journal.Reader) (err error) {
		src, err = readSource(context.Background(), r, "thr_1", baton.EffectBuildHandoff{Covered: covered, Target: "other"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// The covered runs are read with their messages, items and answers, whether they
// are few or many, and nothing of the others.
func TestReadSource(t *testing.T) {
	const n, said = 40, "do the next thing, please, and say what you did"
	j := thread(t, n)
	for name, covered := range map[string]baton.Intervals{
		"all": baton.Intervals{}.Add(1, n), "the newest": baton.Intervals{}.Add(38, n), "with a gap": baton.Intervals{}.Add(1, 3).Add(10, 12), "the absorbed one alone": baton.Ordinals(2),
	} {
		src := source(t, j, covered)
		var ordinals []int
		for i := 1; i <= n; i++ {
			if covered.Has(i) && i != 2 {
				ordinals = append(ordinals, i)
			}
		}
		var got []int
		for i, r := range src.Runs {
			got = append(got, r.Ordinal)
			message := said
			if r.Ordinal == 1 {
				message += "\n\n" + said
			}
			fresh := len(src.Runs)-i <= handoff.FreshRuns
			var kinds []baton.ItemKind
			for _, it := range r.Items {
				kinds = append(kinds, it.Kind)
				switch {
				case it.Kind == baton.ItemTool && fresh != (it.Body.Output == "output"),
					it.Kind == baton.ItemQuestion && (it.Answer == nil || it.Answer.Answers["k"][0] != "that"),
					it.Kind == baton.ItemAssistantMessage && it.Body.Text != fmt.Sprint("answer of ", r.Ordinal):
					t.Errorf("%s, run %d: %+v", name, r.Ordinal, it)
				}
			}
			want := []baton.ItemKind{baton.ItemUserMessage, baton.ItemQuestion, baton.ItemTool, baton.ItemTodo, baton.ItemPlan, baton.ItemAssistantMessage}
			if r.Message != message || r.Author != "person" || r.Provider != "script" || !reflect.DeepEqual(kinds, want) {
				t.Errorf("%s, run %d: %q %v", name, r.Ordinal, r.Message, kinds)
			}
		}
		if !reflect.DeepEqual(got, ordinals) {
			t.Errorf("%s: runs %v, want %v", name, got, ordinals)
		}
		if last := len(ordinals) - 1; last >= 0 {
			if o := fmt.Sprint(ordinals[last]); src.Open.Plan.Text != "plan of "+o || src.Open.Todo[0].Text != "step of "+o {
				t.Errorf("%s: open is %+v", name, src.Open)
			}
		}
	}
}
