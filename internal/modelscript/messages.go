package modelscript

import (
	"encoding/json"
	"fmt"
	"strings"

	"baton/internal/directive"
)

// messages is the Anthropic Messages API as claude 2.1.332 uses it: a stream,
// and without `stream` one JSON document, which it asks for after broken streams.
type messages struct{}

func (messages) parse(body []byte) (turn, error) {
	var req struct {
		Model    string          `json:"model"`
		System   json.RawMessage `json:"system"`
		Messages json.RawMessage `json:"messages"`
		Tools    []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Stream bool `json:"stream"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return turn{}, err
	}
	var list []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(req.Messages, &list); err != nil {
		return turn{}, fmt.Errorf("messages: %w", err)
	}
	t := turn{model: req.Model, stream: req.Stream, seed: seedOf(req.Messages)}
	for _, text := range contentText(req.System) {
		t.blocks = append(t.blocks, Block{Role: RoleSystem, Kind: KindText, Text: text})
	}
	for _, m := range list {
		t.blocks = append(t.blocks, messageBlocks(m.Role, m.Content)...)
	}
	for _, o := range req.Tools {
		t.tools = append(t.tools, tool{name: o.Name})
	}
	return t, nil
}

func messageBlocks(role string, content json.RawMessage) []Block {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return textBlocks(role, text)
	}
	var parts []struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   json.RawMessage `json:"content"`
		IsError   bool            `json:"is_error"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return nil
	}
	var out []Block
	for _, p := range parts {
		switch p.Type {
		case "text":
			out = append(out, textBlocks(role, p.Text)...)
		case "thinking":
			out = append(out, Block{Role: role, Kind: KindThinking, Text: p.Thinking})
		case "tool_use":
			out = append(out, Block{Role: role, Kind: KindCall, Text: string(p.Input), Name: p.Name, CallID: p.ID})
		case "tool_result":
			text := strings.Join(contentText(p.Content), "\n")
			out = append(out, Block{Role: role, Kind: KindResult, Text: text, CallID: p.ToolUseID, Failed: p.IsError})
			out = append(out, folds(text)...)
		}
	}
	return out
}

func textBlocks(role, text string) []Block {
	out := []Block{{Role: role, Kind: KindText, Text: text}}
	if role == RoleUser {
		out = append(out, folds(text)...)
	}
	return out
}

func (messages) calls(t turn, m directive.Directive) ([]call, error) {
	const about = "as the script says"
	switch m.Verb {
	case "run", "run-escalated":
		return []call{{Name: "Bash", Args: object(map[string]any{"command": m.Arg, "description": about})}}, nil
	case "run-background":
		return []call{{Name: "Bash", Args: object(map[string]any{"command": m.Arg, "description": about,
			"run_in_background": true})}}, nil
	case "write":
		path, content, err := fileArg(m.Arg)
		return []call{{Name: "Write", Args: object(map[string]any{"file_path": inDir(t.blocks, path), "content": content})}}, err
	case "plan":
		steps, err := planArg(m.Arg)
		return planCalls(t, steps), err
	}
	c, err := namedCall(t, m.Arg)
	if c.Namespace != "" { // there are none on this wire
		c.Name = c.Namespace + "." + c.Name
	}
	return []call{c}, err
}

// planCalls uses TodoWrite where it is offered (CLAUDE_CODE_ENABLE_TASKS=0) and
// TaskCreate otherwise, which works without being offered and knows no status.
func planCalls(t turn, steps []planStep) []call {
	for _, o := range t.tools {
		if o.name != "TodoWrite" {
			continue
		}
		todos := make([]map[string]string, len(steps))
		for i, s := range steps {
			todos[i] = map[string]string{"content": s.text, "activeForm": s.text, "status": s.status}
		}
		return []call{{Name: "TodoWrite", Args: object(map[string]any{"todos": todos})}}
	}
	var out []call
	for _, s := range steps {
		out = append(out, call{Name: "TaskCreate", Args: object(map[string]any{"subject": s.text, "description": s.text})})
	}
	return out
}

var messageKinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
}

func (messages) fault(f fault) any {
	return map[string]any{"type": "error",
		"error": map[string]any{"type": statusKind(messageKinds, f), "message": f.message}}
}
