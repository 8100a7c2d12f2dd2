package journal

import (
	"fmt"

	"baton"
)

// Key names a document.
type Key struct {
	Kind Kind
	ID   string
}

// Apply is what a change does to a document; doc is the zero Document where
// there is none yet. The body that comes back shares nothing with doc's.
func Apply(doc Document, thread baton.ThreadID, c Change) (Document, error) {
	body, err := Merge(doc.Body, c.Patch)
	if err != nil {
		return Document{}, fmt.Errorf("%s %s: %w", c.Kind, c.ID, err)
	}
	doc.Kind, doc.ID, doc.Body = c.Kind, c.ID, body
	if doc.Thread == "" {
		doc.Thread = thread
	}
	if c.Run != "" {
		doc.Run = c.Run
	}
	if c.Position != 0 {
		doc.Position = c.Position
	}
	return doc, nil
}

// Fold rebuilds the read models from events. The events may be of several
// threads; those of one thread must come in the order of their versions.
func Fold(events []baton.Event) (map[Key]Document, error) {
	docs := map[Key]Document{}
	for _, e := range events {
		for _, c := range Project(e) {
			key := Key{c.Kind, c.ID}
			doc, err := Apply(docs[key], e.Thread, c)
			if err != nil {
				return nil, err
			}
			docs[key] = doc
		}
	}
	return docs, nil
}
