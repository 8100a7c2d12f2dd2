package handoff

import "baton"

// Shape is the version of Document.
const Shape = 1

// Author is who made the documents of this package: no model had a part in it.
const Author = "local"

// Document is the structure of a handoff, after shortening and redaction. Its
// text is a function of it (Render). A section without entries is absent.
type Document struct {
	Shape    int             `json:"shape"`
	Thread   baton.ThreadID  `json:"thread_id"`
	Strategy baton.Strategy  `json:"strategy"`
	From     []string        `json:"from"`
	To       string          `json:"to"`
	Covered  baton.Intervals `json:"covered"`
	Known    baton.Intervals `json:"known,omitempty"` // of those, not told again
	Author   string          `json:"author"`
	Sections []Section       `json:"sections"`
	LeftOut  LeftOut         `json:"left_out"`
}

// SectionName names a section.
type SectionName string

// The sections, in the order of the document.
const (
	SectionTitle       SectionName = "title"
	SectionMessages    SectionName = "messages"
	SectionDecisions   SectionName = "decisions"
	SectionConclusions SectionName = "conclusions"
	SectionFiles       SectionName = "files"
	SectionCommands    SectionName = "commands"
	SectionFailures    SectionName = "failures"
	SectionSubagents   SectionName = "subagents"
	SectionPlan        SectionName = "plan"
	SectionTodo        SectionName = "todo"
	SectionRequests    SectionName = "requests"
	SectionRecent      SectionName = "recent"
)

// sections is the order, with the heading of each.
var sections = []struct {
	name    SectionName
	heading string
}{
	{SectionTitle, "THREAD TITLE"},
	{SectionMessages, "THE PERSON'S MESSAGES, WORD FOR WORD"},
	{SectionDecisions, "DECISIONS"},
	{SectionConclusions, "HOW EACH RUN CONCLUDED (its last message)"},
	{SectionFiles, "FILES CHANGED, AS THE AGENTS REPORTED (not checked against the disk)"},
	{SectionCommands, "COMMANDS, WITH THEIR LATEST OUTCOME"},
	{SectionFailures, "KNOWN FAILURES"},
	{SectionSubagents, "RESULTS OF SUBAGENTS"},
	{SectionPlan, "PLAN, AS OF NOW"},
	{SectionTodo, "TODO LIST, AS OF NOW"},
	{SectionRequests, "OPEN REQUESTS, AS OF NOW"},
	{SectionRecent, "MORE OF THE NEWEST RUNS"},
}

// Section is the entries of one sort, oldest first.
type Section struct {
	Name    SectionName `json:"name"`
	Entries []Entry     `json:"entries"`
}

// Entry is one thing that the document tells. All but its quotes are words of
// Baton's own, or names reduced to harmless ones.
type Entry struct {
	Run      int          `json:"run,omitempty"`
	Item     baton.ItemID `json:"item_id,omitempty"`
	Who      string       `json:"who,omitempty"`  // provider, author, or who answered
	Kind     string       `json:"kind,omitempty"` // what it is, where the section does not say
	Status   string       `json:"status,omitempty"`
	ExitCode *int         `json:"exit_code,omitempty"`
	Quotes   []Quote      `json:"quotes,omitempty"`
}

// Quote is text from elsewhere: data. Where CutBytes is set, that many bytes
// are left out between Text and Tail.
type Quote struct {
	Of       string `json:"of,omitempty"` // what it is, where the entry does not say
	Text     string `json:"text"`
	CutBytes int    `json:"cut_bytes,omitempty"`
	Tail     string `json:"tail,omitempty"`
}

// LeftOut is what the document does not hold. Hidden reasoning and Baton's own
// notes are not counted.
type LeftOut struct {
	Count     int             `json:"count"`
	Runs      baton.Intervals `json:"runs"`                // whose they are, the newest MaxOmitted intervals
	ItemIDs   []baton.ItemID  `json:"item_ids,omitempty"`  // the newest MaxOmitted of them
	Shortened int             `json:"shortened"`           // quotes that are head and tail only, here or already in the thread
	Tool      string          `json:"read_with,omitempty"` // the tool that can read it
}

// section returns the entries of a section, or nil.
func (d Document) section(name SectionName) []Entry {
	for _, s := range d.Sections {
		if s.Name == name {
			return s.Entries
		}
	}
	return nil
}
