package handoff

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"baton"
)

// decision makes an entry of an accepted or refused plan, an answered question
// or a refused approval. An approval that was given is in what came of it.
func decision(it Item, e Entry, provider string) (draft, bool) {
	a := it.Answer
	if a == nil {
		return draft{}, false
	}
	refused := a.Decision == baton.Decline || a.Decision == baton.CancelTurn
	d := draft{section: SectionDecisions, items: ids(it)}
	e.Who, e.Kind = "by "+cmp.Or(name(a.By), "person"), string(it.Kind)
	switch {
	case it.Kind == baton.ItemQuestion && len(a.Answers) > 0:
		e.Status, e.Kind = "answered", strings.TrimSpace("question of "+name(provider))
		d.raws = answers(it.Body.Questions, a.Answers)
	case it.Kind == baton.ItemQuestion, it.Kind == baton.ItemApproval && !refused, a.Decision == "":
		return draft{}, false
	default:
		e.Status = "accepted"
		if refused {
			e.Status = "refused"
		}
		what := bodyText(it.Body, cmp.Or(it.Body.Command, it.Body.Text, it.Body.Title), maxReason)
		if it.Kind == baton.ItemPlan && !refused {
			what.max = 0
		}
		d.raws = texts(what)
	}
	d.raws = append(d.raws, texts(raw{of: "reason", text: a.Reason, person: true, max: maxReason})...)
	d.entry = e
	return d, true
}

// answers pairs questions with answers, in the order of the questions; answers
// to anything else follow by key.
func answers(questions []baton.Question, given map[string][]string) []raw {
	var out []raw
	known := map[string]bool{}
	for _, q := range questions {
		known[q.Key] = true
		if a, ok := given[q.Key]; ok {
			out = append(out, raw{of: "question", text: cmp.Or(q.Text, q.Header, q.Key), max: maxReason},
				raw{of: "answer", text: strings.Join(a, "\n"), person: true})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !known[key] {
			out = append(out, raw{of: "question", text: key, max: maxReason}, raw{of: "answer", text: strings.Join(given[key], "\n"), person: true})
		}
	}
	return out
}
