package engine

import (
	"sync"

	"baton"
	"baton/internal/journal"
)

// Update is a committed unit, as subscribers get it.
type Update struct {
	Thread baton.ThreadID
	Events []baton.Event
	Chunks []journal.Chunk // text of open items that came with it
}

// Hub hands committed units to subscribers. A subscriber that does not keep up
// is cut off; it reads the journal from its cursor and comes back.
type Hub struct {
	mu   sync.Mutex
	subs map[*Subscription]bool
}

// Subscription is one subscriber's place in the hub.
type Subscription struct {
	// C carries updates in commit order for each thread, and is closed when the
	// subscriber was too slow or has ended its subscription.
	C      <-chan Update
	c      chan Update
	thread baton.ThreadID // "" for all
	hub    *Hub
}

const subscriberBuffer = 512

func newHub() *Hub { return &Hub{subs: map[*Subscription]bool{}} }

// Subscribe follows a thread, or all with "".
func (h *Hub) Subscribe(thread baton.ThreadID) *Subscription {
	c := make(chan Update, subscriberBuffer)
	s := &Subscription{C: c, c: c, thread: thread, hub: h}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs[s] = true
	return s
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.drop(s)
}

func (h *Hub) drop(s *Subscription) {
	if h.subs[s] {
		delete(h.subs, s)
		close(s.c)
	}
}

func (h *Hub) publish(u Update) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		if s.thread != "" && s.thread != u.Thread {
			continue
		}
		select {
		case s.c <- u:
		default:
			h.drop(s)
		}
	}
}
