package httpapi

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baton"
)

func TestThreadsArePutAwayAndComeBack(t *testing.T) {
	r := newRig(t, nil)
	th := r.thread("one")
	path := "/api/threads/" + th.ID
	list := func(state string) int {
		t.Helper()
		return len(ask[Page[Thread]](r, "GET", "/api/threads?state="+state, "").Items)
	}
	for _, step := range []struct{ do, state string }{
		{"archive", "archived"}, {"archive", "archived"}, {"delete", "deleted"}, {"undelete", "archived"}, {"unarchive", "active"},
		{"delete", "deleted"}, {"undelete", "active"},
	} {
		got := ask[Thread](r, "POST", path+"/"+step.do, `{}`)
		if got.State != step.state || got.ID != th.ID || got.Title != "one" {
			t.Fatalf("%s: %+v", step.do, got)
		}
		for _, state := range []string{"active", "archived", "deleted"} {
			want := 0
			if state == step.state {
				want = 1
			}
			if n := list(state); n != want {
				t.Errorf("after %s %d threads are %s", step.do, n, state)
			}
		}
		if list("all") != 1 {
			t.Error("the thread is in no list")
		}
	}
	for _, c := range []struct {
		put  string
		code baton.Code
	}{{"archive", baton.CodeArchived}, {"delete", baton.CodeDeleted}} {
		ask[Thread](r, "POST", path+"/"+c.put, `{}`)
		p := r.refused("POST", path+"/messages", `{"text":"hi"}`, 409, c.code)
		if !strings.Contains(p.Hint, "baton un"+c.put+" "+th.ID) {
			t.Errorf("the hint is %q", p.Hint)
		}
		ask[Page[Item]](r, "GET", path+"/items", "")
		ask[Thread](r, "GET", path, "")
	}
	r.refused("POST", "/api/threads/thr_nothing/archive", `{}`, 404, baton.CodeNotFound)
	r.refused("GET", "/api/threads?state=other", "", 422, baton.CodeInvalid)
}

func TestRename(t *testing.T) {
	r := newRig(t, nil)
	th := r.thread("one")
	path := "/api/threads/" + th.ID
	body := `{"command_id":"cmd_r","title":" two "}`
	for range 2 {
		if got := ask[Thread](r, "PATCH", path, body); got.Title != "two" {
			t.Errorf("the title is %q", got.Title)
		}
	}
	r.refused("PATCH", path, `{"command_id":"cmd_r","title":"three"}`, 409, baton.CodeConflict)
	r.refused("PATCH", path, `{"title":"  "}`, 422, baton.CodeInvalid)
	r.refused("PATCH", path, `{}`, 422, baton.CodeInvalid)
	r.refused("PATCH", path, `{"title":"x","state":"deleted"}`, 422, baton.CodeInvalid)
}

func TestSearch(t *testing.T) {
	r := newRig(t, nil)
	ids := map[string]string{}
	for _, title := range []string{"alpha parser", "beta parser", "gamma parser"} {
		ids[title] = r.thread(title).ID
	}
	search := func(q, further string) Page[Hit] {
		t.Helper()
		return ask[Page[Hit]](r, "GET", "/api/search?q="+url.QueryEscape(q)+further, "")
	}
	p := search("pars", "&limit=2")
	if len(p.Items) != 2 || p.Next == "" || p.Items[0].Kind != "title" || p.Items[0].ItemID != "" {
		t.Fatalf("got %+v", p)
	}
	if rest := search("pars", "&limit=2&cursor="+p.Next); len(rest.Items) != 1 || rest.Next != "" {
		t.Errorf("then %+v", rest)
	}
	hit := search("beta", "").Items[0]
	if got := fmt.Sprint(hit.ThreadTitle, hit.ThreadState, hit.Snippet); got != "beta parser active[{beta true} { parser false}]" && got != "beta parseractive[{beta true} { parser false}]" {
		t.Errorf("got %s", got)
	}
	ask[Thread](r, "POST", "/api/threads/"+ids["beta parser"]+"/archive", `{}`)
	ask[Thread](r, "POST", "/api/threads/"+ids["gamma parser"]+"/delete", `{}`)
	if p := search("parser", ""); len(p.Items) != 2 {
		t.Errorf("a deleted thread is found: %+v", p)
	}
	if p := search("parser", "&thread="+ids["alpha parser"]); len(p.Items) != 1 {
		t.Errorf("in one thread: %+v", p)
	}
	for state, want := range map[string]int{"active": 1, "archived": 1, "deleted": 1, "all": 3} {
		if got := ask[Page[Thread]](r, "GET", "/api/threads?search=parser&state="+state, ""); len(got.Items) != want {
			t.Errorf("%s: %+v", state, got.Items)
		}
	}
	for _, q := range []string{"", " ", `"`, "(", "a AND", "\x00", strings.Repeat("(", 9000)} {
		if got := search(q, ""); len(got.Items) != 0 || got.Next != "" {
			t.Errorf("%.20q finds %+v", q, got)
		}
	}
	r.refused("GET", "/api/search?q="+strings.Repeat("x", maxQuery+1), "", 422, baton.CodeInvalid)
	r.refused("GET", "/api/search?q=x&cursor=y", "", 422, baton.CodeInvalid)
	r.refused("GET", "/api/search?q=x&thread=thr_nothing", "", 404, baton.CodeNotFound)
}

func TestProjects(t *testing.T) {
	r := newRig(t, nil)
	th := r.thread("one")
	list := ask[Page[Project]](r, "GET", "/api/projects", "").Items
	if len(list) != 1 || list[0].ID == "" || list[0].ID != th.ProjectID || list[0].Dir != th.Dir || list[0].Threads != 1 || list[0].Trusted {
		t.Fatalf("got %+v", list)
	}
	if other := r.thread("two"); other.ProjectID != th.ProjectID {
		t.Errorf("two projects of one directory: %s and %s", other.ProjectID, th.ProjectID)
	}
	if err := os.WriteFile(filepath.Join(r.dir, ".mcp.json"), []byte(`{"mcpServers":{"x":{"command":"run-me"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	shown := ask[Project](r, "GET", "/api/project?dir="+url.QueryEscape(r.dir), "")
	if len(shown.Loads) != 1 || shown.Loads[0].Runs[0] != "run-me" || shown.Threads != 2 {
		t.Errorf("got %+v", shown)
	}
	for _, trusted := range []bool{true, true, false} {
		got := ask[Project](r, "POST", "/api/project/trust", fmt.Sprintf(`{"dir":%s,"trusted":%v,"author":"person:ada"}`, quote(r.dir), trusted))
		if got.Trusted != trusted || got.ChangedBy != "person:ada" || got.ChangedAt == nil || got.ID != th.ProjectID {
			t.Errorf("trust %v: %+v", trusted, got)
		}
	}
	r.refused("POST", "/api/project/trust", `{"dir":"relative","trusted":true}`, 422, baton.CodeInvalid)
	r.refused("POST", "/api/project/trust", `{"dir":"/no/such/place","trusted":true}`, 422, baton.CodeInvalid)
	r.refused("POST", "/api/project/trust", `{"dir":"/no/such/place","trusted":false}`, 404, baton.CodeNotFound)
	r.refused("GET", "/api/project", "", 422, baton.CodeInvalid)
}

func TestExportAndBackup(t *testing.T) {
	var asked string
	r := newRig(t, func(c *Config) { c.Backup = func(_ context.Context, to string) error { asked = to; return nil } })
	th := r.thread("one")
	if e := ask[Export](r, "GET", "/api/threads/"+th.ID+"/export", ""); !strings.HasPrefix(e.Markdown, "# one\n") || len(e.Document) > 0 {
		t.Errorf("got %+v", e)
	}
	if e := ask[Export](r, "GET", "/api/threads/"+th.ID+"/export?format=json", ""); !strings.Contains(string(e.Document), `"baton_export":1`) || e.Markdown != "" {
		t.Errorf("got %+v", e)
	}
	r.refused("GET", "/api/threads/thr_nothing/export", "", 404, baton.CodeNotFound)
	if got := ask[BackupInfo](r, "POST", "/api/backup", `{"file":"/x/y.db"}`); got.File != "/x/y.db" || asked != "/x/y.db" {
		t.Errorf("got %+v, asked for %q", got, asked)
	}
	r.refused("POST", "/api/backup", `{"file":"y.db"}`, 422, baton.CodeInvalid)
	newRig(t, nil).refused("POST", "/api/backup", `{"file":"/x/y.db"}`, 501, baton.CodeUnsupported)
}

func TestNoSessions(t *testing.T) {
	r := newRig(t, nil)
	r.thread("one")
	if p := ask[Page[LivingSession]](r, "GET", "/api/sessions", ""); p.Items == nil || len(p.Items) != 0 {
		t.Errorf("got %+v", p)
	}
	r.refused("POST", "/api/sessions/ses_nothing/stop", `{}`, 404, baton.CodeNotFound)
}
