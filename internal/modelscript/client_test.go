package modelscript_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"baton/internal/modelscript"
)

// The plain HTTP client of the tests: it speaks both wires as the agents do.

var wires = []string{modelscript.WireResponses, modelscript.WireMessages}

func start(t *testing.T, o modelscript.Options) *modelscript.Server {
	t.Helper()
	s, err := modelscript.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// limit bounds a test that waits for a signal which doesn't come.
func limit(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-limit(t).Done():
		t.Fatalf("%s did not come", what)
	}
}

type object = map[string]any

// history is a conversation in the shape of one wire.
type history struct {
	wire string
	list []any
}

func (h *history) user(texts ...string) *history {
	var parts []any
	for _, text := range texts {
		kind := "text"
		if h.wire == modelscript.WireResponses {
			kind = "input_text"
		}
		parts = append(parts, object{"type": kind, "text": text})
	}
	h.list = append(h.list, object{"type": "message", "role": "user", "content": parts})
	return h
}

// model adds what the model answered, and the results of its calls.
func (h *history) model(a answer, result string) *history {
	if h.wire == modelscript.WireResponses {
		for _, it := range a.items {
			h.list = append(h.list, it)
			switch it["type"] {
			case "function_call", "custom_tool_call":
				h.list = append(h.list, object{"type": it["type"].(string) + "_output", "call_id": it["call_id"], "output": result})
			}
		}
		return h
	}
	var content, results []any
	for _, it := range a.items {
		content = append(content, it)
		if it["type"] == "tool_use" {
			results = append(results, object{"type": "tool_result", "tool_use_id": it["id"],
				"content": []any{object{"type": "text", "text": result}}})
		}
	}
	h.list = append(h.list, object{"role": "assistant", "content": content})
	if results != nil {
		h.list = append(h.list, object{"role": "user", "content": results})
	}
	return h
}

func (h *history) body(more object) []byte {
	body := object{"model": "m", "stream": true, "system": "be brief", "messages": h.list}
	if h.wire == modelscript.WireResponses {
		body = object{"model": "m", "stream": true, "instructions": "be brief", "input": h.list}
	}
	for k, v := range more {
		body[k] = v
	}
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return b
}

// answer is what came back.
type answer struct {
	status int
	raw    string
	events []object
	items  []object // whole, as the agent would store them
	deltas []string // of text
	err    error    // of reading
}

func (a answer) of(kind string) []object {
	var out []object
	for _, e := range a.events {
		if e["type"] == kind {
			out = append(out, e)
		}
	}
	return out
}

// said returns texts, thoughts and calls as short lines.
func (a answer) said() string {
	var out []string
	for _, it := range a.items {
		switch it["type"] {
		case "message":
			out = append(out, "say "+it["content"].([]any)[0].(object)["text"].(string))
		case "text":
			out = append(out, "say "+it["text"].(string))
		case "reasoning":
			out = append(out, "think "+it["summary"].([]any)[0].(object)["text"].(string))
		case "thinking":
			out = append(out, "think "+it["thinking"].(string))
		case "function_call":
			out = append(out, fmt.Sprintf("%s %s", it["name"], it["arguments"]))
		case "custom_tool_call":
			out = append(out, fmt.Sprintf("%s %s", it["name"], it["input"]))
		case "tool_use":
			in, _ := json.Marshal(it["input"])
			out = append(out, fmt.Sprintf("%s %s", it["name"], in))
		}
	}
	return strings.Join(out, "; ")
}

func ask(t *testing.T, s *modelscript.Server, h *history, more object) answer {
	t.Helper()
	resp, err := post(limit(t), s, h, more)
	if err != nil {
		return answer{err: err}
	}
	return read(resp)
}

func post(ctx context.Context, s *modelscript.Server, h *history, more object) (*http.Response, error) {
	path := map[string]string{modelscript.WireResponses: "/v1/responses", modelscript.WireMessages: "/v1/messages?beta=true"}[h.wire]
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL()+path, bytes.NewReader(h.body(more)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer dummy")
	req.Header.Set("Thread-Id", "t1")
	return http.DefaultClient.Do(req)
}

func read(resp *http.Response) answer {
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		var b []byte
		b, a.err = io.ReadAll(resp.Body)
		a.raw = string(b)
		return a
	}
	in := bufio.NewReader(resp.Body)
	var partial strings.Builder // of a tool's input
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			if err != io.EOF {
				a.err = err
			}
			return a
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e object
		if a.err = json.Unmarshal([]byte(data), &e); a.err != nil {
			return a
		}
		a.events = append(a.events, e)
		switch e["type"] {
		case "response.output_text.delta":
			a.deltas = append(a.deltas, e["delta"].(string))
		case "response.output_item.done":
			a.items = append(a.items, e["item"].(object))
		case "content_block_start":
			a.items = append(a.items, e["content_block"].(object))
			partial.Reset()
		case "content_block_delta":
			it, d := a.items[len(a.items)-1], e["delta"].(object)
			switch d["type"] {
			case "text_delta":
				it["text"] = it["text"].(string) + d["text"].(string)
				a.deltas = append(a.deltas, d["text"].(string))
			case "thinking_delta":
				it["thinking"] = it["thinking"].(string) + d["thinking"].(string)
			case "input_json_delta":
				partial.WriteString(d["partial_json"].(string))
			}
		case "content_block_stop":
			if partial.Len() > 0 {
				var in any
				a.err = json.Unmarshal([]byte(partial.String()), &in)
				a.items[len(a.items)-1]["input"] = in
			}
		}
	}
}
