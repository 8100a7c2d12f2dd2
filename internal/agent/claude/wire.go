package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// frame is any line of claude 2.1.332, as far as it is understood. Fields of
// another type than expected are left empty: agents add kinds with each release.
type frame struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	UUID      string          `json:"uuid"`
	Parent    string          `json:"parent_tool_use_id"`
	Message   json.RawMessage `json:"message"` // an object, or text in system/permission_denied
	Messages  []string        `json:"user_message_uuids"`
	Command   string          `json:"command_uuid"`
	State     string          `json:"state"`
	Event     *event          `json:"event"`
	RequestID string          `json:"request_id"`
	Request   *ask            `json:"request"`
	Response  *reply          `json:"response"`

	// assistant, user
	Aborted   bool            `json:"aborted"`
	APIError  bool            `json:"is_api_error_message"`
	Error     string          `json:"error"`
	Synthetic bool            `json:"isSynthetic"`
	Replay    bool            `json:"isReplay"`
	Result    json.RawMessage `json:"tool_use_result"`
	Meta      []struct {
		ID       string `json:"id"`
		Kind     string `json:"non_execution_kind"`
		Decision struct {
			Source string `json:"source"`
		} `json:"permission_decision"`
	} `json:"tool_result_meta"`

	// result
	IsError    bool     `json:"is_error"`
	Terminal   string   `json:"terminal_reason"`
	NumTurns   int      `json:"num_turns"`
	Text       string   `json:"result"`
	Errors     []string `json:"errors"`
	APIStatus  int      `json:"api_error_status"`
	Usage      usage    `json:"usage"`
	ModelUsage map[string]struct {
		Window int64 `json:"contextWindow"`
	} `json:"modelUsage"`

	// system
	Tasks []struct {
		ID          string `json:"task_id"`
		Description string `json:"description"`
		Type        string `json:"task_type"`
	} `json:"tasks"`
	ToolUse      string `json:"tool_use_id"`
	Tool         string `json:"tool_name"`
	Backgrounded bool   `json:"is_backgrounded"`
	Status       string `json:"status"`
	Mode         string `json:"permissionMode"`
	Summary      string `json:"summary"`
	Content      string `json:"content"`
	Level        string `json:"level"`
	Attempt      int    `json:"attempt"`
	MaxRetries   int    `json:"max_retries"`
	ErrorStatus  int    `json:"error_status"`
}

type usage struct {
	Input    int64 `json:"input_tokens"`
	Created  int64 `json:"cache_creation_input_tokens"`
	Read     int64 `json:"cache_read_input_tokens"`
	Output   int64 `json:"output_tokens"`
	Thinking struct {
		Tokens int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u usage) input() int64 { return u.Input + u.Created + u.Read }

// event is an event of the Messages API.
type event struct {
	Type    string   `json:"type"`
	Index   int      `json:"index"`
	Message *message `json:"message"`
	Block   *content `json:"content_block"`
	Delta   struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

type message struct {
	ID      string          `json:"id"`
	Content json.RawMessage `json:"content"` // text or blocks
	Usage   usage           `json:"usage"`
}

// content is one block of a message.
type content struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"` // of a tool's result: text or blocks
	IsError   bool            `json:"is_error"`
}

// ask is a control request of claude.
type ask struct {
	Subtype     string            `json:"subtype"`
	Tool        string            `json:"tool_name"`
	Input       json.RawMessage   `json:"input"`
	Description string            `json:"description"`
	Suggestions []json.RawMessage `json:"permission_suggestions"`
	ToolUse     string            `json:"tool_use_id"`
	Agent       string            `json:"agent_id"`
}

// reply answers a control request of ours.
type reply struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Error     string `json:"error"`
	Response  struct {
		Version   string   `json:"claude_code_version"`
		Cancelled []string `json:"cancelled"`
	} `json:"response"`
}

// decode reads a line. It is false for what is no JSON object with a type.
func decode(data []byte) (frame, bool) {
	var f frame
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	return f, loose(data, &f) && f.Type != ""
}

// loose decodes as far as the types fit. It is false for what is no JSON.
func loose(data []byte, v any) bool {
	err := json.Unmarshal(data, v)
	var mismatch *json.UnmarshalTypeError
	return err == nil || errors.As(err, &mismatch)
}

// blocks returns the blocks of a message; a bare text is one block.
func blocks(raw json.RawMessage) []content {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []content{{Type: "text", Text: text}}
	}
	var all []content
	loose(raw, &all)
	return all
}

// plain joins the texts of a message's or result's content.
func plain(raw json.RawMessage) string {
	var parts []string
	for _, b := range blocks(raw) {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
