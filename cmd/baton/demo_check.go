package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"baton"
	"baton/internal/agent/script"
	"baton/internal/client"
	"baton/internal/httpapi"
)

// demoCheck is one thing that the demo has made sure of.
type demoCheck struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
}

// demoResult is what the demo says of itself with --json.
type demoResult struct {
	OK       bool              `json:"ok"`
	Checks   []demoCheck       `json:"checks"`
	Coverage httpapi.Coverage  `json:"coverage"`
	Handoffs []httpapi.Handoff `json:"handoffs"`
}

// result shows coverage and handoffs, and checks what the agents received.
func (d *demo) result(ctx context.Context) (demoResult, error) {
	var r demoResult
	var err error
	if err = d.c.Get(ctx, client.Path("threads", d.thread.ID, "coverage"), nil, &r.Coverage); err != nil {
		return r, err
	}
	if r.Handoffs, err = d.handoffs(ctx); err != nil {
		return r, err
	}
	a := d.a
	d.title("Who knows which runs")
	a.showCoverage(r.Coverage)
	for i, h := range r.Handoffs {
		d.title(fmt.Sprintf("H%d of runs %s, word for word as sent", i+1, covered(h)))
		text := strings.TrimRight(h.Text, "\n")
		if a.tty {
			text = wrap(text, a.width(), "") // lines that are too long only look broken
		}
		fmt.Fprintln(a.out, text)
	}
	if r.Checks, err = d.checks(r); err != nil {
		return r, err
	}
	d.title("What the agents really received")
	r.OK = true
	for _, c := range r.Checks {
		mark := a.style(green, "✓")
		if !c.OK {
			mark, r.OK = a.style(red, "✗"), false
		}
		fmt.Fprintf(a.out, "  %s %s\n", mark, strings.TrimPrefix(wrap(c.What, a.width(), "    "), "    "))
	}
	if !r.OK {
		return r, baton.Errorf(baton.CodeInternal, "the demo did not come out as it must").WithDetail("see the checks that are marked ✗").
			WithHint("please report it")
	}
	return r, nil
}

func (d *demo) title(s string) {
	a := d.a
	if a.tty {
		s = cut(s, a.width()-6)
	}
	fmt.Fprintf(a.out, "\n%s %s %s\n\n", a.style(dim, "══"), a.style(bold, s), a.style(dim, strings.Repeat("═", max(a.width()-len([]rune(s))-4, 2))))
}

// checks compares what Baton says with what the agents have written down.
func (d *demo) checks(r demoResult) ([]demoCheck, error) {
	alpha, err := d.received("alpha")
	if err != nil {
		return nil, err
	}
	beta, err := d.received("beta")
	if err != nil {
		return nil, err
	}
	var h1, h2 httpapi.Handoff
	if len(r.Handoffs) == 2 {
		h1, h2 = r.Handoffs[0], r.Handoffs[1]
	}
	pair := func(from, to int) [2]int { return [2]int{from, to} }
	knows := func(provider string, native, told [][2]int) bool {
		for _, p := range r.Coverage.ProviderThreads {
			if p.Provider == provider {
				return reflect.DeepEqual(p.Native, native) && reflect.DeepEqual(p.HandedOver, told)
			}
		}
		return false
	}
	return []demoCheck{
		{"there are two handoffs: H1 of runs 1–5, H2 of runs 6–8", len(r.Handoffs) == 2 && covered(h1) == "1–5" && covered(h2) == "6–8"},
		{"alpha kept one conversation: it did 1–5 and 9, and was told 6–8", knows("alpha", [][2]int{pair(1, 5), pair(9, 9)}, [][2]int{pair(6, 8)})},
		{"beta did 6–8 and was told 1–5", knows("beta", [][2]int{pair(6, 8)}, [][2]int{pair(1, 5)})},
		{"beta received H1, byte for byte, and nothing else of the kind", h1.Text != "" && reflect.DeepEqual(beta, []string{h1.Text})},
		{"alpha received H2, byte for byte, and nothing else of the kind", h2.Text != "" && reflect.DeepEqual(alpha, []string{h2.Text})},
		{"the release's name, which beta alone was told, reached alpha", len(alpha) == 1 && strings.Contains(alpha[0], "copper kettle")},
	}, nil
}

// received returns the handoffs in the context of an agent's last turn, as the
// agent itself has written it down.
func (d *demo) received(name string) ([]string, error) {
	f, err := os.Open(filepath.Join(d.agentHome(name), "requests.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var last script.Request
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // its end
		}
		last = script.Request{}
		if err := json.Unmarshal(line, &last); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, m := range last.Messages {
		if m.Role == "handoff" {
			out = append(out, m.Text)
		}
	}
	return out, nil
}
