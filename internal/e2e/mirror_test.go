package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
	"baton/internal/journal"
)

// mirror is a thread as a client holds it: a snapshot, and what has come since.
type mirror struct {
	id      string
	version uint64
	docs    map[journal.Key]json.RawMessage
	texts   map[text][]uint16 // of open items
	counts  struct{ snapshots, events, deltas int }
}

type text struct {
	item     string
	revision int
	output   bool
}

func newMirror(id string) *mirror {
	return &mirror{id: id, docs: map[journal.Key]json.RawMessage{}, texts: map[text][]uint16{}}
}

// take folds a message of the thread. What does not fit is an error.
func (m *mirror) take(msg client.Message) error {
	switch {
	case msg.Snapshot != nil:
		m.counts.snapshots++
		return m.replace(*msg.Snapshot)
	case msg.Event != nil:
		m.counts.events++
		return m.event(*msg.Event)
	case msg.Delta != nil:
		m.counts.deltas++
		return m.delta(*msg.Delta)
	case msg.CaughtUp != nil && msg.CaughtUp.Version != m.version:
		return fmt.Errorf("%s: caught up at %d, got up to %d", m.id, msg.CaughtUp.Version, m.version)
	}
	return nil
}

func (m *mirror) replace(s httpapi.Snapshot) error {
	if s.Version < m.version {
		return fmt.Errorf("%s: a snapshot of %d over %d", m.id, s.Version, m.version)
	}
	*m = mirror{id: m.id, version: s.Version, docs: map[journal.Key]json.RawMessage{}, texts: map[text][]uint16{}, counts: m.counts}
	put := func(kind journal.Kind, id string, v any) (err error) {
		m.docs[journal.Key{Kind: kind, ID: id}], err = json.Marshal(v)
		return err
	}
	err := put(journal.KindThread, m.id, s.Thread)
	for _, v := range s.Thread.Runs {
		err = errors.Join(err, put(journal.KindRun, v.ID, v))
	}
	for _, v := range s.Items {
		err = errors.Join(err, put(journal.KindItem, v.ID, v))
	}
	return err
}

func (m *mirror) event(e httpapi.Event) error {
	if e.Version != m.version+1 {
		return fmt.Errorf("%s: version %d behind %d", m.id, e.Version, m.version)
	}
	m.version = e.Version
	data, err := baton.DecodeEvent(e.Type, baton.EventShape, e.Data)
	if err != nil {
		return err
	}
	if d, ok := data.(baton.EventItemClosed); ok {
		for key, got := range m.texts {
			if key.item != string(d.Item) {
				continue
			}
			if whole := d.Body.Text; !key.output && whole != "" && d.Body.Cut == nil && !strings.HasPrefix(whole, string(utf16.Decode(got))) {
				return fmt.Errorf("%s: the text %.80q is no beginning of %.80q", m.id, string(utf16.Decode(got)), whole)
			}
			delete(m.texts, key)
		}
	}
	for _, c := range journal.Project(baton.Event{Thread: baton.ThreadID(e.ThreadID), Version: e.Version, At: e.At, Data: data}) {
		key := journal.Key{Kind: c.Kind, ID: c.ID}
		if m.docs[key], err = journal.Merge(m.docs[key], c.Patch); err != nil {
			return err
		}
	}
	return nil
}

func (m *mirror) delta(d httpapi.Delta) error {
	key := text{d.ItemID, d.Revision, d.Output}
	it, known := get[httpapi.Item](m, journal.KindItem, d.ItemID)
	if !known || !it.Open {
		return fmt.Errorf("%s: a delta of an item that is not open: %+v of %+v", m.id, d, it)
	}
	have, units := m.texts[key], utf16.Encode([]rune(d.Text))
	at := int(d.Offset)
	switch {
	case at > len(have):
		return fmt.Errorf("%s: a delta at %d where %d are known", m.id, at, len(have))
	case at < len(have) && !slices.Equal(have[at:min(len(have), at+len(units))], units[:min(len(units), len(have)-at)]):
		return fmt.Errorf("%s: a delta at %d says something else than before", m.id, at)
	}
	if end := at + len(units); end > len(have) {
		m.texts[key] = append(have[:at:at], units...)
	}
	return nil
}

func get[T any](m *mirror, kind journal.Kind, id string) (v T, ok bool) {
	doc, ok := m.docs[journal.Key{Kind: kind, ID: id}]
	return v, ok && json.Unmarshal(doc, &v) == nil
}

// differs says what is not as in the snapshot.
func (m *mirror) differs(s httpapi.Snapshot) error {
	if m.version != s.Version {
		return fmt.Errorf("%s: at version %d, not %d", m.id, m.version, s.Version)
	}
	same := func(what string, a, b any) error {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			return fmt.Errorf("%s: %s is %.300s, not %.300s", m.id, what, x, y)
		}
		return nil
	}
	t, _ := get[httpapi.Thread](m, journal.KindThread, m.id)
	err := same("the thread", [4]any{t.Title, t.State, t.QueueHeld, t.LastRun}, [4]any{s.Thread.Title, s.Thread.State, s.Thread.QueueHeld, s.Thread.LastRun})
	for _, want := range s.Thread.Runs {
		got, _ := get[httpapi.Run](m, journal.KindRun, want.ID)
		err = errors.Join(err, same("a run", [3]any{got.ID, got.Status, got.AnswerItemID}, [3]any{want.ID, want.Status, want.AnswerItemID}))
	}
	for _, want := range s.Items {
		got, _ := get[httpapi.Item](m, journal.KindItem, want.ID)
		err = errors.Join(err, same("an item", got, want))
	}
	return err
}
