package engine

import "baton"

// What may wait for one subscriber: so many updates, and so many bytes of them.
// One update of any size is taken where nothing waits.
const (
	maxWaiting      = 4096
	maxWaitingBytes = 4 << 20
)

// Subscription is one subscriber's place in the hub. Its methods are safe for
// concurrent use; one goroutine takes.
type Subscription struct {
	hub   *Hub
	ready chan struct{}
	onCut func()

	// Guarded by hub.mu.
	threads map[baton.ThreadID]bool
	queue   []*Update
	size    int
	over    bool
}

// Subscribe makes a subscription that follows nothing yet. onCut, which may be
// nil, is called when the subscriber is cut off, never after Close has returned;
// it must not block nor call the hub.
func (h *Hub) Subscribe(onCut func()) *Subscription {
	s := &Subscription{hub: h, ready: make(chan struct{}, 1), onCut: onCut, threads: map[baton.ThreadID]bool{}}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs[s] = true
	return s
}

// Add follows a thread: every unit that is committed after Add has returned will
// come, and some that were committed just before may.
func (s *Subscription) Add(id baton.ThreadID) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.over {
		return
	}
	s.threads[id] = true
	if s.hub.thread[id] == nil {
		s.hub.thread[id] = map[*Subscription]bool{}
	}
	s.hub.thread[id][s] = true
}

// Remove ends following a thread. What is queued of it stays.
func (s *Subscription) Remove(id baton.ThreadID) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.remove(id)
}

func (s *Subscription) remove(id baton.ThreadID) {
	delete(s.threads, id)
	delete(s.hub.thread[id], s)
	if len(s.hub.thread[id]) == 0 {
		delete(s.hub.thread, id)
	}
}

// Rows says whether to follow what lists show of all threads: units that change
// it come, without events for threads that are not followed.
func (s *Subscription) Rows(on bool) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if on && !s.over {
		s.hub.rows[s] = true
	} else {
		delete(s.hub.rows, s)
	}
}

// Ready gets a value when something can be taken, or the subscription is over.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Take returns what has come, in order; ok is false once the subscription is over.
func (s *Subscription) Take() (updates []*Update, ok bool) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	updates, s.queue, s.size = s.queue, nil, 0
	return updates, !s.over
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.end()
}

func (s *Subscription) put(u *Update) {
	if len(s.queue) > 0 && (len(s.queue) >= maxWaiting || s.size+u.size > maxWaitingBytes) {
		s.cut()
		return
	}
	s.queue = append(s.queue, u)
	s.size += u.size
	s.signal()
}

// cut ends a subscription that can't go on and lets go of what waits for it.
func (s *Subscription) cut() {
	if s.end() && s.onCut != nil {
		s.onCut()
	}
}

func (s *Subscription) end() bool {
	if s.over {
		return false
	}
	s.over, s.queue, s.size = true, nil, 0
	for id := range s.threads {
		s.remove(id)
	}
	delete(s.hub.rows, s)
	delete(s.hub.subs, s)
	s.signal()
	return true
}

func (s *Subscription) signal() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}
