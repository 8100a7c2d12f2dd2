package export

import (
	"fmt"
	"strings"

	"baton"
)

// item writes one entry of the timeline.
func (p *page) item(it item) {
	b := it.Body.Marked()
	open := ""
	if it.Open {
		open = " (not finished)"
	}
	switch it.Kind {
	case baton.ItemUserMessage:
		p.block("**Message** of "+code(b.Author), "text", b.Text)
	case baton.ItemAssistantMessage:
		p.block("**Answer**"+open, "markdown", b.Text)
	case baton.ItemReasoning:
		p.block("**Reasoning**"+open, "markdown", b.Text)
	case baton.ItemCommand:
		p.command(b, open)
	case baton.ItemFileChange:
		p.files(b, open)
	case baton.ItemTodo:
		p.linef("\n**Todo list**%s\n", open)
		for _, s := range b.Steps {
			mark := map[string]string{"completed": "x"}[s.Status]
			p.linef("- [%1s] %s (%s)", mark, inline(s.Text), inline(s.Status))
		}
	case baton.ItemHandoff:
		if !p.handoffOf(string(b.HandoffID)) {
			p.linef("\n**Handoff** %s", code(string(b.HandoffID)))
		}
	case baton.ItemApproval, baton.ItemQuestion:
		p.asked(it)
	case baton.ItemProviderSwitch:
		p.linef("\n**From %s to %s**", inline(b.From), inline(b.To))
	default:
		p.other(it.Kind, b, open)
	}
}

func (p *page) command(b baton.ItemBody, open string) {
	line := "**Command**" + open
	if b.ExitCode != nil {
		line += fmt.Sprintf(", exit status %d", *b.ExitCode)
	}
	if b.Cwd != "" {
		line += ", in " + code(b.Cwd)
	}
	p.block(line, "sh", b.Command)
	p.block("Output:", "text", b.Output)
}

func (p *page) files(b baton.ItemBody, open string) {
	p.linef("\n**Files**%s\n", open)
	for _, f := range b.Files {
		p.linef("- %s: %s, +%d −%d", code(f.Path), inline(f.Change), f.Additions, f.Deletions)
	}
	for _, f := range b.Files {
		p.block("Difference of "+code(f.Path)+":", "diff", f.Diff)
	}
	p.block("Output:", "text", b.Output)
}

// asked writes an approval or questions with what became of the request.
func (p *page) asked(it item) {
	for _, requests := range p.requests {
		for _, q := range requests {
			if q.ItemID == it.ID || q.ID == string(it.Body.RequestID) {
				p.request(q)
			}
		}
	}
	b := it.Body
	if !p.told[string(b.RequestID)] {
		p.linef("\n**Request** %s: %s", inline(string(it.Kind)), inline(b.Title))
	}
	p.block("Text:", "text", b.Text)
	var lines []string
	for _, q := range b.Questions {
		lines = append(lines, q.Text)
		for _, o := range q.Options {
			lines = append(lines, "  - "+o.Label)
		}
	}
	p.block("Questions:", "text", strings.Join(lines, "\n"))
	p.block("Answer:", "text", b.Answer)
}

func (p *page) handoffOf(id string) bool {
	for _, all := range p.handoffs {
		for _, h := range all {
			if h.ID == id {
				p.handoff(h)
				return true
			}
		}
	}
	return false
}

// other writes whatever the item has to say.
func (p *page) other(kind baton.ItemKind, b baton.ItemBody, open string) {
	label := strings.ReplaceAll(string(kind), "_", " ")
	line := "**" + inline(strings.ToUpper(label[:min(1, len(label))])+label[min(1, len(label)):]) + "**" + open
	for _, s := range []string{b.Tool, b.Title} {
		if s != "" {
			line += " " + inline(s)
		}
	}
	if b.Code != "" {
		line += " " + code(string(b.Code))
	}
	p.linef("\n%s", line)
	p.block("Input:", "json", b.Input)
	p.block("Text:", "text", b.Text)
	p.block("Output:", "text", b.Output)
	if b.Hint != "" {
		p.linef("\nHint: %s", inline(b.Hint))
	}
}
