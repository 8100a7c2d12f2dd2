package harness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"baton/internal/jsonl"
	"baton/internal/modelscript"
	"baton/internal/modelscript/harness"
)

// frame is one line of an agent's output.
type frame struct {
	raw string
	m   map[string]any
}

// at follows names into the frame; what isn't there is "".
func (f frame) at(path ...string) string {
	var v any = f.m
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	s, _ := v.(string)
	return s
}

// process is a real agent on its pipes.
type process struct {
	t      *testing.T
	in     io.WriteCloser
	frames chan frame
	stderr *strings.Builder
}

// run starts the agent in dir. At the end of the test its input is closed and
// it must end by itself.
func run(t *testing.T, a harness.Agent, dir string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(a.Bin, args...)
	cmd.Dir, cmd.Env = dir, a.Environ()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, in: in, frames: make(chan frame, 1<<14), stderr: &strings.Builder{}}
	cmd.Stderr = p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.frames)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			f := frame{raw: line}
			if json.Unmarshal([]byte(line), &f.m) == nil {
				p.frames <- f
			}
		}
	}()
	t.Cleanup(func() {
		in.Close()
		watch := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
		for range p.frames {
		}
		err := cmd.Wait()
		if !watch.Stop() {
			t.Errorf("the agent did not end when its input was closed: %v", err)
		}
		if t.Failed() {
			t.Logf("standard error of the agent:\n%s", p.stderr)
		}
	})
	return p
}

func (p *process) send(v any) {
	p.t.Helper()
	if _, err := p.in.Write(jsonl.Line(v)); err != nil {
		p.t.Fatal(err)
	}
}

// until reads to the first frame that match accepts and returns it with all
// lines up to it.
func (p *process) until(what string, match func(frame) bool) (frame, string) {
	p.t.Helper()
	ctx := limit(p.t)
	var seen strings.Builder
	for {
		select {
		case f, ok := <-p.frames:
			if !ok {
				p.t.Fatalf("the agent ended before %s; it said:\n%s", what, seen.String())
			}
			seen.WriteString(f.raw)
			if match(f) {
				return f, seen.String()
			}
		case <-ctx.Done():
			p.t.Fatalf("%s did not come; the agent said:\n%s", what, seen.String())
		}
	}
}

func limit(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func startModel(t *testing.T) *modelscript.Server {
	t.Helper()
	s, err := modelscript.Start(modelscript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-limit(t).Done():
		t.Fatalf("%s did not come", what)
	}
}

func wantIn(t *testing.T, where, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s:\n%s", want, where, text)
		}
	}
}
