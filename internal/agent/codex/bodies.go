package codex

import (
	"encoding/json"
	"strings"

	"baton"
	"baton/internal/agent"
)

// Bounds of what an item shows of arguments and diffs, in bytes.
const (
	maxArguments = 4 << 10
	maxDiff      = 32 << 10
)

// item is a ThreadItem of codex 0.171.0, of any type.
type item struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	ClientID string          `json:"clientId"`
	Text     string          `json:"text"`
	Summary  []string        `json:"summary"`
	Content  json.RawMessage `json:"content"` // parts of a userMessage, strings of a reasoning
	Status   string          `json:"status"`

	Command  string `json:"command"`
	Cwd      string `json:"cwd"`
	Output   string `json:"aggregatedOutput"`
	ExitCode *int   `json:"exitCode"`

	Changes []struct {
		Path string `json:"path"`
		Kind struct {
			Type     string `json:"type"`
			MovePath string `json:"move_path"`
		} `json:"kind"`
		Diff string `json:"diff"`
	} `json:"changes"`

	Server    string          `json:"server"`
	Namespace string          `json:"namespace"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     struct {
		Message string `json:"message"`
	} `json:"error"`
	ContentItems json.RawMessage `json:"contentItems"`

	Prompt        string   `json:"prompt"`
	Receivers     []string `json:"receiverThreadIds"`
	AgentThreadID string   `json:"agentThreadId"`
	AgentPath     string   `json:"agentPath"`
	Agents        map[string]struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	} `json:"agentsStates"`

	Query  string `json:"query"`
	Path   string `json:"path"`
	Review string `json:"review"`
	Name   string `json:"name"`
}

func (it item) kind() baton.ItemKind {
	switch it.Type {
	case "agentMessage":
		return baton.ItemAssistantMessage
	case "reasoning":
		return baton.ItemReasoning
	case "plan":
		return baton.ItemPlan
	case "commandExecution":
		return baton.ItemCommand
	case "fileChange":
		return baton.ItemFileChange
	case "webSearch":
		return baton.ItemSearch
	case "contextCompaction":
		return baton.ItemCompaction
	}
	return baton.ItemTool
}

func (it item) status() baton.NodeStatus {
	switch it.Status {
	case "failed":
		return baton.NodeFailed
	case "declined": // it was never run
		return baton.NodeCancelled
	case "interrupted":
		return baton.NodeInterrupted
	}
	return baton.NodeCompleted
}

// body is what the item shows. Texts of an item that has not ended are left to
// its deltas.
func (it item) body(ended bool) baton.ItemBody {
	switch it.Type {
	case "agentMessage", "plan":
		if !ended {
			return baton.ItemBody{}
		}
		return baton.ItemBody{Text: it.Text}
	case "reasoning":
		return baton.ItemBody{Text: it.reasoning()}
	case "commandExecution":
		return baton.ItemBody{Command: it.Command, Cwd: it.Cwd, Output: it.Output, ExitCode: it.ExitCode}
	case "fileChange":
		return baton.ItemBody{Files: it.files()}
	case "webSearch":
		return baton.ItemBody{Tool: "web_search", Title: it.Query}
	case "contextCompaction":
		return baton.ItemBody{}
	case "mcpToolCall":
		return baton.ItemBody{Tool: it.Server + "." + it.Tool, Input: arguments(it.Arguments), Output: it.mcpOutput()}
	case "dynamicToolCall":
		return baton.ItemBody{Tool: join(it.Namespace, it.Tool), Input: arguments(it.Arguments), Output: texts(it.ContentItems)}
	case "collabAgentToolCall":
		return baton.ItemBody{Tool: it.Tool, Title: agent.Head(it.Prompt, 200), Output: it.agents()}
	case "functionCallOutput":
		return baton.ItemBody{Tool: join(it.Namespace, it.Name)}
	case "enteredReviewMode", "exitedReviewMode":
		return baton.ItemBody{Tool: it.Type, Text: it.Review}
	}
	return baton.ItemBody{Tool: it.Type, Title: it.Path} // imageView, imageGeneration, sleep, hookPrompt, newer ones
}

func join(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "." + name
}

// reasoning is the summary, or the thought itself where a model shows it.
func (it item) reasoning() string {
	if len(it.Summary) > 0 {
		return strings.Join(it.Summary, "\n\n")
	}
	return strings.Join(decode[[]string](it.Content), "\n\n")
}

func (it item) userText() string { return texts(it.Content) }

// texts joins the text of content parts.
func texts(raw json.RawMessage) string {
	var all []string
	for _, p := range decode[[]struct {
		Text string `json:"text"`
	}](raw) {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

func (it item) mcpOutput() string {
	if it.Error.Message != "" {
		return it.Error.Message
	}
	return texts(decode[struct {
		Content json.RawMessage `json:"content"`
	}](it.Result).Content)
}

// agents lists what a call to subagents gave, in the order of the call.
func (it item) agents() string {
	var all []string
	for _, id := range it.Receivers {
		if a := it.Agents[id]; a.Message != "" {
			all = append(all, a.Message)
		}
	}
	return strings.Join(all, "\n\n")
}

func arguments(raw json.RawMessage) string {
	if string(raw) == "null" {
		return ""
	}
	return agent.Head(string(compact(raw)), maxArguments)
}

// files gives unified diffs throughout: of a new or deleted file codex sends
// the bare content.
func (it item) files() []baton.FileChange {
	var all []baton.FileChange
	for _, c := range it.Changes {
		f := baton.FileChange{Path: c.Path}
		diff := c.Diff
		switch c.Kind.Type {
		case "add":
			f.Change, diff = "add", prefixed("+", c.Diff)
		case "delete":
			f.Change, diff = "delete", prefixed("-", c.Diff)
		default:
			f.Change = "modify"
			if c.Kind.MovePath != "" && c.Kind.MovePath != c.Path {
				f.Change, f.Path = "rename", c.Kind.MovePath
			}
		}
		for line := range strings.Lines(diff) {
			switch {
			case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
			case line[0] == '+':
				f.Additions++
			case line[0] == '-':
				f.Deletions++
			}
		}
		f.Diff = agent.Head(diff, maxDiff)
		all = append(all, f)
	}
	return all
}

func prefixed(sign, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(sign)
		b.WriteString(line)
	}
	return b.String()
}
