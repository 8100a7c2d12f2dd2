package modelscript_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baton/internal/modelscript"
)

func TestScript(t *testing.T) {
	const script = `go [[think hm]] [[say one two three]] [[run a && b]] [[write d/f.txt\none\ntwo]] [[plan +x|>y|z]] [[usage 7 9]] [[say bye]]`
	want := map[string][]string{
		modelscript.WireResponses: {
			`think hm; say one two three; exec_command {"cmd":"a && b"}`,
			"apply_patch *** Begin Patch\n*** Add File: d/f.txt\n+one\n+two\n*** End Patch",
			`update_plan {"plan":[{"status":"completed","step":"x"},{"status":"in_progress","step":"y"},{"status":"pending","step":"z"}]}`,
			`say bye`, `say done`,
		},
		modelscript.WireMessages: {
			`think hm; say one two three; Bash {"command":"a \u0026\u0026 b","description":"as the script says"}`,
			`Write {"content":"one\ntwo\n","file_path":"/w/s/d/f.txt"}`,
			`TaskCreate {"description":"x","subject":"x"}; TaskCreate {"description":"y","subject":"y"}; TaskCreate {"description":"z","subject":"z"}`,
			`say bye`, `say done`,
		},
	}
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			s := start(t, modelscript.Options{})
			h := (&history{wire: wire}).user("<system-reminder>\n - Primary working directory: /w/s\n</system-reminder>", script)
			ids := map[any]bool{}
			for i, w := range want[wire] {
				a := ask(t, s, h, nil)
				if a.err != nil || a.status != 200 || a.said() != w {
					t.Fatalf("answer %d = %d %q %v, want %q", i, a.status, a.said(), a.err, w)
				}
				if i == 0 && len(a.deltas) != 3 {
					t.Errorf("deltas = %q", a.deltas)
				}
				for _, it := range a.items {
					for _, id := range []any{it["id"], it["call_id"]} {
						if id != nil && ids[id] {
							t.Errorf("the id %v came twice", id)
						}
						ids[id] = true
					}
				}
				if i == 3 && !strings.Contains(mustJSON(a.events), `"output_tokens":9`) {
					t.Errorf("no scripted usage in %s", mustJSON(a.events))
				}
				h.model(a, "fine")
			}
			requests := s.Requests()
			last := requests[len(requests)-1]
			if last.N != 5 || last.Wire != wire || last.Model != "m" || last.Outcome != modelscript.OutcomeDone {
				t.Errorf("last request: %d %s %s %s", last.N, last.Wire, last.Model, last.Outcome)
			}
			if n := len(last.ToolResults()); n < 3 || last.ToolResults()[0].Text != "fine" {
				t.Errorf("%d tool results", n)
			}
			if u := last.UserTexts(); len(u) != 1 || u[0] != script {
				t.Errorf("user texts = %q", u)
			}
			if m := last.ModelTexts(); len(m) != 2 || m[1] != "bye" {
				t.Errorf("model texts = %q", m)
			}
			if last.Texts()[0].Text != "be brief" || last.Has("be brief") != 1 || last.Has("one two three") != 2 || last.Has("absent") != 0 {
				t.Errorf("texts = %v", last.Texts())
			}
			if last.Header.Get("Authorization") != "" || last.Header.Get("Thread-Id") != "t1" {
				t.Errorf("header = %v", last.Header)
			}
		})
	}
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestTools(t *testing.T) {
	offered := object{"tools": []any{
		object{"type": "function", "name": "look"}, object{"type": "custom", "name": "free"}, object{"name": "TodoWrite"},
		object{"type": "namespace", "name": "mcp__b", "tools": []any{object{"type": "function", "name": "ask"}}},
	}}
	tests := []struct{ wire, mark, want, namespace string }{
		{modelscript.WireResponses, `[[tool look {"a":[[1\]]}]]`, `look {"a":[[1]]}`, ""},
		{modelscript.WireResponses, `[[tool free any text]]`, `free any text`, ""},
		{modelscript.WireResponses, `[[tool mcp__b.ask {}]]`, `ask {}`, "mcp__b"},
		{modelscript.WireResponses, `[[tool mcp__b__ask {}]]`, `ask {}`, "mcp__b"},
		{modelscript.WireResponses, `[[tool ns.unknown]]`, `unknown {}`, "ns"},
		{modelscript.WireResponses, `[[run-background sleep 9]]`, `exec_command {"cmd":"sleep 9","yield_time_ms":250}`, ""},
		{modelscript.WireResponses, `[[run-escalated x]]`, `exec_command {"cmd":"x","justification":"the script asks for it","sandbox_permissions":"require_escalated"}`, ""},
		{modelscript.WireMessages, `[[tool mcp__b__ask {"t":"a\nb\tc"}]]`, `mcp__b__ask {"t":"a\nb\tc"}`, ""},
		{modelscript.WireMessages, `[[plan a|b]]`, `TodoWrite {"todos":[{"activeForm":"a","content":"a","status":"in_progress"},{"activeForm":"b","content":"b","status":"pending"}]}`, ""},
		{modelscript.WireMessages, `[[run-background sleep 9]]`, `Bash {"command":"sleep 9","description":"as the script says","run_in_background":true}`, ""},
		{modelscript.WireMessages, `[[write /abs/x\nhi]]`, `Write {"content":"hi\n","file_path":"/abs/x"}`, ""},
	}
	s := start(t, modelscript.Options{})
	for _, tt := range tests {
		t.Run(tt.mark, func(t *testing.T) {
			a := ask(t, s, (&history{wire: tt.wire}).user(tt.mark), offered)
			if a.said() != tt.want {
				t.Fatalf("got %q (%d %s), want %q", a.said(), a.status, a.raw, tt.want)
			}
			if ns, _ := a.items[0]["namespace"].(string); ns != tt.namespace {
				t.Errorf("namespace %q, want %q", ns, tt.namespace)
			}
		})
	}
}

// What codex's agents tell each other: a task holds a script, a report doesn't.
func TestAgentMessages(t *testing.T) {
	s := start(t, modelscript.Options{})
	h := (&history{wire: modelscript.WireResponses}).user("[[run x]] [[say z]]")
	h.list = append(h.list, object{"type": "agent_message", "content": []any{
		object{"type": "input_text", "text": "NEW_TASK"}, object{"type": "encrypted_content", "encrypted_content": "[[say child]]"}}})
	a := ask(t, s, h, nil)
	if a.said() != "say child" {
		t.Fatalf("a task is answered with %q", a.said())
	}
	h.model(a, "").list = append(h.list, object{"type": "agent_message", "content": []any{
		object{"type": "input_text", "text": "FINAL_ANSWER [[say no]]"}}})
	if a := ask(t, s, h, nil); a.said() != "say done" || s.Requests()[1].Has("FINAL_ANSWER") != 1 {
		t.Errorf("a report is answered with %q", a.said())
	}
}

func TestDocument(t *testing.T) {
	s := start(t, modelscript.Options{})
	a := ask(t, s, (&history{wire: modelscript.WireMessages}).user("[[say a b]] [[run x]]"), object{"stream": false})
	var m struct {
		Content []object `json:"content"`
		Stop    string   `json:"stop_reason"`
	}
	if err := json.Unmarshal([]byte(a.raw), &m); err != nil {
		t.Fatal(err)
	}
	if m.Stop != "tool_use" || len(m.Content) != 2 || m.Content[0]["text"] != "a b" || m.Content[1]["name"] != "Bash" {
		t.Errorf("document = %s", a.raw)
	}
	if a := ask(t, s, (&history{wire: modelscript.WireMessages}).user("[[cut streams]] [[say b]]"), object{"stream": false}); !strings.Contains(a.raw, `"text":"b"`) {
		t.Errorf("a spared document = %q, %v", a.raw, a.err)
	}
	if a := ask(t, s, (&history{wire: modelscript.WireMessages}).user("[[cut]]"), object{"stream": false}); a.err == nil {
		t.Errorf("a cut document was read as %q", a.raw)
	}
	if a := ask(t, s, (&history{wire: modelscript.WireMessages}).user("[[error overloaded_error]]"), object{"stream": false}); a.status != 500 {
		t.Errorf("an error in a document has status %d", a.status)
	}
}

func TestEdges(t *testing.T) {
	s := start(t, modelscript.Options{})
	get := func(method, path string) int {
		req, err := http.NewRequestWithContext(limit(t), method, s.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for _, tt := range []struct {
		method, path string
		want         int
	}{{"HEAD", "/", 200}, {"HEAD", "/api/hello", 200}, {"GET", "/v1/models", 404}, {"POST", "/v1/responses", 400}, {"POST", "/gate/g/release", 204}} {
		if got := get(tt.method, tt.path); got != tt.want {
			t.Errorf("%s %s = %d, want %d", tt.method, tt.path, got, tt.want)
		}
	}
	for _, wire := range wires {
		a := ask(t, s, (&history{wire: wire}).user("[[say a]] [[sya b]]"), nil)
		if a.status != 400 || !strings.Contains(a.raw, "[[sya b]]") {
			t.Errorf("%s: a bad script is told as %d %s", wire, a.status, a.raw)
		}
	}
}

func TestRecordFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "requests.jsonl")
	s, err := modelscript.Start(modelscript.Options{Record: file})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, s, (&history{wire: modelscript.WireMessages}).user("hello"), nil)
	resp, err := http.Get(s.URL() + "/requests")
	if err != nil {
		t.Fatal(err)
	}
	listed, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !bytes.Contains(listed, []byte(`"outcome":"done"`)) {
		t.Errorf("GET /requests = %s, %v", listed, err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"hello"`) || lines[1] != `{"n":1,"outcome":"done"}` {
		t.Errorf("record = %q", lines)
	}
	if _, err := modelscript.Start(modelscript.Options{Record: t.TempDir()}); err == nil {
		t.Error("a directory was taken as the record")
	}
}

func TestWaitRequests(t *testing.T) {
	s := start(t, modelscript.Options{})
	h := (&history{wire: modelscript.WireResponses}).user("hello")
	go ask(t, s, h, nil)
	go ask(t, s, h, nil)
	if l, err := s.WaitRequests(limit(t), 2); err != nil || len(l) != 2 {
		t.Fatalf("%d requests, %v", len(l), err)
	}
	r, err := s.WaitRequest(limit(t), func(r modelscript.Request) bool { return r.N == 2 && r.Outcome == modelscript.OutcomeDone })
	if err != nil || r.Session() != "t1" {
		t.Errorf("WaitRequest = %+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.WaitRequests(ctx, 3); err != context.Canceled {
		t.Errorf("a cancelled wait = %v", err)
	}
}
