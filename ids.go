package baton

import "strings"

// Every entity has an id of ours: a type prefix and a UUIDv7, such as
// "thr_01a22e96-9e0a-7571-a44e-4913f99f172c". Ids are minted at the edge and
// handed in; nothing in this package makes one. A native id is never an id of
// ours: see NativeRef.
type (
	ThreadID         string // thr_
	WorkspaceID      string // wsp_
	ProjectID        string // prj_
	MessageID        string // msg_
	RunID            string // run_
	AttemptID        string // att_
	NodeID           string // nod_
	SessionID        string // ses_
	ProviderThreadID string // pth_
	ProviderTurnID   string // ptn_
	DeliveryID       string // dlv_
	TransferID       string // trf_
	HandoffID        string // hnd_
	CheckpointID     string // chk_
	ScopeID          string // scp_
	RequestID        string // req_
	ArtifactID       string // art_
	ItemID           string // itm_
	EffectID         string // eff_
	CommandID        string // cmd_, made by the client
)

// The prefixes of ids, as NewID functions take them.
const (
	PrefixThread         = "thr"
	PrefixWorkspace      = "wsp"
	PrefixProject        = "prj"
	PrefixMessage        = "msg"
	PrefixRun            = "run"
	PrefixAttempt        = "att"
	PrefixNode           = "nod"
	PrefixSession        = "ses"
	PrefixProviderThread = "pth"
	PrefixProviderTurn   = "ptn"
	PrefixDelivery       = "dlv"
	PrefixTransfer       = "trf"
	PrefixHandoff        = "hnd"
	PrefixCheckpoint     = "chk"
	PrefixScope          = "scp"
	PrefixRequest        = "req"
	PrefixArtifact       = "art"
	PrefixItem           = "itm"
	PrefixEffect         = "eff"
	PrefixCommand        = "cmd"
)

// UUID returns the id without its prefix. Agents that want a UUID for what we
// give them (Claude's message uuid, a Codex item id) get this part, so that a
// native record can be traced back to the id of ours.
func UUID[T ~string](id T) string {
	_, uuid, ok := strings.Cut(string(id), "_")
	if !ok {
		return string(id)
	}
	return uuid
}

// Strength says how far a native id can be trusted to name the same thing again.
type Strength string

// The strengths of a native reference.
const (
	Strong Strength = "strong" // unique and stable across resume, fork and revert
	Weak   Strength = "weak"   // may repeat; look it up inside its scope, then by ordinal
	None   Strength = "none"   // the agent gives no id
)

// NativeRef is an agent's own id for something: evidence, never identity. It
// is always looked up inside a scope (provider thread, turn, item).
type NativeRef struct {
	ID       string   `json:"id,omitempty"`
	Strength Strength `json:"strength,omitempty"`
}
