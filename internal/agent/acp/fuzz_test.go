package acp

import (
	"bytes"
	"reflect"
	"testing"

	"baton"
	"baton/internal/agent"
)

// FuzzFrames gives a running turn arbitrary lines between intents: nothing
// panics, and a machine that is reloaded before each says the same as one that
// is not.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{
		ask, form, "nonsense", `{"id":"b3","result":{"stopReason":"end_turn"}}`, `{"id":"b3","error":{"code":-32000}}`,
		`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c","status":"in_progress","rawInput":"<\u2028>","content":[{"type":"diff","path":"x","newText":"y"}]}}}`,
		`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":{"exitCode":1}}}}`,
		`{"method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[{"content":"x"}]}}}`,
		`{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"},"_meta":{"usage":{"inputTokens":1}}}}}`,
		`{"method":"_baton/turn_started","params":{}}` + "\n" + `{"method":"_baton/turn_ended","params":{"error":"x"}}`,
		`{"method":"_baton/detached","params":{"names":["x"]}}`, "\x00\xff",
		`{"id":[1, "<"],"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c"},"options":[{"kind":"allow_once"}]}}`,
	} {
		f.Add([]byte(seed), byte(len(seed)))
	}
	d := New("acp", Options{Capabilities: Default})
	f.Fuzz(func(t *testing.T, data []byte, choice byte) {
		lines := bytes.Split(data, []byte("\n"))
		inputs := []agent.Input{{Started: true}}
		inputs = append(inputs, frames(`{"id":"b1","result":{"protocolVersion":1}}`, `{"id":"b2","result":{"sessionId":"s"}}`)...)
		inputs = append(inputs, agent.Input{Intent: baton.IntentDeliver{Message: baton.Payload{Delivery: "dlv_m", Text: "x"}}})
		for i, l := range lines {
			inputs = append(inputs, agent.Input{Frame: &agent.Frame{Data: l}})
			switch (int(choice) + i) % 5 {
			case 0:
				inputs = append(inputs, agent.Input{Intent: baton.IntentAnswer{Delivery: "dlv_a", Request: "q1", Decision: baton.ApproveOnce, Answers: map[string][]string{"n": {"1"}}}})
			case 1:
				inputs = append(inputs, agent.Input{Intent: baton.IntentInterrupt{}})
			case 2:
				inputs = append(inputs, agent.Input{Intent: baton.IntentDeliver{Message: baton.Payload{Delivery: "dlv_n", Text: "y"}}})
			}
		}
		inputs = append(inputs, agent.Input{Exited: true})
		straight := d.New(agent.Spec{Dir: "/dir"})
		state := straight.State()
		for i, in := range inputs {
			want := straight.Step(in)
			m, err := d.Load(state)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Step(in); !reflect.DeepEqual(got, want) {
				t.Fatalf("input %d: reloaded %+v, straight %+v", i, got, want)
			}
			if state = m.State(); !bytes.Equal(state, straight.State()) {
				t.Fatalf("input %d: reloaded %s, straight %s", i, state, straight.State())
			}
		}
	})
}
