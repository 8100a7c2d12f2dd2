package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Merge applies a merge patch (RFC 7396) to a document: null removes, objects
// merge, the rest replaces. An empty doc is one that does not exist yet. Numbers
// and strings keep the text they came with.
func Merge(doc, patch json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(patch) {
		return nil, fmt.Errorf("journal: a merge patch is not JSON: %.80q", patch)
	}
	if len(doc) > 0 && !json.Valid(doc) {
		return nil, fmt.Errorf("journal: a document is not JSON: %.80q", doc)
	}
	return merge(doc, patch)
}

func merge(target, patch json.RawMessage) (json.RawMessage, error) {
	if !isObject(patch) {
		return append(json.RawMessage(nil), bytes.TrimSpace(patch)...), nil
	}
	changes, out := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, err
	}
	if isObject(target) {
		if err := json.Unmarshal(target, &out); err != nil {
			return nil, err
		}
	}
	for name, change := range changes {
		if string(change) == "null" {
			delete(out, name)
			continue
		}
		merged, err := merge(out[name], change)
		if err != nil {
			return nil, err
		}
		out[name] = merged
	}
	return marshal(out)
}

func isObject(v json.RawMessage) bool {
	v = bytes.TrimLeft(v, " \t\r\n")
	return len(v) > 0 && v[0] == '{'
}

// marshal is json.Marshal without escapes for HTML, which would only make
// stored text longer.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Compose returns one patch that does what a and then b do, to any document. It
// says no where there is none: b makes an object where a has put something else.
func Compose(a, b json.RawMessage) (patch json.RawMessage, ok bool) {
	into, from := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if !isObject(a) || !isObject(b) || json.Unmarshal(a, &into) != nil || json.Unmarshal(b, &from) != nil {
		return nil, false
	}
	for name, change := range from {
		before, known := into[name]
		if !known || !isObject(change) {
			into[name] = change
			continue
		}
		if into[name], ok = Compose(before, change); !ok {
			return nil, false
		}
	}
	patch, err := marshal(into)
	return patch, err == nil
}

// Gather makes one change of those that follow each other for the same
// document, where that is possible: the same fold with less to write.
func Gather(changes []Change) []Change {
	out := make([]Change, 0, len(changes))
	last := map[Key]int{}
	for _, c := range changes {
		key := Key{c.Kind, c.ID}
		if i, ok := last[key]; ok {
			if patch, ok := Compose(out[i].Patch, c.Patch); ok {
				out[i].Patch = patch
				if c.Run != "" {
					out[i].Run = c.Run
				}
				if c.Position != 0 {
					out[i].Position = c.Position
				}
				continue
			}
		}
		last[key] = len(out)
		out = append(out, c)
	}
	return out
}
