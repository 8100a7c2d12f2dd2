package engine

import (
	"bytes"
	"encoding/json"
	"fmt"

	"baton"
	"baton/internal/handoff"
)

// readItem decodes of a stored item what a handoff needs of it, its body into
// b; need is handoff.Nothing where that is nothing. A thread has many thousand
// items, and encoding/json takes longer for them than all the rest of a handoff.
func readItem(doc []byte, fresh bool, b *baton.ItemBody) (it handoff.Item, need handoff.Need, err error) {
	it.Body = b
	var body []byte
	err = members(doc, func(name, value []byte) (err error) {
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
	err = members(body, func(name, value []byte) error {
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

// members calls each with the names and the values, as they stand, of a JSON
// object. It relies on the object being valid JSON, as what the journal holds
// is, and never reads beyond it if it is not. Names are not unescaped.
func members(object []byte, each func(name, value []byte) error) error {
	i := space(object, 0)
	if i == len(object) || object[i] != '{' {
		return fmt.Errorf("no JSON object: %.40q", object)
	}
	for i++; ; {
		i = space(object, i)
		if i < len(object) && object[i] == ',' {
			i = space(object, i+1)
		}
		if i < len(object) && object[i] == '}' {
			return nil
		}
		end := skip(object, i)
		at := space(object, end)
		if i >= len(object) || object[i] != '"' || at >= len(object) || object[at] != ':' {
			return fmt.Errorf("a damaged JSON object: %.40q", object)
		}
		name := object[i+1 : end-1]
		at = space(object, at+1)
		if i = skip(object, at); i == at {
			return fmt.Errorf("a damaged JSON object: %.40q", object)
		}
		if err := each(name, object[at:i:i]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

func space(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// skip returns where the value that begins at i ends, i where none does.
func skip(s []byte, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			end := closing(s, i+1)
			if i = end; depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				if depth < 0 { // the end of what the value stands in
					return i
				}
				return i + 1
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// closing returns what is behind the string whose text begins at i.
func closing(s []byte, i int) int {
	for {
		n := bytes.IndexByte(s[i:], '"')
		if n < 0 {
			return len(s)
		}
		quote := i + n
		back := quote
		for back > i && s[back-1] == '\\' {
			back--
		}
		if i = quote + 1; (quote-back)%2 == 0 {
			return i
		}
	}
}
