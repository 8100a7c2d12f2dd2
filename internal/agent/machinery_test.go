package agent

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"baton"
)

func TestOutput(t *testing.T) {
	var o Output
	o.Fact(baton.FactDetached{}, baton.FactDetached{})
	o.SetDeadline("a", time.Second)
	o.SetDeadline("b", 0)
	got := o.Take()
	if len(got.Facts) != 2 || len(got.Deadlines) != 2 || got.Deadlines["a"] != time.Second {
		t.Errorf("%+v", got)
	}
	if again := o.Take(); len(again.Facts) != 0 || again.Deadlines != nil {
		t.Errorf("the next step gives %+v", again)
	}
}

func TestLoadState(t *testing.T) {
	type state struct {
		V int `json:"v"`
		A int
	}
	for stored, want := range map[string]baton.Code{
		`{"v":2,"A":7}`: "", `{"v":1,"A":7}`: baton.CodeDataNewer, `{"v":3,"A":"another shape"}`: baton.CodeDataNewer,
		`{"v":2,"A":"x"}`: baton.CodeInternal, `{`: baton.CodeInternal, `[]`: baton.CodeInternal, `{}`: baton.CodeDataNewer,
	} {
		var s state
		err := LoadState("codex", []byte(stored), 2, &s)
		if want == "" && (err != nil || s.A != 7) || want != "" && (err == nil || baton.ErrorCode(err) != want || !strings.Contains(err.Error(), "codex")) {
			t.Errorf("%s: %+v, %v", stored, s, err)
		}
	}
}

func TestTold(t *testing.T) {
	var told Told
	var o Output
	for range 5 {
		told.Notice(&o, "often", 3, baton.FactNotice{Text: "often"})
		told.Notice(&o, "once", 1, baton.FactNotice{Text: "once"})
	}
	var texts []string
	for _, f := range o.Facts {
		texts = append(texts, f.(baton.FactNotice).Text)
	}
	if got, want := strings.Join(texts, ", "), "often, once, often, often (further ones are not shown)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestOlder(t *testing.T) {
	for v, want := range map[string][2]bool{
		"0.171.0": {false, true}, "0.170.9": {true, true}, "1.0": {false, true}, "0.171": {false, true}, "0.171.1": {false, true}, "0.9": {true, true},
		"0.171.0-alpha.1": {false, true}, "0.170.0-alpha.1": {true, true}, "": {false, false}, "new": {false, false},
	} {
		if older, known := Older(v, "0.171.0"); older != want[0] || known != want[1] {
			t.Errorf("%q: older %v, known %v", v, older, known)
		}
	}
	if older, known := Older("1.2", ""); older || !known {
		t.Error("a version is older than none")
	}
}

func FuzzHead(f *testing.F) {
	f.Add("日本語", 4)
	f.Add("a\xffb", 2)
	f.Add("\xe6\x97", 9)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 {
			n = 0
		}
		got := Head(s, n)
		if !utf8.ValidString(got) || len(s) > n && len(got) > n+len("…") {
			t.Errorf("Head(%q, %d) is %q", s, n, got)
		}
	})
}
