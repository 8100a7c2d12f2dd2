package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"baton"
	"baton/internal/handoff"
)

func TestReasonText(t *testing.T) {
	for want, r := range map[string]baton.Reason{
		"it misses runs 6–8":                                                    {Signal: handoff.SignalMissing, Value: "6-8", ProviderThread: "pth_1"},
		"it misses run 6":                                                       {Signal: handoff.SignalMissing, Value: "6", ProviderThread: "pth_1"},
		"it misses runs 1–40 (12 of them)":                                      {Signal: handoff.SignalMissing, Value: "1-40 (12 of them)", ProviderThread: "pth_1"},
		"it misses nothing":                                                     {Signal: handoff.SignalMissing, Value: "none", ProviderThread: "pth_1"},
		"the new conversation has to be told of runs 1–5":                       {Signal: handoff.SignalMissing, Value: "1-5"},
		"there is no earlier run to tell of":                                    {Signal: handoff.SignalMissing, Value: "none"},
		"5 handoffs lie in a row on it (5 or more make a full one)":             {Signal: handoff.SignalChain, Value: "5", Threshold: "5", Decisive: true},
		"1 handoff lies on it (5 or more in a row make a full one)":             {Signal: handoff.SignalChain, Value: "1", Threshold: "5"},
		"11 handoffs lie in a row on it (the limit is 10)":                      {Signal: handoff.SignalChain, Value: "11", Threshold: "10", Decisive: true},
		"it missed 51 runs since it was last used (more than 50 make it stale)": {Signal: handoff.SignalForeignRuns, Value: "51", Threshold: "50"},
		"novelty x 3 (threshold 2)":                                             {Signal: "novelty_x", Value: "3", Threshold: "2"},
	} {
		if got := reasonText(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestEverySignalHasASentence reads the signals from where they are declared.
func TestEverySignalHasASentence(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "../../internal/handoff/strategy.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		v, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(v.Names[0].Name, "Signal") {
			return true
		}
		signal, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if text := reasonText(baton.Reason{Signal: signal, Value: "v", Threshold: "t"}); strings.Contains(text, "threshold") {
			t.Errorf("%s has no sentence: %q", signal, text)
		}
		return true
	})
	if n < 10 {
		t.Errorf("%d signals found", n)
	}
}
