package bench

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"baton/internal/client"
)

// BenchmarkFanOut is one event on its way to 300 subscribers of its thread, from
// the command that makes it to its line at each of them. Readers look at lines
// and nothing more, so that it is the server that is measured; the machine runs
// both. It is compared with one subscriber.
func BenchmarkFanOut(b *testing.B) {
	s := newServer(b, "")
	s.start()
	one, all := s.fanOut(1, 40), s.fanOut(300, 40)
	report(Row{Name: "1 event → 300 subscribers, p99", Value: all.String(), Versus: "to one: " + one.String(),
		Ratio: ratio(float64(all.At(.99)), float64(one.At(.99)))})
}

// fanOut makes events in a thread that many follow, one after another, and
// returns how long each took to each.
func (s *server) fanOut(many, events int) Samples {
	s.Helper()
	thread := s.thread("script")
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	h := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", s.places.Socket)
	}}}
	defer h.CloseIdleConnections()
	arrived := make(chan time.Time, many)
	var live, over sync.WaitGroup
	for range many {
		live.Add(1)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://baton"+client.Path("streams")+"?thread="+thread, nil)
		if err != nil {
			s.Fatal(err)
		}
		res, err := h.Do(req)
		if err != nil {
			s.Fatal(err)
		}
		over.Go(func() {
			defer res.Body.Close()
			for r := bufio.NewReader(res.Body); ; {
				line, err := r.ReadString('\n')
				switch {
				case err != nil:
					return
				case line == "event: live\n":
					live.Done()
				case strings.Contains(line, `"queue.held"`), strings.Contains(line, `"queue.resumed"`):
					arrived <- time.Now()
				}
			}
		})
	}
	live.Wait()
	var out Samples
	for n := range events {
		began := time.Now()
		if err := s.Post(s.ctx, client.Path(append([]string{"threads", thread}, [][]string{{"stop"}, {"queue", "resume"}}[n%2]...)...), nil, nil); err != nil {
			s.Fatal(err)
		}
		for range many {
			select {
			case at := <-arrived:
				out = append(out, at.Sub(began))
			case <-s.ctx.Done():
				s.Fatal(fmt.Errorf("event %d has not come to all: %w", n, s.ctx.Err()))
			}
		}
	}
	cancel()
	over.Wait()
	return out
}
