package sqlite

import "baton/internal/journal"

// encoded is a unit as it is written. Encoding is the caller's work, so that
// the writer does not wait for it.
type encoded struct {
	journal.Unit
	events   []journal.StoredEvent
	effects  []journal.StoredEffect
	large    []int64 // for each effect: the parts that hold its data, or 0
	receipts [][]byte
	size     int // bytes, about
}

func encode(u journal.Unit) (*encoded, error) {
	e := &encoded{Unit: u, size: 256}
	e.Changes = journal.Gather(u.Changes)
	for _, event := range u.Events {
		s, err := journal.EncodeEvent(event)
		if err != nil {
			return nil, err
		}
		e.events = append(e.events, s)
		e.size += len(s.Data) + len(s.Cause) + 128
	}
	for _, effect := range u.Effects {
		s, err := journal.EncodeEffect(effect)
		if err != nil {
			return nil, err
		}
		e.effects, e.large = append(e.effects, s), append(e.large, 0)
		if len(s.Data) <= partBytes {
			e.size += len(s.Data)
		}
		e.size += 128
	}
	for _, r := range u.Receipts {
		data, err := journal.EncodeReceipt(r)
		if err != nil {
			return nil, err
		}
		e.receipts = append(e.receipts, data)
		e.size += len(data) + 128
	}
	for _, c := range e.Changes {
		e.size += len(c.Patch) + 128
	}
	for _, c := range u.Chunks {
		e.size += len(c.Text) + 64
	}
	for _, m := range u.Sessions {
		e.size += len(m.State)
	}
	if u.Snapshot != nil {
		e.size += len(u.Snapshot.State)
	}
	return e, nil
}
