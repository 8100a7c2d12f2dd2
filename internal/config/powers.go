package config

import "baton"

// Lack is something that an agent can't do, and what happens instead.
type Lack struct {
	What    string `json:"what"`
	Instead string `json:"instead"`
}

// powers says in words what a driver claims for its agent. What no part of Baton
// asks for yet, such as native forks, is left out.
func powers(c baton.Capabilities) (can []string, cannot []Lack) {
	for _, p := range []struct {
		has           bool
		what, instead string
	}{
		{c.Interrupt, "end a turn when asked", "its process is ended"},
		{c.Steer, "take a message into a running turn", "the message waits until the run has ended"},
		{c.Approvals, "ask before it acts", "it acts within its own sandbox, and nothing asks you"},
		{c.SessionApproval, "be allowed something for the life of its process", "each request is answered by itself"},
		{c.Questions, "ask questions with choices", "it asks in its answer, and your next message answers"},
		{c.Todos, "keep a list of what is to do", "no list is shown, never a guessed one"},
		{c.Plans, "propose a plan", "a plan is plain text in its answer"},
		{c.Subagents, "show its subagents", "their work shows as its own"},
		{c.Injection != "" && c.Injection != baton.InjectPreamble, "take a handoff as an entry of its own", "the handoff stands in a marked block before your text"},
		{c.Evidence, "prove whether a message arrived", "after a crash in that moment the thread goes on in a new conversation, which is told everything"},
	} {
		if p.has {
			can = append(can, p.what)
		} else {
			cannot = append(cannot, Lack{p.what, p.instead})
		}
	}
	if s := c.Settings; s.Model == baton.ChangeNone && s.Effort == baton.ChangeNone && s.PermissionMode == baton.ChangeNone {
		cannot = append(cannot, Lack{"be told a model, an effort or a permission mode", "it keeps those of its own configuration"})
	}
	return can, cannot
}
