package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"baton/internal/jsonl"
)

// stampers is a server whose one provider is the agent of agent_test.go.
func stampers(b *testing.B) *server {
	b.Helper()
	s := newServer(b, provider("stamp", "acp", []string{os.Args[0]}, map[string]string{agentVar: "1"}, ""))
	s.start()
	return s
}

// pace is how a busy agent streams: its pieces, the time between them, and what
// each ends with.
type pace struct {
	n     int
	every time.Duration
	sep   string
}

func (p pace) String() string { return fmt.Sprintf("%d %s %s", p.n, p.every, p.sep) }

// BenchmarkFrame is the way of a piece of text from the agent's write to the
// client of the stream, against a reader of the same agent's bare pipe.
func BenchmarkFrame(b *testing.B) {
	s := stampers(b)
	for _, p := range []pace{{300, 10 * time.Millisecond, "line"}, {300, 10 * time.Millisecond, "-"}} {
		what := map[string]string{"line": "lines", "-": "no line break"}[p.sep]
		through, bare := s.frames(1, p), pipes(b, 1, p)
		half, late := through.At(.5)-bare.At(.5), through.At(.99)-bare.At(.99)
		against := "bare pipe: " + bare.String()
		under("frame → subscriber, 1 thread, "+what+", p50", "+"+show(half), against, half, 1500*time.Microsecond)
		under("frame → subscriber, 1 thread, "+what+", p99", "+"+show(late), against, late, 5*time.Millisecond)
	}
}

// BenchmarkFrame200 is the same with many threads at once.
func BenchmarkFrame200(b *testing.B) {
	s := stampers(b)
	const many = 200
	p := pace{60, 100 * time.Millisecond, "-"}
	through := s.frames(many, p)
	s.end()
	bare := pipes(b, many, p)
	late := through.At(.99) - bare.At(.99)
	under("frame → subscriber, 200 threads, p99", "+"+show(late), fmt.Sprintf("bare pipes: p99 %s; all: %s, %d of %d pieces", show(bare.At(.99)), through, len(through), many*p.n),
		late, 50*time.Millisecond)
}

// frames lets that many threads stream at once and returns how old each piece
// was when it came. Pieces from before all streamed are left out.
func (s *server) frames(many int, p pace) Samples {
	s.Helper()
	events := make([]<-chan arrival, many)
	ids := make([]string, many)
	each := func(do func(i int)) {
		var all sync.WaitGroup
		room := make(chan struct{}, 8)
		for i := range many {
			room <- struct{}{}
			all.Go(func() { defer func() { <-room }(); do(i) })
		}
		all.Wait()
	}
	each(func(i int) {
		ids[i] = s.thread("stamp")
		events[i] = s.follow(ids[i])
		s.send(ids[i], "stamp", "begin") // starts the agent
		s.until(events[i], "run.ended")
	})
	each(func(i int) { s.send(ids[i], "stamp", p.String()) })
	begun := time.Now()
	var mu sync.Mutex
	var out Samples
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			_, before := s.until(events[i], "run.ended")
			mu.Lock()
			defer mu.Unlock()
			for _, a := range before {
				if a.Delta != nil {
					out = append(out, ages(a.at, a.Delta.Text, begun)...)
				}
			}
		})
	}
	all.Wait()
	return out
}

// ages returns how old the stamps in a text are.
func ages(at time.Time, text string, begun time.Time) Samples {
	var out Samples
	for _, t := range stamps(text) {
		if t.After(begun) {
			out = append(out, at.Sub(t))
		}
	}
	return out
}

// pipes is what the same agents give a reader of their bare pipes.
func pipes(b *testing.B, many int, p pace) Samples {
	b.Helper()
	var mu sync.Mutex
	var out Samples
	var all sync.WaitGroup
	for range many {
		cmd := exec.Command(os.Args[0])
		cmd.Env = []string{agentVar + "=1"}
		in, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		lines, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		all.Go(func() {
			got := readPipe(in, lines, p)
			_ = in.Close()
			_ = cmd.Wait()
			mu.Lock()
			defer mu.Unlock()
			out = append(out, got...)
		})
	}
	all.Wait()
	return out
}

func readPipe(in io.Writer, out io.Reader, p pace) Samples {
	_, _ = in.Write(jsonl.Line(map[string]any{"id": 1, "method": "session/prompt", "params": map[string]any{"sessionId": "s",
		"prompt": []any{map[string]any{"type": "text", "text": p.String()}}}}))
	var got Samples
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		if m, kind := jsonl.Decode([]byte(line)); err != nil || kind == jsonl.Response && m.Result != nil {
			return got
		}
		got = append(got, ages(time.Now(), line, time.Time{})...)
	}
}
