package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"baton"
	"baton/internal/handoff"
)

// showReason writes one reason of a decision; the decisive ones are marked.
func (a *app) showReason(out io.Writer, indent string, r baton.Reason) {
	text := hang(a.wrap(reasonOf(r), indent+"  "))
	if r.Decisive {
		fmt.Fprintln(out, indent+a.style(green, "→ ")+text)
		return
	}
	fmt.Fprintln(out, indent+a.style(dim, "· "+text))
}

// reasonOf is reasonText with the conversation that it is about.
func reasonOf(r baton.Reason) string {
	if r.ProviderThread == "" {
		return reasonText(r)
	}
	return "conversation " + shortID(string(r.ProviderThread)) + ": " + reasonText(r)
}

// reasonText says in a sentence what a reason of a decision means. "It" is the
// agent's own conversation that the reason is about.
func reasonText(r baton.Reason) string {
	value, threshold := ordinals(r.Value), r.Threshold
	switch r.Signal {
	case handoff.SignalResumable:
		return "it can't be resumed: nothing was ever accepted in it"
	case handoff.SignalStatus:
		if r.Value == string(baton.ProviderThreadError) {
			return "it can't be resumed: the last time that it was tried it failed"
		}
		return "it can't be resumed: it is " + r.Value
	case handoff.SignalDivergent:
		return "it holds something else than this thread"
	case handoff.SignalIncompatible:
		return fmt.Sprintf("another %s is wanted, which only a new conversation can take", cmp.Or(r.Value, "setting"))
	case handoff.SignalClean:
		return "a conversation without its old context is wanted"
	case handoff.SignalForeignRuns:
		return fmt.Sprintf("it missed %s since it was last used (more than %s make it stale)", count(number(r.Value), "run", "runs"), threshold)
	case handoff.SignalChain:
		switch n := number(r.Value); {
		case n == 0:
			return fmt.Sprintf("no handoff lies on it (%s or more in a row make a full one)", threshold)
		case n == 1:
			return fmt.Sprintf("1 handoff lies on it (%s or more in a row make a full one)", threshold)
		case n > number(threshold): // for a full handoff or for a new conversation: the reason does not say
			return fmt.Sprintf("%d handoffs lie in a row on it (the limit is %s)", n, threshold)
		}
		return fmt.Sprintf("%s handoffs lie in a row on it (%s or more make a full one)", r.Value, threshold)
	case handoff.SignalNewer:
		return fmt.Sprintf("a newer conversation is as good: it was last used in run %s, the newer one in run %s", r.Value, threshold)
	case handoff.SignalMissing:
		switch {
		case r.Value == "none" && r.ProviderThread == "":
			return "there is no earlier run to tell of"
		case r.Value == "none":
			return "it misses nothing"
		case r.ProviderThread == "":
			return "the new conversation has to be told of " + value
		}
		return "it misses " + value
	case handoff.SignalSqueezed:
		return "what it misses does not fit into it without a cut in what matters most"
	case handoff.SignalRegenerated:
		return "a person had the handoff made again"
	case handoff.SignalCandidates:
		return "the agent has no conversation in this thread that can go on, so a new one is begun"
	case handoff.SignalNoHandoff:
		return "the provider is configured to take no handoff"
	}
	// Of a newer server.
	text := strings.ReplaceAll(r.Signal, "_", " ")
	if r.Value != "" {
		text += " " + r.Value
	}
	if threshold != "" {
		text += " (threshold " + threshold + ")"
	}
	return text
}

// ordinals writes a set of run ordinals with its noun: run 6, runs 6–8.
func ordinals(s string) string {
	if number(s) > 0 {
		return "run " + s
	}
	return "runs " + strings.ReplaceAll(s, "-", "–")
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
