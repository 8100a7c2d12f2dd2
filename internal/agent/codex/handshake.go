package codex

import (
	"bytes"
	"encoding/json"
	"strings"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// quiet are notifications that nothing is made of, by exact name. The diff of
// a turn repeats whole at each change.
var quiet = []string{
	"account/rateLimits/updated", "app/list/updated", "item/commandExecution/terminalInteraction",
	"item/fileChange/outputDelta", "item/fileChange/patchUpdated", "item/reasoning/textDelta", "remoteControl/status/changed",
	"skills/changed", "thread/goal/cleared", "thread/readState/changed", "thread/started", "thread/status/changed",
	"turn/diff/updated",
}

func (m *machine) start() {
	if m.s.Phase != phaseNew {
		return
	}
	if err := checkSettings(m.s.Spec.Settings); err != nil {
		m.fail(err)
		return
	}
	m.s.Phase = phaseInit
	m.setDeadline(deadlineHandshake, answerTime)
	version := m.s.Spec.ClientVersion
	if version == "" {
		version = "0"
	}
	m.call(call{Kind: callInitialize}, "initialize", map[string]any{
		"clientInfo": map[string]any{"name": "baton", "title": "Baton", "version": version},
		"capabilities": map[string]any{
			"experimentalApi": true, "requestAttestation": false, "optOutNotificationMethods": quiet,
		},
	})
}

// initialized checks the version, which stands in the user agent behind our
// own name: "baton/0.171.0 (Debian 12.0.0; x86_64) …".
func (m *machine) initialized(msg jsonl.Message) {
	if msg.Error != nil {
		m.fail(baton.Errorf(baton.CodeStartFailed, "codex refused the handshake").WithDetail("%s", msg.Error.Message).
			WithHint("check with baton doctor that codex is %s or newer", minVersion))
		return
	}
	r := decode[struct {
		UserAgent string `json:"userAgent"`
	}](msg.Result)
	_, rest, _ := strings.Cut(r.UserAgent, "/")
	m.s.Version, _, _ = strings.Cut(rest, " ")
	switch older, ok := agent.Older(m.s.Version, minVersion); {
	case !ok:
		m.notice("version", 1, baton.FactNotice{Level: "warning", Code: baton.CodeAgentTooOld,
			Text: "Codex does not tell its version (" + agent.Head(r.UserAgent, 80) + "); it may be too old"})
	case older:
		m.fail(baton.Errorf(baton.CodeAgentTooOld, "codex %s is too old", m.s.Version).
			WithDetail("%s is the oldest that is supported", minVersion).
			WithHint("update codex, for example with npm install -g @openai/codex"))
		return
	}
	m.write(map[string]any{"method": "initialized"})
	m.s.Phase = phaseConfig
	m.call(call{Kind: callConfig}, "config/read", map[string]any{"cwd": m.s.Spec.Dir})
}

// configured keeps what a setting goes back to when it is left empty. Where
// the configuration can't be read, opening the thread says why.
func (m *machine) configured(msg jsonl.Message) {
	r := decode[struct {
		Config struct {
			Approval    json.RawMessage `json:"approval_policy"`
			Sandbox     string          `json:"sandbox_mode"`
			Workspace   *workspaceWrite `json:"sandbox_workspace_write"`
			Permissions string          `json:"default_permissions"`
			Model       string          `json:"model"`
			Effort      string          `json:"model_reasoning_effort"`
		} `json:"config"`
	}](msg.Result)
	c := r.Config
	m.s.Own = ownConfig{Sandbox: c.Sandbox, Workspace: c.Workspace, Permissions: c.Permissions, Model: c.Model, Effort: c.Effort}
	if len(c.Approval) > 0 && string(c.Approval) != "null" && len(c.Approval) < 1<<10 {
		m.s.Own.Approval = compact(c.Approval)
	}
	m.s.Phase = phaseOpen
	params := map[string]any{"cwd": m.s.Spec.Dir}
	m.threadSettings(params, m.s.Spec.Settings)
	if m.s.Spec.NativeID == "" {
		m.call(call{Kind: callOpen}, "thread/start", params)
		return
	}
	params["threadId"], params["excludeTurns"] = m.s.Spec.NativeID, true
	m.call(call{Kind: callOpen}, "thread/resume", params)
}

// opened takes the answer to thread/start or thread/resume.
func (m *machine) opened(msg jsonl.Message) {
	resume := m.s.Spec.NativeID != ""
	if msg.Error != nil {
		m.openFailed(resume, *msg.Error)
		return
	}
	r := decode[struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
		Model string `json:"model"`
	}](msg.Result)
	switch {
	case r.Thread.ID == "":
		m.fail(baton.Errorf(baton.CodeStartFailed, "codex opened a conversation without an id").
			WithHint("check with baton doctor that this version of codex is supported"))
		return
	case resume && r.Thread.ID != m.s.Spec.NativeID:
		m.s.Phase = phaseFailed
		m.setDeadline(deadlineHandshake, 0)
		m.fact(baton.FactResumeFailed{Class: baton.ResumeOther, Detail: "codex opened another conversation: " + r.Thread.ID})
		return
	}
	m.s.Thread, m.s.Model, m.s.Phase = r.Thread.ID, r.Model, phaseReady
	m.setDeadline(deadlineHandshake, 0)
	m.fact(baton.FactSessionReady{AgentVersion: m.s.Version, NativeID: r.Thread.ID, Strength: baton.Strong, Resumed: resume})
}

func (m *machine) openFailed(resume bool, e jsonl.RPCError) {
	switch {
	case strings.Contains(e.Message, "failed to load configuration"):
		m.fail(baton.Errorf(baton.CodeStartFailed, "codex can't read its configuration").WithDetail("%s", e.Message).
			WithHint("correct codex's config.toml at the place that is named"))
	case resume:
		m.s.Phase = phaseFailed
		m.setDeadline(deadlineHandshake, 0)
		m.fact(baton.FactResumeFailed{Class: resumeFailure(e), Detail: e.Message})
	default:
		m.fail(baton.Errorf(baton.CodeStartFailed, "codex could not open a conversation").WithDetail("%s", e.Message).
			WithHint("check the provider's settings and codex's own configuration"))
	}
}

// resumeFailure classifies by the text, since nearly every error of codex
// 0.171.0 has the code -32600.
func resumeFailure(e jsonl.RPCError) baton.ResumeFailure {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(e.Message, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("already has an active writer"):
		return baton.ResumeInUse
	case has("missing source rollout", "failed to read", "invalid paginated history") || e.Code == -32603:
		return baton.ResumeDamaged
	case has("no rollout found", "not found", "invalid session id", "invalid thread id"):
		return baton.ResumeNotFound
	}
	return baton.ResumeOther // an archived one, say
}

// compact removes the space in raw JSON, so that it survives being stored
// unchanged.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}
