package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"baton"
	"baton/internal/journal"
)

func stateOf(doc journal.Document) baton.ThreadState {
	var t struct{ State baton.ThreadState }
	_ = json.Unmarshal(doc.Body, &t)
	return t.State
}

// PutProject stores a project.
func (j *Journal) PutProject(ctx context.Context, epoch uint64, p journal.ProjectDoc) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return journal.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case epoch < j.epoch:
		return journal.ErrFenced
	}
	if old, ok := j.state.projects[p.Dir]; ok {
		p.ID, p.CreatedAt = old.ID, old.CreatedAt
	}
	p.ChangedAt, p.CreatedAt = journal.Time(journal.Nanos(p.ChangedAt)), journal.Time(journal.Nanos(p.CreatedAt))
	j.state.projects[p.Dir] = p
	return nil
}

func (r reader) Projects(ctx context.Context) ([]journal.ProjectDoc, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return slices.SortedFunc(maps.Values(r.state.projects), func(a, b journal.ProjectDoc) int { return strings.Compare(a.Dir, b.Dir) }), nil
}

// Search looks at every text: titles come first, then the newest.
func (j *Journal) Search(ctx context.Context, q journal.SearchQuery) ([]journal.Hit, error) {
	leave, err := j.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	phrases := journal.Phrases(q.Text)
	type found struct {
		hit journal.Hit
		doc journal.Document
	}
	var all []found
	for _, doc := range j.state.docs {
		var text string
		var err error
		h := journal.Hit{Thread: doc.Thread, Run: doc.Run, Kind: journal.KindTitle}
		switch doc.Kind {
		case journal.KindThread:
			text, err = journal.TitleText(doc.Body)
		case journal.KindItem:
			h.Item = baton.ItemID(doc.ID)
			text, h.Kind, err = journal.ItemText(doc.Body)
		}
		if err != nil {
			return nil, err
		}
		if journal.Found(phrases, journal.Words(text)) {
			all = append(all, found{h, doc})
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(len(a.hit.Item), len(b.hit.Item)), cmp.Compare(b.doc.Position, a.doc.Position), cmp.Compare(b.doc.ID, a.doc.ID))
	})
	if q.Limit == 0 {
		q.Limit = 20
	}
	var out []journal.Hit
	for _, f := range all[min(q.Offset, len(all)):min(q.Offset+q.Limit, len(all))] {
		out = append(out, f.hit)
	}
	return out, nil
}
