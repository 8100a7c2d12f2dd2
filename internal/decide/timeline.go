package decide

import (
	"slices"

	"baton"
)

// runOf returns the run that what happens in the session belongs to: that of
// its open turn, or nil between turns.
func (d *Decider) runOf(x *Session) *Run {
	if x.Turn == nil {
		return nil
	}
	return d.S.run(x.Turn.Run)
}

func (d *Decider) openItem(x *Session, key string) *OpenItem {
	return find(d.S.Items, func(i *OpenItem) bool { return i.Session == x.ID && i.Key == key })
}

func (d *Decider) itemOpened(x *Session, f baton.FactItemOpened) *OpenItem {
	if it := d.openItem(x, f.Key); it != nil {
		body := f.Body
		body.Text, body.Output = "", ""
		d.emit(baton.EventItemUpdated{Item: it.ID, Body: body})
		return it
	}
	r := d.runOf(x)
	id := newID[baton.ItemID](d, baton.PrefixItem)
	e := baton.EventItemOpened{Item: id, Session: x.ID, Key: f.Key, Kind: f.Kind, Position: d.S.Position + 1, Open: true, Body: f.Body}
	text, output := f.Body.Text, f.Body.Output
	e.Body.Text, e.Body.Output = "", ""
	if r != nil {
		e.Run, e.Attempt, e.Parent = r.ID, r.Attempt.ID, r.Attempt.RootNode
		e.Node = r.Attempt.RootNode
	}
	if f.Parent != "" {
		if p := d.openItem(x, f.Parent); p != nil && p.Node != "" {
			e.Parent = p.Node
		}
	}
	if f.Kind.Node() != "" {
		e.Node = newID[baton.NodeID](d, baton.PrefixNode)
	}
	d.emit(e)
	d.S.Texts[id] = &Text{}
	it := d.S.item(id)
	d.append(it, text, false)
	d.append(it, output, true)
	return it
}

func (d *Decider) itemDelta(x *Session, f baton.FactItemDelta) {
	if it := d.openItem(x, f.Key); it != nil {
		d.append(it, f.Text, f.Output)
	}
}

// append adds streamed text: to the store as a chunk, to memory as head and tail.
func (d *Decider) append(it *OpenItem, text string, output bool) {
	if text == "" {
		return
	}
	t := d.S.Texts[it.ID]
	if t == nil {
		t = &Text{}
		d.S.Texts[it.ID] = t
	}
	s := &t.Text
	if output {
		s = &t.Output
	}
	if n := len(d.Out.Chunks); n > 0 {
		if last := &d.Out.Chunks[n-1]; last.Item == it.ID && last.Output == output && last.Revision == it.Revision {
			last.Text += text
			s.Append(text)
			return
		}
	}
	d.Out.Chunks = append(d.Out.Chunks, Chunk{Item: it.ID, Revision: it.Revision, Output: output, Offset: s.Len, Text: text})
	s.Append(text)
}

func (d *Decider) itemReset(x *Session, f baton.FactItemReset) {
	if it := d.openItem(x, f.Key); it != nil {
		d.reset(it)
	}
}

func (d *Decider) reset(it *OpenItem) {
	d.emit(baton.EventItemReset{Item: it.ID, Revision: it.Revision + 1})
	d.S.Texts[it.ID] = &Text{}
}

func (d *Decider) itemClosed(x *Session, f baton.FactItemClosed) {
	it := d.openItem(x, f.Key)
	if it == nil {
		if f.Kind == "" {
			return
		}
		body := f.Body
		body.Text, body.Output = "", ""
		it = d.itemOpened(x, baton.FactItemOpened{Key: f.Key, Kind: f.Kind, Body: body})
	}
	if f.Status == baton.NodeDetached { // it lives on; its end closes it
		d.emit(baton.EventItemUpdated{Item: it.ID, Body: baton.ItemBody{Status: baton.NodeDetached}})
		return
	}
	d.closeItem(it, f.Status, f.Body)
}

// closeItem ends an item with its whole text. The final text wins over what
// streamed; a text too long for a body is kept as the item's chunks.
func (d *Decider) closeItem(it *OpenItem, status baton.NodeStatus, body baton.ItemBody) {
	t := d.S.Texts[it.ID]
	if t == nil {
		t = &Text{}
	}
	text, cut := t.Text.Body()
	if body.Text != "" {
		text, cut = body.Text, nil
	}
	output, outCut := t.Output.Body()
	if body.Output != "" {
		output, outCut = body.Output, nil
	}
	if !t.Text.keeps(text) || !t.Output.keeps(output) {
		d.reset(it)
		d.append(it, text, false)
		d.append(it, output, true)
		t = d.S.Texts[it.ID]
	}
	if len(text) > 2*Keep {
		text, cut = t.Text.Body()
	}
	if len(output) > 2*Keep {
		output, outCut = t.Output.Body()
	}
	body.Text, body.Output = text, output
	if cut == nil {
		cut = outCut
	}
	if cut != nil {
		body.Cut = cut
	}
	body.Status = status
	closed := baton.EventItemClosed{Item: it.ID, Status: status, Body: body}
	if it.Kind.Node() != "" {
		closed.Node = it.Node
	}
	d.emit(closed)
	if cut == nil {
		d.Out.DropChunks = append(d.Out.DropChunks, it.ID)
		d.Out.Chunks = slices.DeleteFunc(d.Out.Chunks, func(c Chunk) bool { return c.Item == it.ID })
	}
	delete(d.S.Texts, it.ID)
}

func (d *Decider) agentNotice(x *Session, f baton.FactNotice) {
	kind := baton.ItemNotice
	if f.Level == "error" {
		kind = baton.ItemError
	}
	d.add(d.runOf(x), kind, baton.ItemBody{Code: f.Code, Text: f.Text, Hint: f.Hint})
}

// Rejected sets aside an input that a driver or a decision could not take: the
// frame is kept as evidence and the session's run ends as failed, since its
// state can't be trusted further. Nothing else is touched.
func (d *Decider) Rejected(session baton.SessionID, frame uint64, fault string, head []byte) {
	x := d.S.Session(session)
	if x == nil {
		return
	}
	if len(head) > 2048 {
		head = head[:2048]
	}
	d.emit(baton.EventFrameRejected{Session: session, Frame: frame, Fault: fault, Head: string(head)})
	err := baton.Errorf(baton.CodeFrameRejected, "Baton could not process what %s said", x.Provider).
		WithDetail("frame %d was set aside: %s", frame, fault).
		WithHint("the rest of the thread is whole; `baton debug frames` shows the frame; send the message again")
	if x.Turn != nil {
		d.turnEnded(x, baton.FactTurnEnded{Key: x.Turn.Key, Status: baton.TurnFailed, Err: err})
	}
	if x.Stopping == "" {
		d.stopSession(x, "a frame could not be processed", baton.SessionError, d.env.Policy.StopGrace)
	}
	d.advance()
}
