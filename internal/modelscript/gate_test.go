package modelscript_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"baton/internal/modelscript"
)

func TestGate(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			s := start(t, modelscript.Options{})
			resp, err := post(limit(t), s, (&history{wire: wire}).user("[[say first]] [[gate g]] [[say second]]"), nil)
			if err != nil {
				t.Fatal(err)
			}
			await(t, "the request at the gate", s.Waiting("g"))
			// What stands before the gate has been sent.
			in := bufio.NewReader(resp.Body)
			for {
				line, err := in.ReadString('\n')
				if err != nil || strings.Contains(line, "second") {
					t.Fatalf("before the gate: %q, %v", line, err)
				}
				if strings.Contains(line, `"first"`) {
					break
				}
			}
			if s.Arrivals("g") != 1 || s.Requests()[0].Outcome != modelscript.OutcomeOpen {
				t.Errorf("%d arrivals, outcome %s", s.Arrivals("g"), s.Requests()[0].Outcome)
			}
			s.Release("g")
			s.Release("g")
			resp.Body = struct {
				*bufio.Reader
				closer
			}{in, resp.Body}
			if a := read(resp); a.err != nil || !strings.Contains(mustJSON(a.events), "second") {
				t.Errorf("after the gate: %+v", a)
			}
		})
	}
}

type closer interface{ Close() error }

func TestDisconnect(t *testing.T) {
	for _, wire := range wires {
		for script, gate := range map[string]string{"[[say a]] [[gate g]]": "g", "[[stall]]": "stall", "[[stall here]]": "here"} {
			t.Run(wire+script, func(t *testing.T) {
				s := start(t, modelscript.Options{})
				ctx, cancel := context.WithCancel(limit(t))
				resp, err := post(ctx, s, (&history{wire: wire}).user(script), nil)
				if err != nil {
					t.Fatal(err)
				}
				await(t, "the request at the gate", s.Waiting(gate))
				cancel()
				resp.Body.Close()
				await(t, "the disconnect", s.Disconnected(gate))
				if _, err := s.WaitRequest(limit(t), func(r modelscript.Request) bool { return r.Outcome == modelscript.OutcomeDisconnected }); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestCloseEndsWhatIsHeld(t *testing.T) {
	s := start(t, modelscript.Options{})
	done := make(chan answer, 1)
	go func() { done <- ask(t, s, (&history{wire: modelscript.WireResponses}).user("[[stall]]"), nil) }()
	await(t, "the request", s.Waiting("stall"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if a := <-done; len(a.of("response.completed")) != 0 {
		t.Errorf("a stalled answer was completed: %+v", a)
	}
	if o := s.Requests()[0].Outcome; o != modelscript.OutcomeStopped {
		t.Errorf("outcome %s", o)
	}
}

func TestFail(t *testing.T) {
	tests := []struct {
		wire, script string
		status       int
		body         string
	}{
		{modelscript.WireResponses, "[[fail 429]]", 429, `"type":"rate_limit_exceeded"`},
		{modelscript.WireResponses, "[[fail 429 usage_limit_reached: no more]]", 429, `"message":"no more","type":"usage_limit_reached"`},
		{modelscript.WireMessages, "[[fail 529]]", 529, `"type":"overloaded_error"`},
		{modelscript.WireMessages, "[[fail 400: prompt is too long]]", 400, `"message":"prompt is too long"`},
		{modelscript.WireMessages, "[[usage 1 2]] [[fail 418]]", 418, `"type":"error_418"`},
	}
	s := start(t, modelscript.Options{})
	for _, tt := range tests {
		t.Run(tt.script, func(t *testing.T) {
			a := ask(t, s, (&history{wire: tt.wire}).user(tt.script), nil)
			if a.status != tt.status || !strings.Contains(a.raw, tt.body) {
				t.Errorf("%d %s", a.status, a.raw)
			}
		})
	}
}

func TestFailUntil(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			s := start(t, modelscript.Options{})
			h := (&history{wire: wire}).user("[[fail 429 until up]] [[error server_error until up]] [[cut until up]] [[say back]]")
			for range 2 {
				if a := ask(t, s, h, nil); a.status != 429 {
					t.Fatalf("status %d", a.status)
				}
			}
			if resp, err := http.Post(s.URL()+"/gate/up/release", "", nil); err != nil || resp.StatusCode != 204 {
				t.Fatalf("release: %v %v", resp, err)
			}
			if a := ask(t, s, h, nil); a.said() != "say back" {
				t.Errorf("after the release: %q", a.said())
			}
			if a := ask(t, s, (&history{wire: wire}).user("[[fail 500 until up]]"), nil); a.said() != "say done" {
				t.Errorf("nothing but a void mark: %q", a.said())
			}
		})
	}
}

// A gate before an error holds it back without a status.
func TestFailAfterGate(t *testing.T) {
	s := start(t, modelscript.Options{})
	done := make(chan answer, 1)
	go func() {
		done <- ask(t, s, (&history{wire: modelscript.WireMessages}).user("[[gate g]] [[fail 503]]"), nil)
	}()
	await(t, "the request at the gate", s.Waiting("g"))
	s.Release("g")
	if a := <-done; a.status != 503 {
		t.Errorf("status %d", a.status)
	}
}

func TestErrorInStream(t *testing.T) {
	tests := []struct{ wire, script, kind, want string }{
		{modelscript.WireResponses, "[[say a]] [[error context_length_exceeded: too long]]", "response.failed", `"code":"context_length_exceeded","message":"too long"`},
		{modelscript.WireResponses, "[[say a]] [[fail 429]]", "response.failed", `"code":"rate_limit_exceeded"`},
		{modelscript.WireMessages, "[[say a]] [[error overloaded_error]]", "error", `"type":"overloaded_error"`},
	}
	for _, tt := range tests {
		t.Run(tt.script, func(t *testing.T) {
			s := start(t, modelscript.Options{})
			a := ask(t, s, (&history{wire: tt.wire}).user(tt.script), nil)
			if a.status != 200 || a.said() != "say a" || !strings.Contains(mustJSON(a.of(tt.kind)), tt.want) {
				t.Errorf("%d %q %s", a.status, a.said(), mustJSON(a.of(tt.kind)))
			}
			if o := s.Requests()[0].Outcome; o != modelscript.OutcomeFailed {
				t.Errorf("outcome %s", o)
			}
		})
	}
}

func TestCut(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			s := start(t, modelscript.Options{})
			a := ask(t, s, (&history{wire: wire}).user("[[say half]] [[cut]] [[say never]]"), nil)
			if a.err == nil || a.said() != "say half" {
				t.Errorf("a cut stream was read as %q, %v", a.said(), a.err)
			}
			if o := s.Requests()[0].Outcome; o != modelscript.OutcomeCut {
				t.Errorf("outcome %s", o)
			}
		})
	}
}
