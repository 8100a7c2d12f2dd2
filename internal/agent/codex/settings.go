package codex

import (
	"encoding/json"

	"baton"
)

// Settings stick to a codex thread: what one turn was given holds for the next,
// and thread/resume brings it back (codex 0.171.0). So a setting that is empty
// again is given as what codex's own configuration says, wherever something
// else may stick. "?" in state.Applied stands for "may be anything", after a resume.

const unknown = "?"

// ownConfig is what codex's own configuration says, from config/read.
type ownConfig struct {
	Approval    json.RawMessage `json:"approval,omitempty"`
	Sandbox     string          `json:"sandbox,omitempty"` // mode
	Workspace   *workspaceWrite `json:"workspace,omitempty"`
	Permissions string          `json:"permissions,omitempty"` // a named profile, instead of a sandbox
	Model       string          `json:"model,omitempty"`
	Effort      string          `json:"effort,omitempty"`
}

type workspaceWrite struct {
	WritableRoots       []string `json:"writable_roots"`
	NetworkAccess       bool     `json:"network_access"`
	ExcludeTmpdirEnvVar bool     `json:"exclude_tmpdir_env_var"`
	ExcludeSlashTmp     bool     `json:"exclude_slash_tmp"`
}

const (
	sandboxReadOnly   = "read-only"
	sandboxWorkspace  = "workspace-write"
	sandboxFullAccess = "danger-full-access"
)

// mode is what a permission mode means to codex; an empty field is codex's own.
type mode struct {
	approval string
	sandbox  string
	plan     bool
}

var modes = map[string]mode{
	"":            {},
	"ask":         {approval: "on-request", sandbox: sandboxWorkspace},
	"read-only":   {approval: "on-request", sandbox: sandboxReadOnly},
	"untrusted":   {approval: "untrusted"},
	"plan":        {approval: "on-request", sandbox: sandboxReadOnly, plan: true},
	"full-access": {approval: "never", sandbox: sandboxFullAccess},
}

// checkSettings refuses a permission mode that codex has no meaning for.
func checkSettings(s baton.Settings) *baton.Error {
	if _, ok := modes[s.PermissionMode]; ok {
		return nil
	}
	return baton.Errorf(baton.CodeInvalid, "codex has no permission mode %q", s.PermissionMode).
		WithHint("choose ask, read-only, untrusted, plan or full-access, or none for codex's own configuration")
}

// ownApproval is codex's own approval policy; its default follows the trust.
func (m *machine) ownApproval() json.RawMessage {
	switch {
	case len(m.s.Own.Approval) > 0:
		return m.s.Own.Approval
	case m.s.Spec.Trusted:
		return json.RawMessage(`"on-request"`)
	}
	return json.RawMessage(`"untrusted"`)
}

func (m *machine) ownSandbox() string {
	if m.s.Own.Sandbox != "" {
		return m.s.Own.Sandbox
	}
	return sandboxWorkspace
}

// threadSettings adds what thread/start and thread/resume take of s to params.
func (m *machine) threadSettings(params map[string]any, s baton.Settings) {
	resume := m.s.Spec.NativeID != ""
	if s.Model != "" {
		params["model"] = s.Model
	} else if resume && m.s.Own.Model != "" {
		params["model"] = m.s.Own.Model
	}
	want := modes[s.PermissionMode]
	if want.approval != "" {
		params["approvalPolicy"] = want.approval
	} else if resume {
		params["approvalPolicy"] = m.ownApproval()
	}
	switch {
	case want.sandbox != "":
		params["sandbox"] = want.sandbox
	case resume && m.s.Own.Permissions != "":
		params["permissions"] = m.s.Own.Permissions
	case resume:
		params["sandbox"] = m.ownSandbox()
	}
	m.s.Applied = s
	m.s.Applied.Effort = "" // taken by turns only
	if resume {
		m.s.Applied.Effort = unknown
		if m.s.Applied.PermissionMode == "" {
			m.s.Applied.PermissionMode = unknown // plan mode sticks too
		}
	}
}

// turnSettings adds what turn/start takes of s to params.
func (m *machine) turnSettings(params map[string]any, s baton.Settings) {
	was, want := m.s.Applied, modes[s.PermissionMode]
	changed := s.PermissionMode != "" || was.PermissionMode != ""
	if changed {
		params["approvalPolicy"] = m.ownApproval()
		if want.approval != "" {
			params["approvalPolicy"] = want.approval
		}
		switch {
		case want.sandbox != "":
			params["sandboxPolicy"] = m.sandboxPolicy(want.sandbox)
		case m.s.Own.Permissions != "":
			params["permissions"] = m.s.Own.Permissions
		default:
			params["sandboxPolicy"] = m.sandboxPolicy(m.ownSandbox())
		}
	}
	model, effort := s.Model, s.Effort
	if model == "" && was.Model != "" {
		model = m.s.Own.Model
	}
	if effort == "" && was.Effort != "" {
		effort = m.s.Own.Effort
	}
	if model != "" {
		params["model"] = model
	}
	if effort != "" {
		params["effort"] = effort
	}
	if want.plan || was.PermissionMode == "plan" || was.PermissionMode == unknown {
		m.collaboration(params, want.plan, model, effort)
	}
	m.s.Applied = s
}

// collaboration turns plan mode on or off. It takes precedence over model and
// effort, and needs a model.
func (m *machine) collaboration(params map[string]any, plan bool, model, effort string) {
	name := "default"
	if plan {
		name = "plan"
	}
	if model == "" {
		model = m.s.Model
	}
	settings := map[string]any{"model": model, "reasoning_effort": nil, "developer_instructions": nil}
	if effort != "" {
		settings["reasoning_effort"] = effort
	}
	params["collaborationMode"] = map[string]any{"mode": name, "settings": settings}
}

// sandboxPolicy is the form of a sandbox mode that turns take, with the
// person's own settings of it.
func (m *machine) sandboxPolicy(sandbox string) map[string]any {
	own := workspaceWrite{}
	if m.s.Own.Workspace != nil {
		own = *m.s.Own.Workspace
	}
	switch sandbox {
	case sandboxReadOnly:
		return map[string]any{"type": "readOnly", "networkAccess": false}
	case sandboxFullAccess:
		return map[string]any{"type": "dangerFullAccess"}
	}
	roots := own.WritableRoots
	if roots == nil {
		roots = []string{}
	}
	return map[string]any{
		"type": "workspaceWrite", "writableRoots": roots, "networkAccess": own.NetworkAccess,
		"excludeTmpdirEnvVar": own.ExcludeTmpdirEnvVar, "excludeSlashTmp": own.ExcludeSlashTmp,
	}
}
