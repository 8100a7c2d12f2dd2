package baton

import "fmt"

// ItemKind is what a timeline entry shows.
type ItemKind string

// The kinds of items. Clients render them in the server's order and never sort.
const (
	ItemUserMessage      ItemKind = "user_message"
	ItemAssistantMessage ItemKind = "assistant_message"
	ItemReasoning        ItemKind = "reasoning"
	ItemCommand          ItemKind = "command"
	ItemFileChange       ItemKind = "file_change"
	ItemSearch           ItemKind = "search"
	ItemTool             ItemKind = "tool"
	ItemApproval         ItemKind = "approval"
	ItemQuestion         ItemKind = "question"
	ItemPlan             ItemKind = "plan"
	ItemTodo             ItemKind = "todo"
	ItemCheckpoint       ItemKind = "checkpoint"
	ItemHandoff          ItemKind = "handoff"
	ItemFork             ItemKind = "fork"
	ItemMergeBack        ItemKind = "merge_back"
	ItemProviderSwitch   ItemKind = "provider_switch"
	ItemInterruptAsked   ItemKind = "interrupt_asked"
	ItemInterrupted      ItemKind = "interrupted"
	ItemCompaction       ItemKind = "compaction"
	ItemSubagent         ItemKind = "subagent"
	ItemNotice           ItemKind = "notice"
	ItemError            ItemKind = "error"
)

// NodeKind is what a node of the execution tree does.
type NodeKind string

// The kinds of nodes.
const (
	NodeRootTurn         NodeKind = "root_turn"
	NodeAssistantMessage NodeKind = "assistant_message"
	NodeReasoning        NodeKind = "reasoning"
	NodePlan             NodeKind = "plan"
	NodeTodoList         NodeKind = "todo_list"
	NodeToolCall         NodeKind = "tool_call"
	NodeApprovalRequest  NodeKind = "approval_request"
	NodeUserInputRequest NodeKind = "user_input_request"
	NodeSubagent         NodeKind = "subagent"
	NodeHook             NodeKind = "hook"
	NodeSystem           NodeKind = "system"
)

// Node returns the kind of node that an item of this kind belongs to, or ""
// for an item that is shown under its run's root.
func (k ItemKind) Node() NodeKind {
	switch k {
	case ItemAssistantMessage:
		return NodeAssistantMessage
	case ItemReasoning:
		return NodeReasoning
	case ItemCommand, ItemFileChange, ItemSearch, ItemTool:
		return NodeToolCall
	case ItemApproval:
		return NodeApprovalRequest
	case ItemQuestion:
		return NodeUserInputRequest
	case ItemPlan:
		return NodePlan
	case ItemTodo:
		return NodeTodoList
	case ItemSubagent:
		return NodeSubagent
	default:
		return ""
	}
}

// ItemBody is what an item shows. Which fields are set follows from its kind;
// an absent field is unknown. Streamed text (an assistant message, reasoning)
// is Text; streamed output of a command or tool is Output.
type ItemBody struct {
	Text       string          `json:"text,omitempty"`
	Output     string          `json:"output,omitempty"`
	Cut        *Cut            `json:"cut,omitempty"` // set where Text or Output is head and tail only
	Status     NodeStatus      `json:"status,omitempty"`
	Title      string          `json:"title,omitempty"`
	Command    string          `json:"command,omitempty"` // command
	Cwd        string          `json:"cwd,omitempty"`
	ExitCode   *int            `json:"exit_code,omitempty"`
	Files      []FileChange    `json:"files,omitempty"` // file_change
	Tool       string          `json:"tool,omitempty"`  // tool, search: the agent's name for it
	Input      string          `json:"input,omitempty"` // tool: its arguments as JSON text, head only
	Code       Code            `json:"code,omitempty"`  // notice, error
	Hint       string          `json:"hint,omitempty"`
	Steps      []TodoStep      `json:"steps,omitempty"` // todo
	RequestID  RequestID       `json:"request_id,omitempty"`
	HandoffID  HandoffID       `json:"handoff_id,omitempty"`
	TransferID TransferID      `json:"transfer_id,omitempty"`
	From       string          `json:"from,omitempty"` // provider_switch: provider names
	To         string          `json:"to,omitempty"`
	Questions  []Question      `json:"questions,omitempty"`
	Options    []RequestOption `json:"options,omitempty"`
	Author     string          `json:"author,omitempty"` // user_message: who wrote it
	MessageID  MessageID       `json:"message_id,omitempty"`
	Answer     string          `json:"answer,omitempty"` // approval, question: what a person answered
}

// Cut says that a long text is shown as head and tail. The whole is kept as
// the item's chunks.
type Cut struct {
	Bytes   int64 `json:"bytes"`   // of the whole text
	Omitted int64 `json:"omitted"` // bytes between head and tail
	Head    int   `json:"head"`    // bytes of the head, which the tail follows directly
}

// Mark is what Marked puts between head and tail.
func (c Cut) Mark() string { return fmt.Sprintf("\n[… %d bytes left out …]\n", c.Omitted) }

// Marked returns the body as people and agents should read it: where its text or
// output is head and tail, a line between them says how much was left out.
func (b ItemBody) Marked() ItemBody {
	mark := func(s string) string {
		if b.Cut == nil || int64(len(s)) != b.Cut.Bytes-b.Cut.Omitted || b.Cut.Head <= 0 || b.Cut.Head > len(s) {
			return s
		}
		return s[:b.Cut.Head] + b.Cut.Mark() + s[b.Cut.Head:]
	}
	b.Text, b.Output = mark(b.Text), mark(b.Output)
	return b
}

// FileChange is one file of a change, as the agent reported it.
type FileChange struct {
	Path      string `json:"path"`
	Change    string `json:"change"` // add, modify, delete, rename
	Additions int    `json:"additions,omitempty"`
	Deletions int    `json:"deletions,omitempty"`
	Diff      string `json:"diff,omitempty"` // unified, head only
}

// TodoStep is one entry of a todo list.
type TodoStep struct {
	Text   string `json:"text"`
	Status string `json:"status"` // pending, in_progress, completed
}

// RequestKind is what an agent asks.
type RequestKind string

// The kinds of requests.
const (
	RequestCommand    RequestKind = "command"
	RequestFileChange RequestKind = "file_change"
	RequestPermission RequestKind = "permission" // any other tool or access
	RequestUserInput  RequestKind = "user_input"
)

// Answerability says how a request can be answered now.
type Answerability string

// The ways to answer a request.
const (
	AnswerLive         Answerability = "live"          // the agent waits for it
	AnswerMessage      Answerability = "message"       // only as an ordinary message
	AnswerNotResumable Answerability = "not_resumable" // whoever asked is gone
)

// RequestOption is one way to answer an approval.
type RequestOption struct {
	Decision Decision `json:"decision"`
	Label    string   `json:"label"`
	NativeID string   `json:"native_id,omitempty"` // the agent's id for it (ACP option id)
}

// Question is one structured question of an agent.
type Question struct {
	Key      string           `json:"key"` // what an answer names: unique within its request
	Header   string           `json:"header,omitempty"`
	Text     string           `json:"text"`
	Options  []QuestionOption `json:"options,omitempty"`
	Multiple bool             `json:"multiple,omitempty"`
	FreeText bool             `json:"free_text,omitempty"`
}

// QuestionOption is one offered answer.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Decision answers an approval.
type Decision string

// The decisions.
const (
	ApproveOnce    Decision = "approve"
	ApproveSession Decision = "approve_session" // for the life of this agent process
	Decline        Decision = "decline"         // with a reason to the agent; the turn goes on
	CancelTurn     Decision = "cancel_turn"     // decline and end the turn
)

// Usage counts tokens of one turn; zero means unknown.
type Usage struct {
	InputTokens     int64 `json:"input_tokens,omitempty"`
	CachedTokens    int64 `json:"cached_tokens,omitempty"` // part of InputTokens
	OutputTokens    int64 `json:"output_tokens,omitempty"`
	ReasoningTokens int64 `json:"reasoning_tokens,omitempty"` // part of OutputTokens
	ContextTokens   int64 `json:"context_tokens,omitempty"`   // what the conversation now holds
	ContextWindow   int64 `json:"context_window,omitempty"`
}

// Add returns the sum; the context figures are the newer ones.
func (u Usage) Add(v Usage) Usage {
	u.InputTokens += v.InputTokens
	u.CachedTokens += v.CachedTokens
	u.OutputTokens += v.OutputTokens
	u.ReasoningTokens += v.ReasoningTokens
	if v.ContextTokens != 0 {
		u.ContextTokens = v.ContextTokens
	}
	if v.ContextWindow != 0 {
		u.ContextWindow = v.ContextWindow
	}
	return u
}
