package engine

import (
	"bytes"
	"encoding/json"

	"baton"
	"baton/internal/handoff"
	"baton/internal/journal"
)

// readItem decodes of a stored item what a handoff needs of it, its body into
// b; need is handoff.Nothing where that is nothing. A thread has many thousand
// items, and encoding/json takes longer for them than all the rest of a handoff.
func readItem(doc []byte, fresh bool, b *baton.ItemBody) (it handoff.Item, need handoff.Need, err error) {
	it.Body = b
	var body []byte
	err = journal.Members(doc, func(name, value []byte) (err error) {
		switch string(name) {
		case "id":
			err = text(value, &it.ID)
		case "kind":
			err = text(value, &it.Kind)
		case "body":
			body = value
		}
		return err
	})
	if err != nil {
		return it, handoff.Nothing, err
	}
	if need = handoff.NeedOf(it.Kind, fresh); need == handoff.Nothing || body == nil {
		return it, need, nil
	}
	var output []byte
	err = journal.Members(body, func(name, value []byte) error {
		if need == handoff.Presence && string(name) != "status" {
			return nil
		}
		switch string(name) {
		case "text":
			return text(value, &b.Text)
		case "output":
			output = value
		case "status":
			return text(value, &b.Status)
		case "title":
			return text(value, &b.Title)
		case "command":
			return text(value, &b.Command)
		case "cwd":
			return text(value, &b.Cwd)
		case "tool":
			return text(value, &b.Tool)
		case "input":
			return text(value, &b.Input)
		case "code":
			return text(value, &b.Code)
		case "author":
			return text(value, &b.Author)
		case "cut":
			return json.Unmarshal(value, &b.Cut)
		case "exit_code":
			return json.Unmarshal(value, &b.ExitCode)
		case "steps":
			return json.Unmarshal(value, &b.Steps)
		case "questions":
			return json.Unmarshal(value, &b.Questions)
		case "files":
			return files(value, &b.Files)
		}
		return nil
	})
	it.Status = b.Status
	if err == nil && output != nil && handoff.NeedsOutput(it, fresh) {
		err = text(output, &b.Output)
	}
	if b.Cut != nil {
		*b = b.Marked()
	}
	return it, need, err
}

// files decodes the files of a change without their diffs.
func files(value []byte, to *[]baton.FileChange) error {
	var brief []struct {
		Path, Change         string
		Additions, Deletions int
	}
	if err := json.Unmarshal(value, &brief); err != nil {
		return err
	}
	for _, f := range brief {
		*to = append(*to, baton.FileChange{Path: f.Path, Change: f.Change, Additions: f.Additions, Deletions: f.Deletions})
	}
	return nil
}

// text decodes a JSON string.
func text[T ~string](value []byte, to *T) error {
	if n := len(value); n >= 2 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		*to = T(value[1 : n-1])
		return nil
	}
	return json.Unmarshal(value, to)
}
