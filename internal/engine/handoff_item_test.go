package engine

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"baton"
	"baton/internal/handoff"
)

// slowly is readItem as encoding/json would have it.
func slowly(doc []byte) (it handoff.Item, err error) {
	var d struct {
		ID   baton.ItemID
		Kind baton.ItemKind
		Body baton.ItemBody
	}
	err = json.Unmarshal(doc, &d)
	body := d.Body.Marked()
	return handoff.Item{ID: d.ID, Kind: d.Kind, Status: d.Body.Status, Body: &body}, err
}

func stored(t testing.TB, kind baton.ItemKind, body baton.ItemBody) []byte {
	t.Helper()
	doc, err := json.Marshal(map[string]any{"id": "itm_1", "thread_id": "thr_1", "kind": kind, "body": body, "position": 7, "open": false, "created_at": "2026-01-01T00:00:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

var awkward = "a \"quoted\" \\ {[,:]} end\\\\\" \u2028 漢字😀\x00\n\t</script>"

// Every field that a document can show is read as encoding/json reads it.
func TestReadItem(t *testing.T) {
	exit := 3
	full := baton.ItemBody{Text: awkward, Output: "out" + awkward, Status: baton.NodeFailed, Title: awkward, Command: "ls {", Cwd: "/d", ExitCode: &exit, Tool: "fetch", Input: `{"a":"}"}`,
		Code: baton.CodeAgentDied, Author: "person", Cut: &baton.Cut{Bytes: int64(len(awkward)) + 5, Omitted: 5, Head: 3},
		Files: []baton.FileChange{{Path: awkward, Change: "add", Additions: 2, Deletions: 1}}, Steps: []baton.TodoStep{{Text: awkward, Status: "pending"}},
		Questions: []baton.Question{{Key: "k", Text: awkward}}}
	for _, body := range []baton.ItemBody{full, {}, {Text: `\`}, {Text: `"`}, {Output: strings.Repeat(`\"`, 9)}, {Title: "{"}} {
		for _, kind := range []baton.ItemKind{baton.ItemAssistantMessage, baton.ItemCommand, baton.ItemFileChange, baton.ItemSubagent, baton.ItemTodo, baton.ItemPlan,
			baton.ItemQuestion, baton.ItemError, baton.ItemUserMessage, baton.ItemApproval} {
			doc := stored(t, kind, body)
			want, err := slowly(doc)
			if err != nil {
				t.Fatal(err)
			}
			got, need, err := readItem(doc, true, &baton.ItemBody{})
			if err != nil || need != handoff.Content || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v %v\n%+v\nwant\n%+v", kind, need, err, got, want)
			}
		}
	}
}

// What no document shows is not read.
func TestReadItemLeavesAway(t *testing.T) {
	exit := 0
	body := baton.ItemBody{Text: "text", Output: "output", ExitCode: &exit, Status: baton.NodeCompleted, Files: []baton.FileChange{{Path: "p", Diff: "a diff"}}}
	for _, test := range []struct {
		kind  baton.ItemKind
		fresh bool
		need  handoff.Need
		want  baton.ItemBody
	}{
		{baton.ItemReasoning, true, handoff.Nothing, baton.ItemBody{}},
		{baton.ItemNotice, true, handoff.Nothing, baton.ItemBody{}},
		{baton.ItemTool, false, handoff.Presence, baton.ItemBody{Status: baton.NodeCompleted}},
		{baton.ItemTool, true, handoff.Content, baton.ItemBody{Text: "text", Output: "output", ExitCode: &exit, Status: baton.NodeCompleted, Files: []baton.FileChange{{Path: "p"}}}},
		{baton.ItemCommand, false, handoff.Content, baton.ItemBody{Text: "text", ExitCode: &exit, Status: baton.NodeCompleted, Files: []baton.FileChange{{Path: "p"}}}},
		{baton.ItemFileChange, false, handoff.Content, baton.ItemBody{Text: "text", Output: "output", ExitCode: &exit, Status: baton.NodeCompleted, Files: []baton.FileChange{{Path: "p"}}}},
	} {
		got, need, err := readItem(stored(t, test.kind, body), test.fresh, &baton.ItemBody{})
		if err != nil || need != test.need || !reflect.DeepEqual(*got.Body, test.want) || got.Kind != test.kind || got.ID != "itm_1" {
			t.Errorf("%s, fresh %v: %v %v %+v", test.kind, test.fresh, need, err, got)
		}
	}
}
