package decide

import (
	"slices"

	"baton"
	"baton/internal/handoff"
)

// wish is a run that is to be planned.
type wish struct {
	provider Provider
	settings baton.Settings
	clean    bool
	squeezed []baton.ProviderThreadID // what it misses does not fit into these
	text     string                   // the message, which needs room too
}

// Preview is how a message would go to its agent now.
type Preview struct {
	Provider string
	Plan     handoff.Plan
	// Build makes the document; nil where there is nothing to hand over.
	Build *baton.EffectBuildHandoff
	// Drafts go along: handoffs that a person had made again.
	Drafts []baton.HandoffID
	// Behind: the message would be queued, and planned when it starts.
	Behind bool
}

// PreviewOf plans a message as Command would, on a state that it does not
// change. Squeezed are conversations that the document turned out not to fit
// into: see baton.FactHandoffBuilt.
func PreviewOf(s *State, env Env, data baton.CommandSend, squeezed []baton.ProviderThreadID) (Preview, error) {
	w, err := s.wish(env, data)
	if err != nil {
		return Preview{}, err
	}
	w.squeezed = squeezed
	plan := s.plan(env, w)
	p := Preview{Provider: w.provider.Name, Plan: plan, Behind: s.behind()}
	for _, h := range s.Handoffs {
		if h.Draft && h.Run == "" && h.To == plan.ProviderThread {
			p.Drafts = append(p.Drafts, h.ID)
		}
	}
	if !plan.Covered.Empty() && plan.Strategy != baton.StrategyRefused {
		build := s.build(env, w, plan)
		p.Build = &build
	}
	return p, nil
}

// wish resolves what a message leaves open: the provider and its settings.
func (s *State) wish(env Env, data baton.CommandSend) (wish, error) {
	name := s.chooseProvider(env, data.Provider)
	p, err := env.Provider(name)
	if err != nil {
		return wish{}, err
	}
	if err := takes(p, data.Settings); err != nil {
		return wish{}, err
	}
	settings := data.Settings
	if name == s.Last.Provider {
		settings = settings.Or(s.Last.Settings)
	} else { // what was chosen for it stays, whoever did the runs between
		for _, p := range s.ProviderThreads {
			if p.Provider == name && p.Settings != (baton.Settings{}) {
				settings = data.Settings.Or(p.Settings)
			}
		}
	}
	settings = settings.Or(baton.Settings{PermissionMode: s.Settings.PermissionMode, Effort: s.Settings.Effort})
	if name == s.Provider || s.Provider == "" {
		settings = settings.Or(s.Settings)
	}
	return wish{provider: p, settings: settings.Or(p.Settings), clean: data.CleanContext, text: data.Text}, nil
}

// takes refuses a setting that the agent has no way to be told.
func takes(p Provider, s baton.Settings) error {
	for _, f := range fields(p, s, baton.Settings{}) {
		if f.value != "" && f.change == baton.ChangeNone {
			return baton.Errorf(baton.CodeUnsupported, "%s takes no %s", p.Name, f.name).
				WithDetail("its agent has no way to be told %q; the message was not sent and nothing was changed", f.value).
				WithHint("send it without, or to another provider")
		}
	}
	return nil
}

// field is one setting of two compared.
type field struct {
	name       string
	value, was string
	change     baton.SettingChange
}

func fields(p Provider, s, was baton.Settings) []field {
	c := p.Capabilities.Settings
	return []field{
		{"model", s.Model, was.Model, c.Model},
		{"effort", s.Effort, was.Effort, c.Effort},
		{"permission mode", s.PermissionMode, was.PermissionMode, c.PermissionMode},
	}
}

// changed returns the name of a setting that takes effect only in the given way
// and differs, or "".
func changed(p Provider, s, was baton.Settings, change baton.SettingChange) string {
	for _, f := range fields(p, s, was) {
		if f.change == change && f.value != "" && f.value != f.was {
			return f.name
		}
	}
	return ""
}

// plan chooses the provider thread of the next run, and what must be handed over.
func (s *State) plan(env Env, w wish) handoff.Plan {
	var candidates []handoff.Candidate
	for _, p := range s.ProviderThreads {
		incompatible := ""
		if p.Provider == w.provider.Name && !p.Covered.Empty() {
			incompatible = changed(w.provider, w.settings, p.Settings, baton.ChangeInNew)
		}
		candidates = append(candidates, handoff.Candidate{ID: p.ID, Provider: p.Provider, Status: p.Status, Divergent: p.Divergent,
			Native: p.Covered, HandedOver: p.HandedOver, Chain: p.Chain, LastUsed: max(p.Covered.Last(), p.HandedOver.Last()),
			Resumable: p.Native.ID != "", Incompatible: incompatible, Squeezed: slices.Contains(w.squeezed, p.ID)})
	}
	policy := env.Policy.Handoff
	policy.Clean, policy.Never = w.clean, w.provider.HandoffNever
	return handoff.Choose(w.provider.Name, s.Surviving, s.Ordinal, candidates, policy)
}

// build is the making of the plan's document, for no run yet.
func (s *State) build(env Env, w wish, plan handoff.Plan) baton.EffectBuildHandoff {
	return baton.EffectBuildHandoff{Strategy: plan.Strategy, Covered: plan.Covered, Known: plan.Known(), To: plan.ProviderThread,
		Target: w.provider.Name, Budget: s.budget(env, w, plan.ProviderThread)}
}

// budget is how many tokens a document into the provider thread may have.
func (s *State) budget(env Env, w wish, into baton.ProviderThreadID) int {
	tokens := w.provider.HandoffTokens
	if tokens == 0 {
		tokens = env.Policy.HandoffTokens
	}
	var window, held int64
	for _, p := range s.ProviderThreads {
		if p.Provider == w.provider.Name && p.Window != 0 {
			window = p.Window
		}
		if p.ID == into {
			held = p.Held
		}
	}
	return handoff.Budget(tokens, window, held, w.text)
}

// wishOf is the wish of a run that was accepted.
func (d *Decider) wishOf(r *Run) (wish, error) {
	p, err := d.env.Provider(r.Provider)
	return wish{provider: p, settings: r.Settings, clean: r.Clean, squeezed: r.Squeezed, text: r.Text}, err
}

// refused is why a run can't go to a provider that takes no handoff.
func refused(provider string, plan handoff.Plan) *baton.Error {
	return baton.Errorf(baton.CodeUnsupported, "%s takes no handoff, and misses runs %s of this thread", provider, handoff.Ranges(plan.Missing)).
		WithDetail("its configuration says handoff = \"never\"; nothing was sent to it").
		WithHint("send the message to a provider that may be told, or change the configuration")
}
