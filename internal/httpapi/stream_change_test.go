package httpapi

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// followed is one subscription of a thread, as far as it has been read.
type followed struct {
	at    int // version of the last event
	fresh bool
}

func subscriptions(open map[string][]*followed) (n int) {
	for _, subs := range open {
		n += len(subs)
	}
	return n
}

// TestStreamChangesAtRandom: while events flow, threads are left and followed
// again. Each subscription brings exactly the events behind its cursor, or a
// snapshot and those behind that, in order, up to the message that ends it.
func TestStreamChangesAtRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	r := newRig(t, nil)
	var threads []string
	for i := range 4 {
		threads = append(threads, r.thread(fmt.Sprint(i)).ID)
	}
	s := r.follow("thread="+threads[0], "")
	id := of[Opened](t, s.next()).StreamID
	open := map[string][]*followed{threads[0]: {{fresh: true}}} // the first is what comes now, the last what was asked for
	wanted := map[string]bool{threads[0]: true}
	read := func() (caughtUp bool) {
		t.Helper()
		m := s.next()
		if m.event == "live" || m.event == "list" || m.event == "row" {
			return false
		}
		which := of[struct {
			ThreadID string `json:"thread_id"`
			Version  int    `json:"version"`
			List     bool   `json:"list"`
		}](t, m)
		if which.List {
			return true
		}
		subs := open[which.ThreadID]
		if len(subs) == 0 {
			t.Fatalf("of a thread that is not followed came %+v", m)
		}
		sub := subs[0]
		switch {
		case m.event == "left":
			open[which.ThreadID] = subs[1:]
		case m.event == "snapshot" && sub.fresh:
			sub.at, sub.fresh = which.Version, false
		case m.event == "event" && !sub.fresh && which.Version == sub.at+1:
			sub.at++
		case m.event == "caught_up" && !sub.fresh && which.Version == sub.at:
		default:
			t.Fatalf("%+v came to %+v", m, *sub)
		}
		return false
	}
	change := func(c string) { ask[StreamState](r, "POST", "/api/streams/"+id, c) }
	toggle := func(thread string) {
		if wanted[thread] {
			delete(wanted, thread)
			change(`{"unsubscribe":[` + quote(thread) + `]}`)
			return
		}
		wanted[thread] = true
		sub := &followed{fresh: true}
		if subs := open[thread]; len(subs) > 0 && !subs[0].fresh && rng.IntN(2) == 0 {
			*sub = followed{at: subs[0].at} // known as far as it was read
		}
		open[thread] = append(open[thread], sub)
		change(fmt.Sprintf(`{"subscribe":[{"thread_id":%q,"after":%d}]}`, thread, sub.at))
	}

	var busy sync.WaitGroup
	stop := make(chan struct{})
	for _, th := range threads {
		busy.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r.do("POST", "/api/threads/"+th+"/stop", "{}")
				r.do("POST", "/api/threads/"+th+"/queue/resume", "{}")
			}
		})
	}
	for n := range 600 {
		if n%3 > 0 || len(wanted) == 0 {
			toggle(threads[rng.IntN(len(threads))])
		}
		for len(wanted) > 0 {
			read()
			if subscriptions(open) < 20 { // a reader that only asks is refused
				break
			}
		}
	}
	close(stop)
	busy.Wait()
	for _, th := range threads {
		if !wanted[th] {
			toggle(th)
		}
	}
	change(`{"list":true}`) // what comes before its caught_up was there before it
	for !read() {
	}
	for _, th := range threads {
		if subs := open[th]; len(subs) != 1 || subs[0].at != versionOf(r, th) {
			t.Errorf("%s: it ended at %+v, the thread is at %d", th, subs, versionOf(r, th))
		}
	}
}
