package bench

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"baton/internal/client"
	"baton/internal/journal"
)

// BenchmarkLong is about what grows: many threads, many items.
func BenchmarkLong(b *testing.B) {
	s := scriptServer(b)
	s.start()
	thread := func() string {
		id := s.thread("alpha")
		events := s.follow(id)
		s.send(id, "alpha", trivial)
		s.until(events, "run.ended")
		return id
	}
	short, long, handed := thread(), thread(), thread()
	s.stop()
	for _, pid := range s.processes("shim") {
		s.killed(pid)
	}
	s.start() // tells the threads that their agents are gone
	s.stop()
	s.journal(func(j journal.Journal) {
		grow(b, j, 1000)
		s.items(j, short, 100)
		s.items(j, long, 100_000)
		s.items(j, handed, 10_000)
	})
	s.start()
	list, size, plain := s.reads("/api/threads?limit=1000")
	under("list of 1,000 threads", list.String(), "", list.At(.5), 5*time.Millisecond)
	report(Row{Name: "list of 1,000 threads, bytes", Value: fmt.Sprintf("%.0f kB", float64(size)/1e3), Versus: fmt.Sprintf("of %.0f kB before compression", float64(plain)/1e3), Ratio: float64(size) / 100e3, Budget: "≤ 100 kB", Over: size > 100_000})
	path := "/items?newest=true&limit=100"
	first, _, _ := s.reads(client.Path("threads", long) + path)
	few, _, _ := s.reads(client.Path("threads", short) + path)
	under("first page of 100,000 items", first.String(), "", first.At(.5), 5*time.Millisecond)
	r := ratio(float64(first.At(.5)), float64(few.At(.5)))
	report(Row{Name: "first page, growth with length", Value: "100,000 items: " + show(first.At(.5)), Versus: "100 items: " + show(few.At(.5)), Ratio: r, Budget: "≤ 1.5 ×", Over: r > 1.5})
	s.handoffs(handed)
}

// reads reads a path again and again as a client does, on one connection, and
// returns the times, the size of the answer on the wire and unpacked.
func (s *server) reads(path string) (took Samples, size, plain int) {
	s.Helper()
	h := &http.Client{Transport: &http.Transport{DisableCompression: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", s.places.Socket)
	}}}
	defer h.CloseIdleConnections()
	req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, "http://baton"+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip") // as the client of the command line does
	for range 40 {
		began := time.Now()
		res, err := h.Do(req)
		if err != nil {
			s.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			s.Fatalf("%s: %d %.300s %v", path, res.StatusCode, b, err)
		}
		size = len(b)
		if res.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err == nil {
				b, err = io.ReadAll(z)
			}
			if err != nil {
				s.Fatal(err)
			}
		}
		took, plain = append(took, time.Since(began)), len(b)
	}
	return took, size, plain
}

// handoffs lets one provider after the other go on with the thread. The
// document is due when its request is durable and there when its text is.
func (s *server) handoffs(thread string) {
	s.Helper()
	events := s.follow(thread)
	var took Samples
	for _, name := range []string{"beta", "gamma", "delta", "epsilon"} {
		s.send(thread, name, trivial)
		asked, _ := s.until(events, "handoff.requested")
		ready, _ := s.until(events, "handoff.ready")
		s.until(events, "run.ended")
		took = append(took, ready.at.Sub(asked.at))
	}
	under("handoff document of 10,000 items", took.String(), "", took.At(.5), 50*time.Millisecond)
}
