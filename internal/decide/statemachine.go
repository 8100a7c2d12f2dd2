package decide

import (
	"fmt"
	"slices"
	"strings"

	"baton"
)

// StateMachine renders the transition tables of package baton as Markdown: the
// page docs/state_machine.md. It changes only when a table does.
func StateMachine() string {
	var b strings.Builder
	b.WriteString(`# The state machines

<!-- Generated from the tables in states.go. Write it again with: make generate -->

Every event of a thread is held to these tables: by the decision that makes it, and by every fold that reads it back.
An event that would break one is refused. A state marked with ∎ is an end: nothing but a rollback may follow.
What is derived when it is read has no state here: a run that waits for a person, a session at work, a provider thread
with an open turn.

`)
	tables := Tables()
	for _, t := range tables {
		fmt.Fprintf(&b, "- [%s](#%s)\n", t.Name, strings.ReplaceAll(t.Name, " ", "-"))
	}
	for _, t := range tables {
		t.render(&b)
	}
	return b.String()
}

// Table is one transition table in a form without types.
type Table struct {
	Name   string // of the entity, as the glossary has it
	About  string
	States []string            // in the order in which they are reached
	Next   map[string][]string // "" holds the states of birth
	Ended  map[string]bool
}

// Tables returns all transition tables, in the order of the page.
func Tables() []Table {
	return []Table{
		table("thread", "A deleted thread keeps what its forks inherit.", baton.ThreadTransitions),
		table("run", "`finalizing` is the completion barrier: text, requests, the attempt and the run end in this order. "+
			"`cancelled` means that the message has no run of its own: it never reached an agent, or another run's turn took it.", baton.RunTransitions),
		table("attempt", "An attempt that is planned anew before its turn began is `superseded`.", baton.AttemptTransitions),
		table("node", "A `detached` node lives on after its run has ended.", baton.NodeTransitions),
		table("session", "`stopped` ended as asked; `error` ended by itself, or never came up.", baton.SessionTransitions),
		table("provider thread", "The marks `divergent` and `head` stand beside the state.", baton.ProviderThreadTransitions),
		table("provider turn", "", baton.TurnTransitions),
		table("delivery", "`offered`: no byte may have left. `written`: bytes may have arrived. `uncertain`: its session is gone and evidence is being looked for.",
			baton.DeliveryTransitions),
		table("request", "", baton.RequestTransitions),
		table("transfer", "", baton.TransferTransitions),
		table("handoff", "", baton.HandoffTransitions),
	}
}

func table[S ~string](name, about string, t baton.Transitions[S]) Table {
	out := Table{Name: name, About: about, Next: map[string][]string{}, Ended: map[string]bool{}}
	for from, all := range t {
		for _, to := range all {
			out.Next[string(from)] = append(out.Next[string(from)], string(to))
		}
	}
	for queue := out.Next[""]; len(queue) > 0; queue = queue[1:] {
		if s := queue[0]; !slices.Contains(out.States, s) {
			out.States = append(out.States, s)
			out.Ended[s] = t.Ended(S(s))
			queue = slices.Concat(queue, out.Next[s])
		}
	}
	return out
}

func (t Table) render(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n", t.Name)
	if t.About != "" {
		fmt.Fprintf(b, "%s\n\n", t.About)
	}
	b.WriteString("| from | to |\n|---|---|\n")
	row := func(from string, to []string) {
		fmt.Fprintf(b, "| %s | %s |\n", from, strings.Join(to, " · "))
	}
	row("*(made)*", t.Next[""])
	for _, s := range t.States {
		name := s
		if t.Ended[s] {
			name += " ∎"
		}
		next := t.Next[s]
		if len(next) == 0 {
			next = []string{"–"}
		}
		row(name, next)
	}
	b.WriteString("\n```mermaid\nstateDiagram-v2\n")
	for _, s := range t.Next[""] {
		fmt.Fprintf(b, "    [*] --> %s\n", s)
	}
	for _, s := range t.States {
		for _, to := range t.Next[s] {
			fmt.Fprintf(b, "    %s --> %s\n", s, to)
		}
		if t.Ended[s] {
			fmt.Fprintf(b, "    %s --> [*]\n", s)
		}
	}
	b.WriteString("```\n")
}
