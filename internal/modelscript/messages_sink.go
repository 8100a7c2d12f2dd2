package modelscript

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

func (messages) sink(w http.ResponseWriter, t turn, u usage) sink {
	s := &messagesSink{events: events{w: w}, turn: t, usage: u}
	if !t.stream {
		return &documentSink{messagesSink: s}
	}
	return s
}

// messagesSink streams one message.
type messagesSink struct {
	events
	turn  turn
	usage usage
	n     int // content blocks so far
	tools bool
}

func (s *messagesSink) send(kind string, v map[string]any) error {
	v["type"] = kind
	return s.event(kind, v)
}

func (s *messagesSink) message(content []any, stop any) map[string]any {
	return map[string]any{"id": "msg_" + s.turn.seed, "type": "message", "role": RoleModel, "model": s.turn.model,
		"content": content, "stop_reason": stop, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": s.usage.in, "output_tokens": s.usage.out,
			"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}}
}

func (s *messagesSink) open() error {
	s.start()
	m := s.message([]any{}, nil)
	m["usage"].(map[string]any)["output_tokens"] = 1
	return s.send("message_start", map[string]any{"message": m})
}

// block streams one content block: it starts as start and grows by deltas.
func (s *messagesSink) block(start map[string]any, deltas []map[string]any) error {
	err := s.send("content_block_start", map[string]any{"index": s.n, "content_block": start})
	for _, d := range deltas {
		if err == nil {
			err = s.send("content_block_delta", map[string]any{"index": s.n, "delta": d})
		}
	}
	if err == nil {
		err = s.send("content_block_stop", map[string]any{"index": s.n})
	}
	s.n++
	return err
}

func (s *messagesSink) say(deltas []string) error {
	var list []map[string]any
	for _, d := range deltas {
		list = append(list, map[string]any{"type": "text_delta", "text": d})
	}
	return s.block(map[string]any{"type": "text", "text": ""}, list)
}

func (s *messagesSink) think(deltas []string) error {
	var list []map[string]any
	for _, d := range deltas {
		list = append(list, map[string]any{"type": "thinking_delta", "thinking": d})
	}
	list = append(list, map[string]any{"type": "signature_delta", "signature": signature})
	return s.block(map[string]any{"type": "thinking", "thinking": "", "signature": ""}, list)
}

const signature = "c2NyaXB0ZWQ=" // nobody checks it here

func (s *messagesSink) call(c call) error {
	s.tools = true
	half := len(c.Args) / 2
	for half > 0 && c.Args[half]&0xC0 == 0x80 { // not inside a character
		half--
	}
	return s.block(map[string]any{"type": "tool_use", "id": s.toolID(), "name": c.Name, "input": map[string]any{}},
		[]map[string]any{
			{"type": "input_json_delta", "partial_json": string(c.Args[:half])},
			{"type": "input_json_delta", "partial_json": string(c.Args[half:])},
		})
}

func (s *messagesSink) toolID() string { return "toolu_" + s.turn.seed + "_" + strconv.Itoa(s.n) }

func (s *messagesSink) fault(f fault) error {
	return s.event("error", messages{}.fault(f))
}

func (s *messagesSink) stop() string {
	if s.tools {
		return "tool_use"
	}
	return "end_turn"
}

func (s *messagesSink) close() error {
	err := s.send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": s.stop(), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": s.usage.out}})
	if err != nil {
		return err
	}
	return s.send("message_stop", map[string]any{})
}

// documentSink collects the same message and sends it at once.
type documentSink struct {
	*messagesSink
	content []any
}

func (s *documentSink) open() error { return nil }

func (s *documentSink) say(deltas []string) error {
	s.content = append(s.content, map[string]any{"type": "text", "text": strings.Join(deltas, "")})
	return nil
}

func (s *documentSink) think(deltas []string) error {
	s.content = append(s.content, map[string]any{"type": "thinking", "thinking": strings.Join(deltas, ""), "signature": signature})
	return nil
}

func (s *documentSink) call(c call) error {
	s.tools, s.n = true, len(s.content)
	s.content = append(s.content, map[string]any{"type": "tool_use", "id": s.toolID(), "name": c.Name, "input": c.Args})
	return nil
}

func (s *documentSink) fault(f fault) error {
	if f.status == 0 {
		f.status = http.StatusInternalServerError
	}
	return writeJSON(s.w, f.status, messages{}.fault(f))
}

func (s *documentSink) close() error {
	return writeJSON(s.w, http.StatusOK, s.message(append([]any{}, s.content...), s.stop()))
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(v)
}
