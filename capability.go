package baton

// Capabilities is what a driver claims that its agent can do. Everything above
// a driver asks these, never names. Resume is none of them: every driver has
// it, and it may fail at run time.
type Capabilities struct {
	// turns
	Steer     bool `json:"steer"`     // takes input into a running turn
	Interrupt bool `json:"interrupt"` // ends a turn when asked, and says so
	// threads
	NativeFork  bool `json:"native_fork"`
	ForkAtPoint bool `json:"fork_at_point"`
	Revert      bool `json:"revert"`
	// approvals and questions
	Approvals       bool `json:"approvals"`
	SessionApproval bool `json:"session_approval"` // "for this session"
	Questions       bool `json:"questions"`
	// planning
	Todos bool `json:"todos"`
	Plans bool `json:"plans"`
	// context
	Injection InjectionMode `json:"injection"`
	// subagents
	Subagents bool `json:"subagents"`
	// settings
	Settings SettingChanges `json:"settings"`
	// evidence: an uncertain delivery can be looked up where the agent keeps
	// its conversations
	Evidence bool `json:"evidence"`
}

// SettingChanges says of each setting of a run when a changed value takes effect.
type SettingChanges struct {
	Model          SettingChange `json:"model"`
	Effort         SettingChange `json:"effort"`
	PermissionMode SettingChange `json:"permission_mode"`
}

// SettingChange is when an agent takes a changed setting.
type SettingChange string

// The moments.
const (
	ChangeLive     SettingChange = "live"      // with the next turn
	ChangeOnResume SettingChange = "on_resume" // its process has to be started again
	ChangeInNew    SettingChange = "in_new"    // only a new conversation takes it: the old one is incompatible
	ChangeNone     SettingChange = "none"      // it takes no such setting
)

// InjectionMode is how a handoff reaches an agent.
type InjectionMode string

// The injection modes, as a handoff's delivery shows them.
const (
	InjectDeveloper     InjectionMode = "developer"
	InjectSystem        InjectionMode = "system"
	InjectSyntheticUser InjectionMode = "synthetic_user"
	InjectPreamble      InjectionMode = "preamble" // a delimited block before the person's text
)
