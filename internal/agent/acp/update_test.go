package acp

import (
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
)

func TestChunks(t *testing.T) {
	r := running(t)
	for _, u := range []string{
		`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"a"}}`,
		`{"sessionUpdate":"usage_update","used":1,"size":2}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"b"}}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"c"}}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"resource_link","name":"n","uri":"file:///x"}}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":""}}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m3","content":{"type":"text","text":"first"},"_meta":{"baton":{"plan":true}}}`,
		`{"sessionUpdate":"plan","entries":[{"content":"x","status":"in_progress","priority":"high"},{"content":"y","status":"odd"}]}`,
		`{"sessionUpdate":"plan","entries":[{"content":"x","status":"completed"}]}`,
		`{"sessionUpdate":"plan","entries":[]}`,
	} {
		r.update(u)
	}
	r.frame(`{"id":"b3","result":{"stopReason":"end_turn"}}`)
	r.says("open t1.1 reasoning", `delta t1.1 "hm" false`, "close t1.1 reasoning completed",
		"open t1.2 assistant_message", `delta t1.2 "a" false`, `delta t1.2 "b" false`, "close t1.2 assistant_message completed",
		"open t1.3 assistant_message", `delta t1.3 "c" false`, `delta t1.3 "n <file:///x>" false`, "close t1.3 assistant_message completed",
		"open t1.4 plan", `delta t1.4 "first" false`,
		`open t1.5 todo {"steps":[{"text":"x","status":"in_progress"},{"text":"y","status":"pending"}]}`,
		"close t1.5 todo completed", `open t1.6 todo {"steps":[{"text":"x","status":"completed"}]}`,
		"close t1.4 plan completed", "close t1.6 todo completed", "turn t1 completed")
}

func TestToolCalls(t *testing.T) {
	tests := []struct {
		name    string
		updates []string
		want    []string
	}{
		{"opencode: empty announcement, then details, then the same text again", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"c","title":"bash","kind":"execute","status":"pending","locations":[],"rawInput":{"cwd":"/dir"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","kind":"execute","title":"echo a","rawInput":{"command":"echo a","cwd":"/dir"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"a\n"}}]}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","title":"echo a","content":[{"type":"content","content":{"type":"text","text":"a\nb\n"}}],"rawOutput":{"output":"a\nb\n","metadata":{"exit":0}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","title":"late"}`,
		}, []string{`open t1.call.c command {"title":"echo a","command":"echo a","cwd":"/dir"}`,
			`delta t1.call.c "a\n" true`, `delta t1.call.c "b\n" true`, `close t1.call.c command completed {"title":"echo a","command":"echo a","exit_code":0}`, "turn t1 completed"}},
		{"gemini: a final update and nothing before", []string{
			`{"sessionUpdate":"tool_call_update","toolCallId":"replace__c1","status":"completed","title":"a.txt: beta => BETA","content":[{"type":"diff","path":"/dir/a.txt","oldText":"alpha\nbeta\ngamma\n","newText":"alpha\nBETA\ngamma\n","_meta":{"kind":"modify"}}],"locations":[{"path":"/dir/a.txt"}],"kind":"edit"}`,
		}, []string{`open t1.call.replace__c1 file_change {"title":"a.txt: beta =\u003e BETA","files":[{"path":"a.txt","change":"modify","additions":1,"deletions":1,"diff":"@@ -2,1 +2,1 @@\n-beta\n+BETA\n"}]}`,
			`close t1.call.replace__c1 file_change completed {"title":"a.txt: beta =\u003e BETA","files":[{"path":"a.txt","change":"modify","additions":1,"deletions":1,"diff":"@@ -2,1 +2,1 @@\n-beta\n+BETA\n"}]}`, "turn t1 completed"}},
		{"qwen: the report is not the output", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"c","status":"in_progress","title":"Shell: echo a (run)","content":[],"locations":[],"kind":"execute","rawInput":{"command":"echo a"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"Command: echo a\nOutput: a"}}],"_meta":{"toolName":"run_shell_command"},"rawOutput":"a"}`,
		}, []string{`open t1.call.c command {"title":"Shell: echo a (run)","command":"echo a"}`, `delta t1.call.c "a" true`, "close t1.call.c command completed", "turn t1 completed"}},
		{"copilot: content replaced at the end", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"c","title":"x","kind":"execute","status":"pending","rawInput":{"command":"echo out"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":"out 1%"}}]}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":"out 99%"}}]}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"done"}}],"rawOutput":{"contents":[{"type":"shell_exit","exitCode":4}]}}`,
		}, []string{`open t1.call.c command {"title":"x","command":"echo out"}`, `delta t1.call.c "out 1%" true`, "reset t1.call.c", `delta t1.call.c "out 99%" true`,
			`close t1.call.c command completed {"output":"done","exit_code":4}`, "turn t1 completed"}},
		{"never closed, and never run", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"c","title":"x","kind":"search","status":"in_progress","rawInput":{"pattern":"p"}}`,
			`{"sessionUpdate":"tool_call","toolCallId":"d","title":"y","kind":"fetch","status":"pending"}`,
		}, []string{`open t1.call.c search {"title":"x","tool":"search","input":"{\"pattern\":\"p\"}"}`, "close t1.call.c search completed",
			`close t1.call.d tool completed {"title":"y","tool":"fetch"}`, "turn t1 completed"}},
		{"qwen's subagent, and a call of it", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"p","status":"in_progress","title":"Agent: sub job","kind":"other","rawInput":{"description":"sub job","prompt":"do","subagent_type":"general-purpose"}}`,
			`{"sessionUpdate":"tool_call","toolCallId":"k","status":"in_progress","title":"Shell","kind":"execute","rawInput":{"command":"ls"},"_meta":{"parentToolCallId":"p"}}`,
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"mine"},"_meta":{"parentToolCallId":"p"}}`,
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"root"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"k","status":"failed"}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"p","status":"completed"}`,
		}, []string{`open t1.call.p subagent {"title":"sub job","tool":"general-purpose","input":"do"}`, `open t1.call.k command t1.call.p {"title":"Shell","command":"ls"}`,
			"open t1.1 assistant_message t1.call.p", `delta t1.1 "mine" false`, "close t1.1 assistant_message completed", "open t1.2 assistant_message", `delta t1.2 "root" false`,
			"close t1.call.k command failed", "close t1.call.p subagent completed", "close t1.2 assistant_message completed", "turn t1 completed"}},
		{"output in pieces", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"c","title":"x","kind":"execute","status":"in_progress"}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"baton":{"output":"one "}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"baton":{"output":"two"}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","rawOutput":{"exitCode":1}}`,
		}, []string{`open t1.call.c command {"title":"x","command":"x"}`, `delta t1.call.c "one " true`, `delta t1.call.c "two" true`, `close t1.call.c command failed {"exit_code":1}`, "turn t1 completed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := running(t)
			for _, u := range tt.updates {
				r.update(u)
			}
			r.frame(`{"id":"b3","result":{"stopReason":"end_turn"}}`)
			r.says(tt.want...)
		})
	}
}

func TestKilledCommandIsNotCompleted(t *testing.T) {
	r := running(t)
	r.update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"x","kind":"execute","status":"in_progress"}`)
	r.intent(baton.IntentInterrupt{TurnKey: "t1"})
	r.take()
	r.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"User aborted"}}]}`)
	r.frame(`{"id":"b3","result":{"stopReason":"cancelled"}}`)
	r.says(`delta t1.call.c "User aborted" true`, "close t1.call.c command interrupted", "turn t1 interrupted")
}

func TestOutsideOfTurns(t *testing.T) {
	r := ready(t)
	r.update(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"a late replay"}}`)
	r.says()
	r.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}`)
	r.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"y"}}`)
	r.says("notice info")
	r.frame(`{"method":"session/update","params":{"sessionId":"another","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}`)
	r.says()
	r.update(`{"sessionUpdate":"notice","severity":"warning","title":"slow","description":"very"}`)
	r.says("notice warning")
}

func TestSenselessFramesAreShownFiveTimes(t *testing.T) {
	r := ready(t)
	for range 20 {
		r.frame("no JSON")
	}
	r.says("notice warning", "notice warning", "notice warning", "notice warning", "notice warning")
}

func TestWhatIsNotOfferedIsRefused(t *testing.T) {
	r := running(t)
	r.frame(`{"jsonrpc":"2.0","id":0,"method":"fs/write_text_file","params":{"path":"/x"}}`)
	r.frame(`{"jsonrpc":"2.0","id":"a","method":"terminal/create","params":{}}`)
	r.frame(`{"jsonrpc":"2.0","id":{"odd": "<id>"},"method":"_vendor/x"}`)
	r.wrote(`{"error":{"code":-32601,"message":"Method not found"},"id":0,`, `"id":"a"`, `"id":{"odd":"<id>"}`)
	r.says("notice warning", "notice warning", "notice warning")
}

func TestOversize(t *testing.T) {
	r := running(t)
	r.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}`)
	r.take()
	r.step(agent.Input{Frame: &agent.Frame{Oversize: &agent.Oversize{Length: 1 << 30, Head: []byte(`{"jsonrpc":"2.0","method":"session/update"`)}}})
	r.says("close t1.1 assistant_message failed", "notice warning")
	r.step(agent.Input{Frame: &agent.Frame{Oversize: &agent.Oversize{Length: 1 << 30, Head: []byte(`{"jsonrpc":"2.0","id":"b3","result":{"x":"`)}}})
	r.says("turn t1 failed frame_rejected")
}

func TestStateStaysSmall(t *testing.T) {
	r := running(t)
	long := strings.Repeat("word ", 4000)
	for range 40 {
		r.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + long + `"}}`)
	}
	for i := range 60 {
		id := strings.Repeat("x", 100) + strings.Repeat("y", i)
		r.update(`{"sessionUpdate":"tool_call","toolCallId":"` + id + `","kind":"execute","status":"in_progress","rawInput":{"command":"` + long + `"}}`)
		r.update(`{"sessionUpdate":"tool_call_update","toolCallId":"` + id + `","status":"completed","content":[{"type":"content","content":{"type":"text","text":"` + long + `"}}]}`)
	}
	r.update(`{"sessionUpdate":"tool_call","toolCallId":"p","kind":"other","status":"pending","rawInput":{"x":"` + long + `"}}`)
	if len(r.state) > 16<<10 {
		t.Errorf("the state has %d bytes", len(r.state))
	}
}
