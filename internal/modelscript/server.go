package modelscript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Options of a server. The zero value is good.
type Options struct {
	Addr   string // to listen on; 127.0.0.1 and a free port where empty
	Record string // a file that gets a JSON line for each arrival and each end of a request; appended
}

// Server is a running model server. Its methods are safe for concurrent use.
type Server struct {
	http   *http.Server
	url    string
	gates  gates
	record *record
	file   *os.File
	stop   chan struct{}
	busy   sync.WaitGroup // requests in work, and the accept loop

	mu     sync.Mutex
	closed bool
}

// Start starts a server. The caller closes it.
func Start(o Options) (*Server, error) {
	s := &Server{stop: make(chan struct{})}
	var out io.Writer
	if o.Record != "" {
		f, err := os.OpenFile(o.Record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("model server: record: %w", err)
		}
		s.file, out = f, f
	}
	s.record = newRecord(out)
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", o.Addr)
	if err != nil {
		if s.file != nil {
			s.file.Close()
		}
		return nil, fmt.Errorf("model server: %w", err)
	}
	s.url = "http://" + l.Addr().String()
	s.http = &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	s.busy.Add(1)
	go func() {
		defer s.busy.Done()
		_ = s.http.Serve(l) // ends with ErrServerClosed
	}()
	return s, nil
}

// URL is the address without a path: claude's base URL. Codex wants URL()+"/v1".
func (s *Server) URL() string { return s.url }

// Close ends every answer, the connections and the server, and waits for them.
// Closing twice is fine.
func (s *Server) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		s.busy.Wait()
		return nil
	}
	close(s.stop)
	err := s.http.Close()
	s.busy.Wait()
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	return err
}

// begin counts a request in, unless the server is closing.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.busy.Add(1)
	}
	return !s.closed
}

// Release opens the gate for all who wait there and who will come.
func (s *Server) Release(gate string) { s.gates.closeOnce(s.gates.get(gate).open) }

// Waiting returns a channel that is closed once a request has come to the gate.
func (s *Server) Waiting(gate string) <-chan struct{} { return s.gates.get(gate).reached }

// Disconnected returns a channel that is closed once a client has left while
// its request was held at the gate.
func (s *Server) Disconnected(gate string) <-chan struct{} { return s.gates.get(gate).left }

// Arrivals returns how many requests have come to the gate.
func (s *Server) Arrivals(gate string) int {
	g := s.gates.get(gate)
	s.gates.mu.Lock()
	defer s.gates.mu.Unlock()
	return g.arrived
}

// Requests returns all requests so far, in the order of arrival.
func (s *Server) Requests() []Request {
	list, _ := s.record.snapshot()
	return list
}

// WaitRequests waits for at least n requests and returns all so far, with the
// context's error where they did not come.
func (s *Server) WaitRequests(ctx context.Context, n int) ([]Request, error) {
	return s.record.until(ctx, func(l []Request) bool { return len(l) >= n })
}

// WaitRequest waits for a request that match accepts and returns the first
// such. match is called again when a request ends, so it may ask for an Outcome.
func (s *Server) WaitRequest(ctx context.Context, match func(Request) bool) (Request, error) {
	var found Request
	_, err := s.record.until(ctx, func(l []Request) bool {
		for _, r := range l {
			if match(r) {
				found = r
				return true
			}
		}
		return false
	})
	return found, err
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, WireResponses, responses{}) })
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, WireMessages, messages{}) })
	mux.HandleFunc("POST /gate/{name}/release", func(w http.ResponseWriter, r *http.Request) {
		s.Release(r.PathValue("name"))
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /requests", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		enc := json.NewEncoder(w)
		for _, q := range s.Requests() {
			if enc.Encode(q) != nil {
				return
			}
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			return // claude 2.1.197 asks HEAD / before anything else
		}
		http.Error(w, "the model server knows no "+r.Method+" "+r.URL.Path, http.StatusNotFound)
	})
	return mux
}
