package journaltest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/journal"
)

// said is a closed item with the text.
func (s *Scribe) said(id, run string, kind baton.ItemKind, body baton.ItemBody) baton.EventData {
	s.item++
	return baton.EventItemOpened{Item: baton.ItemID(id), Run: baton.RunID(run), Kind: kind, Position: s.item, Body: body}
}

// library fills a journal with what the search is asked for.
func library(t *testing.T, j journal.Journal) {
	a := NewScribe("thr_a")
	u := a.Unit(baton.EventThreadCreated{Title: "Faster parser", Workspace: "wsp_1", Dir: "/a"},
		a.said("itm_1", "run_1", baton.ItemUserMessage, baton.ItemBody{Text: "Why is parsing a long line slow? See foo.bar(x)"}),
		a.said("itm_2", "run_1", baton.ItemCommand, baton.ItemBody{Command: "go test -run 'TestLexer' ./...", Output: "FAIL\nok 5 ms"}),
		a.said("itm_3", "run_2", baton.ItemAssistantMessage, baton.ItemBody{Text: "Die Größe des Puffers: café, naïve."}),
		a.said("itm_4", "run_2", baton.ItemAssistantMessage, baton.ItemBody{Text: "解析器为什么慢？因为缓冲区太小。"}))
	a.Must(t, j, u)
	b := NewScribe("thr_b")
	b.Must(t, j, b.Unit(baton.EventThreadCreated{Title: "世界 clock", Workspace: "wsp_1", Dir: "/b"},
		b.said("itm_5", "run_9", baton.ItemFileChange, baton.ItemBody{Files: []baton.FileChange{{Path: "internal/parser/line.go", Change: "modify"}}}),
		b.said("itm_6", "run_9", baton.ItemReasoning, baton.ItemBody{Text: `He said "AND" OR NEAR(x y) * - : ^ {col}`})))
}

// finds asks and returns what the hits name, items by id, titles by thread.
func finds(t *testing.T, j journal.Journal, query string) string {
	t.Helper()
	var out []string
	for _, h := range must[[]journal.Hit](t)(j.Search(ctx, journal.SearchQuery{Text: query})) {
		if h.Kind == journal.KindTitle {
			out = append(out, string(h.Thread))
			continue
		}
		out = append(out, string(h.Item))
	}
	return strings.Join(out, " ")
}

func searches(t *testing.T, j journal.Journal) {
	library(t, j)
	for query, want := range map[string]string{
		"parser":              "thr_a itm_5", // a title before what stands in one
		"pars long":           "itm_1",
		"PARSING":             "itm_1",
		"slow line":           "itm_1",
		"lexer":               "", // a word begins as the query does
		"testlex":             "itm_2",
		"fail":                "itm_2",
		"grosse":              "itm_3",
		"größe":               "itm_3",
		"CAFE naive":          "itm_3",
		"cafe\u0301":          "itm_3",
		"缓冲":                  "itm_4",
		"世界":                  "thr_b",
		"世冲":                  "",
		"foo.bar":             "itm_1",
		"bar.foo":             "",
		`"long line"`:         "itm_1",
		`"line long"`:         "",
		`"long li`:            "itm_1",
		"internal/parser":     "itm_5",
		"parser nowhere":      "",
		"":                    "",
		" \t\n":               "",
		`"`:                   "",
		`""" ***`:             "",
		"AND":                 "itm_6",
		"NEAR(x y)":           "itm_6",
		`"AND" OR (`:          "itm_6",
		"title:parser":        "",
		"-parser":             "thr_a itm_5",
		"' OR 1=1; --":        "",
		"x* ^y {col} : \x00a": "itm_6",
		"\xff\xfe":            "",
		"said\xffand":         "itm_6",
	} {
		if got := finds(t, j, query); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	if got := finds(t, j, strings.Repeat("parser ", 10_000)); got != "thr_a itm_5" {
		t.Errorf("a long query finds %q", got)
	}
	hit := must[[]journal.Hit](t)(j.Search(ctx, journal.SearchQuery{Text: "grosse"}))[0]
	equal(t, "a hit", hit, journal.Hit{Thread: "thr_a", Run: "run_2", Item: "itm_3", Kind: baton.ItemAssistantMessage})
}

// searchFollows: what is committed is found by the next search, an open item is
// not, and a title that was changed is found as it is now.
func searchFollows(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	s.Must(t, j, s.Unit(baton.EventThreadCreated{Title: "before", Workspace: "wsp_1", Dir: "/a"},
		baton.EventItemOpened{Item: "itm_1", Run: "run_1", Kind: baton.ItemCommand, Position: 1, Open: true, Body: baton.ItemBody{Command: "make"}}))
	if got := finds(t, j, "before") + "|" + finds(t, j, "make"); got != "thr_1|" {
		t.Errorf("found %q", got)
	}
	s.Must(t, j, s.Unit(baton.EventItemClosed{Item: "itm_1", Status: baton.NodeCompleted, Body: baton.ItemBody{Output: "all built"}},
		baton.EventThreadTitled{Title: "after"}))
	if got := finds(t, j, "before") + "|" + finds(t, j, "after") + "|" + finds(t, j, "make built"); got != "|thr_1|itm_1" {
		t.Errorf("found %q", got)
	}
	// More events than are followed at once.
	var many []baton.EventData
	for i := range 1200 {
		many = append(many, s.said(fmt.Sprintf("itm_n%d", i), "run_1", baton.ItemNotice, baton.ItemBody{Text: fmt.Sprint("needle ", i)}))
	}
	s.Must(t, j, s.Unit(many...))
	seen := map[baton.ItemID]bool{}
	for offset := 0; offset < 1200; offset += 500 {
		for _, h := range must[[]journal.Hit](t)(j.Search(ctx, journal.SearchQuery{Text: "needle", Offset: offset, Limit: 500})) {
			seen[h.Item] = true
		}
	}
	if len(seen) != 1200 {
		t.Errorf("%d of 1200 were found", len(seen))
	}
}

// projectsKept: a project is named by its directory, and only the newest server
// writes it.
func projectsKept(t *testing.T, j journal.Journal) {
	epoch1 := must[uint64](t)(j.ClaimEpoch(ctx))
	made := journal.ProjectDoc{ID: "prj_1", Dir: "/b", CreatedAt: epoch}
	if err := j.PutProject(ctx, epoch1, made); err != nil {
		t.Fatal(err)
	}
	if err := j.PutProject(ctx, epoch1, journal.ProjectDoc{ID: "prj_2", Dir: "/a", CreatedAt: epoch, Trusted: true, ChangedBy: "person:ada", ChangedAt: epoch}); err != nil {
		t.Fatal(err)
	}
	changed := made
	changed.ID, changed.CreatedAt = "prj_other", epoch.Add(time.Hour)
	changed.Trusted, changed.ChangedBy, changed.ChangedAt = true, "person:bob", epoch.Add(time.Minute)
	if err := j.PutProject(ctx, epoch1, changed); err != nil {
		t.Fatal(err)
	}
	changed.ID, changed.CreatedAt = made.ID, made.CreatedAt
	all := must[[]journal.ProjectDoc](t)(j.Projects(ctx))
	equal(t, "projects", all, []journal.ProjectDoc{{ID: "prj_2", Dir: "/a", CreatedAt: epoch, Trusted: true, ChangedBy: "person:ada", ChangedAt: epoch}, changed})
	must[uint64](t)(j.ClaimEpoch(ctx))
	wantError(t, j.PutProject(ctx, epoch1, made), journal.ErrFenced)
	equal(t, "projects after a refusal", must[[]journal.ProjectDoc](t)(j.Projects(ctx)), all)
}

// states: a list keeps to threads of one state, and pages as without.
func states(t *testing.T, j journal.Journal) {
	want := map[baton.ThreadState]string{}
	for i, state := range []baton.ThreadState{baton.ThreadActive, baton.ThreadArchived, baton.ThreadActive, baton.ThreadDeleted, baton.ThreadActive} {
		s := NewScribe(fmt.Sprintf("thr_%d", i))
		s.Must(t, j, s.Create())
		if state != baton.ThreadActive {
			s.Must(t, j, s.Unit(baton.EventThreadStateChanged{State: state}))
		}
		want[state] += string(s.Thread) + " "
	}
	for state, ids := range want {
		got := ""
		q := journal.Query{Kind: journal.KindThread, State: state, Limit: 2}
		for {
			docs := must[[]journal.Document](t)(j.List(ctx, q))
			for _, d := range docs {
				got += d.ID + " "
				q.After, q.AfterID = d.Position, d.ID
			}
			if len(docs) < q.Limit {
				break
			}
		}
		if got != ids {
			t.Errorf("%s: %s, want %s", state, got, ids)
		}
	}
	CheckDocuments(t, j)
}
