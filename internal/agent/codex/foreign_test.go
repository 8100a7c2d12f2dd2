package codex

import (
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
)

func TestFindForeign(t *testing.T) {
	first, second := "rollout-2026-12-01T01-24-27-"+rootThread+".jsonl", "rollout-2026-12-01T01-24-27-"+rootThread+"_"+segment2+".jsonl"
	lineForeign := strings.Replace(lineMessage, `"client_id":"`+string(wanted)+`"`, `"id":"x"`, 1)
	lineNull := strings.Replace(lineMessage, `"`+string(wanted)+`"`, `null`, 1)
	const lineSummary = `{"ordinal":9,"type":"compacted","payload":{"message":"of a \"UserMessage\""}}` + "\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int // negative: it can't be told
	}{
		{"nothing yet", map[string]string{first: lineMeta}, 0},
		{"ours", map[string]string{first: lineMeta + lineItem + lineTurn + lineText + lineMessage + lineSummary}, 0},
		{"ours, its id not written yet", map[string]string{first: lineMeta + lineTurn + lineText}, 0},
		{"two of somebody else", map[string]string{first: lineMeta + lineMessage + lineForeign + lineNull}, 2},
		{"of another server of ours", map[string]string{first: lineMeta + lineMessage + lineOther}, 1},
		{"before a revert", map[string]string{first: lineMeta + strings.Replace(lineForeign, `"ordinal":9`, `"ordinal":5`, 1), second: lineReverts + lineMessage}, 1},
		{"gone by a revert", map[string]string{first: lineMeta + lineForeign, second: lineReverts + lineMessage}, 0},
		{"base missing", map[string]string{second: lineReverts}, -1},
		{"cut off", map[string]string{first: lineMeta + lineForeign[:len(lineForeign)-9]}, 0},
		{"garbage", map[string]string{first: lineMeta + `garbage "UserMessage"` + "\n" + lineMessage}, -1},
		{"compressed", map[string]string{first + ".zst": "x"}, -1},
		{"gone", nil, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			store(t, home, c.files)
			n, err := Driver{}.FindForeign(agent.ForeignQuery{NativeID: rootThread, Env: map[string]string{"CODEX_HOME": home},
				Ours: func(id baton.DeliveryID) bool { return id == wanted }})
			if (err != nil) != (c.want < 0) || err == nil && n != c.want {
				t.Errorf("%d, %v; want %d", n, err, c.want)
			}
		})
	}
	for _, q := range []agent.ForeignQuery{{NativeID: "*", Env: map[string]string{"HOME": "/"}}, {NativeID: rootThread}} {
		if _, err := (Driver{}).FindForeign(q); err == nil {
			t.Errorf("%+v: no error", q)
		}
	}
}
