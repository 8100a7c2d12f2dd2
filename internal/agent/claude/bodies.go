package claude

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"baton"
	"baton/internal/agent"
)

// Bounds of what an item shows beside its text and output.
const (
	maxDiff = 32 << 10
	maxArgs = 4 << 10
)

// args are the arguments of the tools that have items of their own kind.
type args struct {
	Command     string `json:"command"`
	Description string `json:"description"`
	Path        string `json:"file_path"`
	Notebook    string `json:"notebook_path"`
	Pattern     string `json:"pattern"`
	Query       string `json:"query"`
	Prompt      string `json:"prompt"`
	Plan        string `json:"plan"`
	Todos       []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"todos"`
	Questions []struct {
		Question string                 `json:"question"`
		Header   string                 `json:"header"`
		Multi    bool                   `json:"multiSelect"`
		Options  []baton.QuestionOption `json:"options"`
	} `json:"questions"`
}

func (a args) path() string {
	if a.Path != "" {
		return a.Path
	}
	return a.Notebook
}

// callBody is what an item shows when its call begins.
func callBody(kind baton.ItemKind, c content) baton.ItemBody {
	var a args
	loose(c.Input, &a)
	switch kind {
	case baton.ItemCommand:
		return baton.ItemBody{Command: a.Command, Title: agent.Head(a.Description, maxSubject)}
	case baton.ItemFileChange:
		change := "modify"
		if c.Name == "Write" {
			change = "add" // until the result says that the file was there
		}
		return baton.ItemBody{Tool: c.Name, Files: []baton.FileChange{{Path: a.path(), Change: change}}}
	case baton.ItemSearch:
		return baton.ItemBody{Tool: c.Name, Title: agent.Head(a.Pattern+a.Query, maxSubject), Input: arguments(c.Input)}
	case baton.ItemTodo:
		var steps []baton.TodoStep
		for _, t := range a.Todos {
			steps = append(steps, baton.TodoStep{Text: t.Content, Status: t.Status})
		}
		return baton.ItemBody{Steps: steps}
	case baton.ItemSubagent:
		return baton.ItemBody{Tool: c.Name, Title: agent.Head(a.Description, maxSubject), Input: agent.Head(a.Prompt, maxArgs)}
	case baton.ItemPlan:
		return baton.ItemBody{Text: a.Plan}
	}
	return baton.ItemBody{Tool: c.Name, Input: arguments(c.Input)}
}

func arguments(raw json.RawMessage) string { return agent.Head(string(raw), maxArgs) }

// toolUseResult is the structured side of a result. Results of a subagent's
// calls have none.
type toolUseResult struct {
	Stdout         *string `json:"stdout"`
	Stderr         string  `json:"stderr"`
	Interrupted    bool    `json:"interrupted"`
	Meaning        string  `json:"returnCodeInterpretation"` // of a code that is no failure
	BackgroundTask string  `json:"backgroundTaskId"`
	Async          bool    `json:"isAsync"`

	Type     string  `json:"type"` // create, update
	Path     string  `json:"filePath"`
	Content  any     `json:"content"` // of a new file; blocks for a subagent
	Original *string `json:"originalFile"`
	Patch    []hunk  `json:"structuredPatch"`
}

type hunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
}

var exitCode = regexp.MustCompile(`^(?:Error: )?Exit code (\d+)\n?`)

// resultBody is what an item shows when its call has ended.
func resultBody(o openItem, c content, r toolUseResult) baton.ItemBody {
	text := quoted.Replace(plain(c.Content))
	switch o.Kind {
	case baton.ItemCommand:
		return commandBody(text, c.IsError, r)
	case baton.ItemFileChange:
		if c.IsError || r.Path == "" {
			return baton.ItemBody{Output: text}
		}
		return baton.ItemBody{Files: []baton.FileChange{fileChange(r)}}
	case baton.ItemSubagent:
		if all, ok := r.Content.([]any); ok && len(all) > 0 { // the last block is the report
			if last, ok := all[len(all)-1].(map[string]any); ok {
				if report, ok := last["text"].(string); ok {
					return baton.ItemBody{Text: report}
				}
			}
		}
		return baton.ItemBody{Text: text}
	case baton.ItemPlan:
		return baton.ItemBody{} // what the plan was stays
	}
	return baton.ItemBody{Output: text}
}

func commandBody(text string, failed bool, r toolUseResult) baton.ItemBody {
	if match := exitCode.FindStringSubmatch(text); failed && match != nil {
		code, err := strconv.Atoi(match[1])
		if err == nil {
			return baton.ItemBody{ExitCode: &code, Output: text[len(match[0]):]}
		}
	}
	if failed || r.Stdout == nil {
		return baton.ItemBody{Output: text}
	}
	body := baton.ItemBody{Output: *r.Stdout}
	if r.Stderr != "" {
		body.Output = strings.TrimPrefix(body.Output+"\n"+r.Stderr, "\n")
	}
	if !r.Interrupted && r.Meaning == "" {
		body.ExitCode = new(int)
	}
	return body
}

// fileChange renders a result of Write or Edit as a unified diff.
func fileChange(r toolUseResult) baton.FileChange {
	c := baton.FileChange{Path: r.Path, Change: "modify"}
	hunks := r.Patch
	if r.Type == "create" || r.Type != "update" && r.Original == nil {
		c.Change = "add"
		if text, ok := r.Content.(string); ok && len(hunks) == 0 && text != "" {
			lines := strings.SplitAfter(text, "\n")
			if lines[len(lines)-1] == "" {
				lines = lines[:len(lines)-1]
			}
			h := hunk{NewStart: 1, NewLines: len(lines)}
			for _, line := range lines {
				h.Lines = append(h.Lines, "+"+strings.TrimSuffix(line, "\n"))
			}
			hunks = []hunk{h}
		}
	}
	var diff strings.Builder
	for _, h := range hunks {
		fmt.Fprintf(&diff, "@@ -%d,%d +%d,%d @@\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
		for _, line := range h.Lines {
			switch {
			case strings.HasPrefix(line, "+"):
				c.Additions++
			case strings.HasPrefix(line, "-"):
				c.Deletions++
			}
			if diff.Len() < maxDiff {
				diff.WriteString(line + "\n")
			}
		}
	}
	c.Diff = agent.Head(diff.String(), maxDiff)
	return c
}
