package acp

import (
	"time"

	"baton"
	"baton/internal/agent"
)

// Times of the protocol machine. They are set as deadlines, from the time of
// the input that starts them.
const (
	HandshakeTimeout = 60 * time.Second
	QuietAfterLoad   = time.Second
)

// Options is what differs between the agents that speak ACP.
type Options struct {
	Capabilities baton.Capabilities
	MinVersion   string
	VersionArgs  []string
	Env          map[string]string
	Pass         []string // variables of the server's environment that the agent needs
	// Evidence looks a delivery up where the agent keeps its conversations; nil
	// where that is not known. See agent.EvidenceFinder.
	Evidence func(agent.EvidenceQuery) (baton.Verdict, string)
}

// Default are the capabilities that an ACP agent is taken to have: what the
// protocol gives to all of them.
var Default = baton.Capabilities{
	Interrupt: true, Approvals: true, SessionApproval: true, Questions: true,
	Todos: true, Subagents: true, Injection: baton.InjectPreamble,
	Settings: baton.SettingChanges{Model: baton.ChangeNone, Effort: baton.ChangeNone, PermissionMode: baton.ChangeNone},
}

// New makes the driver of the agents that are configured under name. With
// Options.Evidence it is an agent.EvidenceFinder too.
func New(name string, opts Options) agent.Driver {
	d := driver{name: name, opts: opts}
	if opts.Evidence != nil {
		d.opts.Capabilities.Evidence = true
		return evidenceDriver{d}
	}
	return d
}

type driver struct {
	name string
	opts Options
}

func (d driver) Name() string                     { return d.name }
func (d driver) Capabilities() baton.Capabilities { return d.opts.Capabilities }
func (d driver) MinVersion() string               { return d.opts.MinVersion }
func (d driver) VersionArgs() []string            { return d.opts.VersionArgs }

// Launch adds nothing to the provider's command: how an agent is told to speak
// ACP (`--acp`, `acp`) differs, and belongs into its command.
func (d driver) Launch(spec agent.Spec) agent.Launch {
	return agent.Launch{Argv: spec.Command, Env: d.opts.Env, Pass: d.opts.Pass}
}

func (d driver) New(spec agent.Spec) agent.Machine {
	return &machine{s: state{V: stateVersion, Spec: spec, Stage: stageNew}}
}

func (d driver) Load(data []byte) (agent.Machine, error) {
	m := &machine{}
	if err := agent.LoadState("an ACP agent", data, stateVersion, &m.s); err != nil {
		return nil, err
	}
	return m, nil
}

type evidenceDriver struct{ driver }

func (d evidenceDriver) FindEvidence(q agent.EvidenceQuery) (baton.Verdict, string) {
	return d.opts.Evidence(q)
}
