package export

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"baton"
	"baton/internal/journal"
)

type thread struct {
	Title, State, Dir, Provider string
	CreatedAt                   *time.Time `json:"created_at"`
	UpdatedAt                   *time.Time `json:"updated_at"`
}

type run struct {
	ID, Status, Provider, Trigger string
	Ordinal                       int
	MessageID                     string `json:"message_id"`
	Settings                      baton.Settings
	Error                         *baton.Error
	StartedAt                     *time.Time `json:"started_at"`
	EndedAt                       *time.Time `json:"ended_at"`
}

type message struct{ ID, Text, Author string }

type item struct {
	ID    string
	RunID string `json:"run_id"`
	Kind  baton.ItemKind
	Open  bool
	Body  baton.ItemBody
}

type request struct {
	ID, Kind, Status, Title, Detail, Decision, Reason string
	RunID                                             string `json:"run_id"`
	ItemID                                            string `json:"item_id"`
	AnsweredBy                                        string `json:"answered_by"`
	Answers                                           map[string][]string
}

type handoff struct {
	ID, Status, Strategy, Text, Digest string
	RunID                              string `json:"run_id"`
	Tokens                             int    `json:"estimated_tokens"`
	Covered                            baton.Intervals
}

// page writes one thread.
type page struct {
	strings.Builder
	items    map[string][]item // by run, "" for none
	messages map[string]message
	requests map[string][]request // by run
	handoffs map[string][]handoff // by run
	told     map[string]bool      // requests and handoffs that stand on the page
}

// Markdown is the document as a page for people.
func Markdown(d *Document) (string, error) {
	threads, err := docs[thread](d, journal.KindThread)
	if err != nil {
		return "", err
	}
	runs, err := docs[run](d, journal.KindRun)
	if err != nil {
		return "", err
	}
	p := &page{items: map[string][]item{}, messages: map[string]message{}, requests: map[string][]request{}, handoffs: map[string][]handoff{}, told: map[string]bool{}}
	if err := p.fill(d); err != nil {
		return "", err
	}
	p.head(d, threads[0], len(runs))
	for _, r := range runs {
		p.run(r)
	}
	if rest := p.items[""]; len(rest) > 0 {
		p.WriteString("\n## Beside the runs\n")
		for _, it := range rest {
			p.item(it)
		}
	}
	p.left("")
	return p.String(), nil
}

func (p *page) fill(d *Document) error {
	items, err := docs[item](d, journal.KindItem)
	if err != nil {
		return err
	}
	for _, it := range items {
		p.items[it.RunID] = append(p.items[it.RunID], it)
	}
	messages, err := docs[message](d, journal.KindMessage)
	if err != nil {
		return err
	}
	for _, m := range messages {
		p.messages[m.ID] = m
	}
	requests, err := docs[request](d, journal.KindRequest)
	if err != nil {
		return err
	}
	for _, q := range requests {
		p.requests[q.RunID] = append(p.requests[q.RunID], q)
	}
	handoffs, err := docs[handoff](d, journal.KindHandoff)
	for _, h := range handoffs {
		p.handoffs[h.RunID] = append(p.handoffs[h.RunID], h)
	}
	return err
}

func (p *page) linef(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// block is a text under a label, and nothing where there is no text.
func (p *page) block(label, kind, text string) {
	if text != "" {
		p.linef("\n%s\n", label)
		p.WriteString(fence(kind, text))
	}
}

func (p *page) head(d *Document, t thread, runs int) {
	title := inline(t.Title)
	if title == "" {
		title = "A thread without a title"
	}
	p.linef("# %s\n", title)
	p.linef("- Thread: %s, %s", code(string(d.ThreadID)), inline(t.State))
	p.linef("- Directory: %s", code(t.Dir))
	p.linef("- Made: %s, last changed: %s", when(t.CreatedAt), when(t.UpdatedAt))
	p.linef("- Runs: %d", runs)
	p.linef("- Exported: %s; %s taken out", when(&d.ExportedAt), counted(d.Redactions, "secret was", "secrets were"))
}

func (p *page) run(r run) {
	p.linef("\n## Run %d: %s, %s\n", r.Ordinal, inline(r.Provider), inline(r.Status))
	line := fmt.Sprintf("%s, from %s to %s", code(r.ID), when(r.StartedAt), when(r.EndedAt))
	for _, s := range [][2]string{{"model", r.Settings.Model}, {"effort", r.Settings.Effort}, {"permission mode", r.Settings.PermissionMode}} {
		if s[1] != "" {
			line += ", " + s[0] + " " + code(s[1])
		}
	}
	p.linef("%s", line)
	items := p.items[r.ID]
	if m, ok := p.messages[r.MessageID]; ok && !slices.ContainsFunc(items, func(it item) bool { return it.Kind == baton.ItemUserMessage }) {
		p.block("**Message** of "+code(m.Author)+", given to no agent", "text", m.Text)
	}
	for _, it := range items {
		p.item(it)
	}
	p.left(r.ID)
	if r.Error != nil {
		p.linef("\n**Error** %s: %s", code(string(r.Error.Code)), inline(r.Error.Error()))
	}
}

// left writes the requests and handoffs of a run that no item has shown.
func (p *page) left(run string) {
	for _, q := range p.requests[run] {
		p.request(q)
	}
	for _, h := range p.handoffs[run] {
		p.handoff(h)
	}
}

func (p *page) request(q request) {
	if p.told[q.ID] {
		return
	}
	p.told[q.ID] = true
	line := fmt.Sprintf("**Request** %s, %s: %s", inline(q.Kind), inline(q.Status), inline(q.Title))
	if q.Decision != "" {
		line += ", answered " + code(q.Decision)
	}
	if q.AnsweredBy != "" {
		line += " by " + code(q.AnsweredBy)
	}
	p.linef("\n%s", line)
	p.block("Detail:", "text", q.Detail)
	p.block("Reason:", "text", q.Reason)
	var answers []string
	for key, values := range q.Answers {
		answers = append(answers, key+": "+strings.Join(values, ", "))
	}
	slices.Sort(answers)
	p.block("Answers:", "text", strings.Join(answers, "\n"))
}

func (p *page) handoff(h handoff) {
	if p.told[h.ID] {
		return
	}
	p.told[h.ID] = true
	var runs []string
	for _, i := range h.Covered {
		runs = append(runs, fmt.Sprintf("%d–%d", i.From, i.To))
	}
	p.linef("\n**Handoff** %s, %s: %s over the runs %s, about %d tokens, %s", code(h.ID), inline(h.Status), inline(h.Strategy), orNone(strings.Join(runs, ", ")), h.Tokens, code(h.Digest))
	p.block("Its text:", "text", h.Text)
}

func orNone(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
