package acp

import "encoding/json"

// Shapes of ACP v1 as far as they are read (schema v1.7.0). Unknown members
// and kinds are passed over.

type initializeResult struct {
	ProtocolVersion int `json:"protocolVersion"`
	AgentInfo       struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
	AuthMethods []struct {
		Name string `json:"name"`
	} `json:"authMethods"`
	AgentCapabilities struct {
		LoadSession         bool `json:"loadSession"`
		SessionCapabilities struct {
			Resume json.RawMessage `json:"resume"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
}

type promptResult struct {
	StopReason string     `json:"stopReason"`
	Usage      *wireUsage `json:"usage"`
	Meta       struct {
		Usage *wireUsage `json:"usage"`
		Quota struct {
			TokenCount struct {
				Input  int64 `json:"input_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"token_count"`
		} `json:"quota"` // gemini-cli 0.61.0
	} `json:"_meta"`
}

type wireUsage struct {
	InputTokens      int64 `json:"inputTokens"`
	OutputTokens     int64 `json:"outputTokens"`
	CachedReadTokens int64 `json:"cachedReadTokens"`
	ThoughtTokens    int64 `json:"thoughtTokens"`
}

type sessionParams struct {
	SessionID string          `json:"sessionId"`
	Update    json.RawMessage `json:"update"`
}

type update struct {
	Kind      string          `json:"sessionUpdate"`
	Content   json.RawMessage `json:"content"` // a block of a chunk, a list of a tool call
	MessageID string          `json:"messageId"`
	Entries   []planEntry     `json:"entries"`
	Used      int64           `json:"used"`
	Size      int64           `json:"size"`
	// of a notice, beside title
	Severity    string `json:"severity"`
	Description string `json:"description"`

	Meta updateMeta `json:"_meta"`
	toolCall
}

type updateMeta struct {
	Parent   string     `json:"parentToolCallId"` // qwen-code 0.15.10
	ToolName string     `json:"toolName"`
	Usage    *wireUsage `json:"usage"`
	Baton    struct {
		Output string `json:"output"`
		Plan   bool   `json:"plan"`
	} `json:"baton"`
}

type planEntry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// toolCall holds the members of a tool call beside its content.
type toolCall struct {
	ToolCallID string          `json:"toolCallId"`
	Title      string          `json:"title"`
	ToolKind   string          `json:"kind"`
	Status     string          `json:"status"`
	Locations  []location      `json:"locations"`
	RawInput   json.RawMessage `json:"rawInput"`
	RawOutput  json.RawMessage `json:"rawOutput"`
}

type location struct {
	Path string `json:"path"`
}

// toolContent is one entry of a tool call's content.
type toolContent struct {
	Type    string  `json:"type"` // content, diff, terminal
	Content block   `json:"content"`
	Path    string  `json:"path"`
	OldText *string `json:"oldText"`
	NewText string  `json:"newText"`
}

// block is a content block.
type block struct {
	Type     string `json:"type"` // text, image, audio, resource_link, resource
	Text     string `json:"text"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	MimeType string `json:"mimeType"`
	Resource struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"resource"`
}

type permissionParams struct {
	SessionID string          `json:"sessionId"`
	ToolCall  json.RawMessage `json:"toolCall"`
	Options   []permitOption  `json:"options"`
}

type permitOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type elicitationParams struct {
	SessionID  string `json:"sessionId"`
	ToolCallID string `json:"toolCallId"`
	Mode       string `json:"mode"`
	Message    string `json:"message"`
	Schema     struct {
		Title       string          `json:"title"`
		Description string          `json:"description"`
		Properties  json.RawMessage `json:"properties"` // its order is the order of the questions
	} `json:"requestedSchema"`
}

type enumOption struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

type property struct {
	Type        string       `json:"type"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Enum        []string     `json:"enum"`
	OneOf       []enumOption `json:"oneOf"`
	Items       struct {
		Enum  []string     `json:"enum"`
		AnyOf []enumOption `json:"anyOf"`
	} `json:"items"`
}

type turnEndedParams struct {
	SessionID  string     `json:"sessionId"`
	StopReason string     `json:"stopReason"`
	Error      string     `json:"error"`
	Usage      *wireUsage `json:"usage"`
}

type detachedParams struct {
	SessionID string   `json:"sessionId"`
	Names     []string `json:"names"`
}
