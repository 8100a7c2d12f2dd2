package modelscript

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"baton/internal/directive"
)

// responses is the OpenAI Responses API as codex 0.171.0 uses it: always a
// stream, nothing stored, tools of type function, custom and namespace.
type responses struct{}

func (responses) parse(body []byte) (turn, error) {
	var req struct {
		Model        string          `json:"model"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Tools        []responseTool  `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return turn{}, err
	}
	var items []responseItem
	if err := json.Unmarshal(req.Input, &items); err != nil {
		return turn{}, fmt.Errorf("input: %w", err)
	}
	t := turn{model: req.Model, stream: true, seed: seedOf(req.Input)}
	if req.Instructions != "" {
		t.blocks = append(t.blocks, Block{Role: RoleSystem, Kind: KindText, Text: req.Instructions})
	}
	for _, it := range items {
		t.blocks = append(t.blocks, it.blocks()...)
	}
	for _, o := range req.Tools {
		t.tools = append(t.tools, o.tools("")...)
	}
	return t, nil
}

type responseTool struct {
	Type  string         `json:"type"`
	Name  string         `json:"name"`
	Tools []responseTool `json:"tools"` // of a namespace
}

func (o responseTool) tools(namespace string) []tool {
	if o.Type != "namespace" {
		return []tool{{namespace: namespace, name: o.Name, custom: o.Type == "custom"}}
	}
	var out []tool
	for _, inner := range o.Tools {
		out = append(out, inner.tools(o.Name)...)
	}
	return out
}

// responseItem is an entry of input, of whatever type.
type responseItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"`
	Namespace string          `json:"namespace"`
	Name      string          `json:"name"`
	CallID    string          `json:"call_id"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
}

func (it responseItem) blocks() []Block {
	name := it.Name
	if it.Namespace != "" {
		name = it.Namespace + "." + name
	}
	b := Block{Kind: KindText}
	texts := contentText(it.Content)
	switch it.Type {
	case "message", "":
		if b.Role = it.Role; b.Role == "developer" {
			b.Role = RoleSystem
		}
	case "agent_message":
		return agentMessage(it.Content)
	case "reasoning":
		b.Role, b.Kind = RoleModel, KindThinking
		texts = []string{strings.Join(append(contentText(it.Summary), texts...), "\n")}
	case "function_call":
		return []Block{{Role: RoleModel, Kind: KindCall, Text: it.Arguments, Name: name, CallID: it.CallID}}
	case "custom_tool_call":
		return []Block{{Role: RoleModel, Kind: KindCall, Text: it.Input, Name: name, CallID: it.CallID}}
	case "function_call_output", "custom_tool_call_output":
		text := strings.Join(contentText(it.Output), "\n")
		return []Block{{Role: RoleUser, Kind: KindResult, Text: text, CallID: it.CallID}}
	}
	var out []Block
	for _, text := range texts {
		b.Text = text
		out = append(out, b)
	}
	return out
}

// agentMessage reads what codex's agents of the second kind tell each other
// (codex 0.171.0): a task is "encrypted" and stands for what a user said; a
// report to the parent is plain and doesn't.
func agentMessage(content json.RawMessage) []Block {
	var parts []struct {
		Text      string `json:"text"`
		Encrypted string `json:"encrypted_content"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return nil
	}
	var out []Block
	for _, p := range parts {
		if p.Encrypted != "" {
			out = append(out, Block{Role: RoleUser, Kind: KindText, Text: p.Encrypted})
		} else {
			out = append(out, Block{Role: RoleSystem, Kind: KindText, Text: p.Text})
		}
	}
	return out
}

func (responses) calls(t turn, m directive.Directive) ([]call, error) {
	switch m.Verb {
	case "run":
		return []call{{Name: "exec_command", Args: object(map[string]any{"cmd": m.Arg})}}, nil
	case "run-escalated":
		return []call{{Name: "exec_command", Args: object(map[string]any{"cmd": m.Arg,
			"sandbox_permissions": "require_escalated", "justification": "the script asks for it"})}}, nil
	case "run-background": // 250 ms is the shortest wait before the model goes on
		return []call{{Name: "exec_command", Args: object(map[string]any{"cmd": m.Arg, "yield_time_ms": 250})}}, nil
	case "write":
		path, content, err := fileArg(m.Arg)
		patch := "*** Begin Patch\n*** Add File: " + path + "\n+" +
			strings.ReplaceAll(strings.TrimSuffix(content, "\n"), "\n", "\n+") + "\n*** End Patch"
		return []call{{Name: "apply_patch", Custom: true, Input: patch}}, err
	case "plan":
		steps, err := planArg(m.Arg)
		list := make([]map[string]string, len(steps))
		for i, s := range steps {
			list[i] = map[string]string{"step": s.text, "status": s.status}
		}
		return []call{{Name: "update_plan", Args: object(map[string]any{"plan": list})}}, err
	}
	c, err := namedCall(t, m.Arg)
	return []call{c}, err
}

var responseKinds = map[int]string{
	400: "invalid_request_error", 401: "invalid_api_key", 429: "rate_limit_exceeded",
	500: "server_error", 503: "server_is_overloaded",
}

func (responses) fault(f fault) any {
	k := statusKind(responseKinds, f)
	return map[string]any{"error": map[string]any{"type": k, "code": k, "message": f.message}}
}

func (responses) sink(w http.ResponseWriter, t turn, u usage) sink {
	return &responsesSink{events: events{w: w}, seed: t.seed, usage: u}
}

// responsesSink streams one response. Events: codex 0.171.0 needs created,
// output_item.added and .done, the deltas, and completed or failed.
type responsesSink struct {
	events
	seed  string
	usage usage
	n     int
}

func (s *responsesSink) send(kind string, v map[string]any) error {
	v["type"] = kind
	return s.event(kind, v)
}

// id gives the next id with the prefix.
func (s *responsesSink) id(prefix string) string {
	s.n++
	return prefix + s.seed + "_" + strconv.Itoa(s.n)
}

func (s *responsesSink) open() error {
	s.start()
	return s.send("response.created", map[string]any{"response": map[string]any{"id": "resp_" + s.seed}})
}

func (s *responsesSink) item(kind string, item map[string]any) error {
	return s.send("response.output_item."+kind, map[string]any{"output_index": s.n - 1, "item": item})
}

func (s *responsesSink) say(deltas []string) error {
	id := s.id("msg_")
	message := func(content ...any) map[string]any {
		return map[string]any{"type": "message", "id": id, "role": RoleModel, "content": append([]any{}, content...)}
	}
	err := s.item("added", message())
	for _, d := range deltas {
		if err == nil {
			err = s.send("response.output_text.delta", map[string]any{"item_id": id,
				"output_index": s.n - 1, "content_index": 0, "delta": d})
		}
	}
	if err != nil {
		return err
	}
	return s.item("done", message(map[string]any{"type": "output_text", "text": strings.Join(deltas, ""), "annotations": []any{}}))
}

func (s *responsesSink) think(deltas []string) error {
	id := s.id("rs_")
	reasoning := func(summary ...any) map[string]any {
		return map[string]any{"type": "reasoning", "id": id, "summary": append([]any{}, summary...),
			"encrypted_content": "c2NyaXB0ZWQ="}
	}
	at := map[string]any{"item_id": id, "output_index": s.n - 1, "summary_index": 0}
	err := s.item("added", reasoning())
	if err == nil {
		err = s.send("response.reasoning_summary_part.added", at)
	}
	for _, d := range deltas {
		if err == nil {
			at["delta"] = d
			err = s.send("response.reasoning_summary_text.delta", at)
		}
	}
	if err != nil {
		return err
	}
	return s.item("done", reasoning(map[string]any{"type": "summary_text", "text": strings.Join(deltas, "")}))
}

func (s *responsesSink) call(c call) error {
	item := map[string]any{"type": "function_call", "id": s.id("fc_"), "name": c.Name,
		"arguments": string(c.Args), "status": "completed"}
	if c.Custom {
		item["type"], item["input"] = "custom_tool_call", c.Input
		delete(item, "arguments")
	}
	if c.Namespace != "" {
		item["namespace"] = c.Namespace
	}
	item["call_id"] = "call_" + s.seed + "_" + strconv.Itoa(s.n)
	if err := s.item("added", item); err != nil {
		return err
	}
	return s.item("done", item)
}

func (s *responsesSink) fault(f fault) error {
	return s.send("response.failed", map[string]any{"response": map[string]any{"id": "resp_" + s.seed, "status": "failed",
		"error": map[string]any{"code": statusKind(responseKinds, f), "message": f.message}}})
}

func (s *responsesSink) close() error {
	return s.send("response.completed", map[string]any{"response": map[string]any{"id": "resp_" + s.seed,
		"usage": map[string]any{"input_tokens": s.usage.in, "input_tokens_details": map[string]any{"cached_tokens": 0},
			"output_tokens": s.usage.out, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
			"total_tokens": s.usage.in + s.usage.out}}})
}
