package handoff

import (
	"encoding/json"

	"baton"
)

// Budgets in estimated tokens (see Tokens).
const (
	DefaultBudget = 16000
	MinBudget     = 256
)

// Source is everything that a document depends on.
type Source struct {
	Thread   baton.ThreadID
	Title    string
	Strategy baton.Strategy
	From     []string        // provider names in the order they carried the runs
	To       string          // provider name
	Covered  baton.Intervals // as the plan has it
	Known    baton.Intervals // of the covered runs those that the reader knows; Runs lacks them
	Runs     []Run           // the covered runs, by ordinal
	Open     OpenState       // as of now, not as of the covered runs
	// Budget is for the text: 0 is DefaultBudget, anything else below MinBudget
	// is MinBudget. A caller that reckons what is left and finds nothing gives a
	// negative number and gets the smallest document.
	Budget        int
	ReaderHasTool bool // the reader can read what is left out with thread_read
}

// Run is one covered run. A run that ended badly, or never reached an agent, is
// its message and its outcome.
type Run struct {
	Ordinal  int
	Provider string
	Status   baton.RunStatus
	Err      *baton.Error
	Message  string // the input; empty for a run that the agent began
	Author   string // of the message
	Items    []Item // in the timeline's order
}

// FreshRuns is of how many runs, the newest, more than the conclusion is told.
const FreshRuns = 3

// Need is how much of an item a document depends on.
type Need int

// The needs. Whoever gathers a source may leave out items of which Nothing is
// needed, and all but id, kind and status of those whose Presence is: the
// document is the same.
const (
	Nothing  Need = iota // hidden reasoning, Baton's own notes
	Presence             // it is never shown, and counts as left out
	Content              // its body, but for diffs
)

// NeedOf says what a document needs of an item of this kind; fresh says that
// its run is one of the newest FreshRuns.
func NeedOf(kind baton.ItemKind, fresh bool) Need {
	switch kind {
	case baton.ItemTool, baton.ItemSearch:
		if !fresh {
			return Presence
		}
		return Content
	case baton.ItemUserMessage, baton.ItemAssistantMessage, baton.ItemCommand, baton.ItemFileChange, baton.ItemSubagent, baton.ItemError,
		baton.ItemPlan, baton.ItemTodo, baton.ItemQuestion, baton.ItemApproval:
		return Content
	default:
		return Nothing
	}
}

// NeedsOutput says whether a document may show Body.Output of an item of which
// the rest is known: that of an older command which went well is not told.
func NeedsOutput(it Item, fresh bool) bool {
	return it.Kind != baton.ItemCommand || fresh || failed(it)
}

// failed says that a command did not go well.
func failed(it Item) bool {
	return it.Status == baton.NodeFailed || it.Body.ExitCode != nil && *it.Body.ExitCode != 0
}

// Item is one entry of the timeline; what of it is needed says NeedOf. Its texts
// are as Body.Marked gives them.
type Item struct {
	ID     baton.ItemID
	Kind   baton.ItemKind
	Status baton.NodeStatus
	Body   *baton.ItemBody // never nil; nobody changes it
	Child  bool            // of a subagent, not of the run's root
	Answer *Answer         // approval, question, plan: how it was answered, if it was
}

// Answer is what somebody decided about a request or a plan.
type Answer struct {
	By       string
	Decision baton.Decision // approval, plan
	Reason   string
	Answers  map[string][]string // question: by Question.Key
}

// OpenState is what is open in the thread now.
type OpenState struct {
	Plan     *OpenPlan
	Todo     []baton.TodoStep
	Requests []OpenRequest // oldest first
}

// OpenPlan is a proposed plan that is neither finished nor superseded.
type OpenPlan struct {
	Status string // draft, active
	Text   string
	Cut    *baton.Cut // of the item that it stands in
}

// OpenRequest is an approval or question that waits for an answer.
type OpenRequest struct {
	ID        baton.RequestID
	Kind      baton.RequestKind
	Title     string
	Detail    string
	Questions []baton.Question
}

// Built is a document with what its handoff keeps beside it.
type Built struct {
	Document   json.RawMessage // a Document
	Text       string          // byte for byte what is sent
	Digest     string          // "sha256:" and the hash of Text in hexadecimal
	Tokens     int             // Tokens(Text), never above the budget
	Omitted    baton.Omitted   // Count may be above the number of ids: not all that is left out is an item
	Redactions int
	// Squeezed says that something which outlives "changed files" had to be
	// shortened or left out: a signal that a new provider thread serves better.
	Squeezed bool
}
