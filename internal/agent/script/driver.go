package script

import (
	"bytes"
	"os"
	"path/filepath"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/acp"
)

// Driver returns the driver named "script": ACP, with evidence from the
// agent's own files. The provider's command is that of this binary with the
// arguments `agent script`.
func Driver() agent.Driver {
	claims := acp.Default
	claims.Plans = true
	return acp.New("script", acp.Options{
		Capabilities: claims,
		Pass:         []string{"BATON_SCRIPT_HOME", "BATON_SCRIPT_REQUESTS", "BATON_SCRIPT_NO_RESUME"},
		Evidence:     FindEvidence,
	})
}

// FindEvidence looks for a delivery in the conversation's file. A block is
// stored and synced before anything else is done with it, so a whole file that
// lacks it is proof that it was not taken.
func FindEvidence(q agent.EvidenceQuery) (baton.Verdict, string) {
	if q.NativeID == "" {
		if q.New {
			return baton.VerdictHasNot, "the conversation was never opened"
		}
		return baton.VerdictUnknown, "the conversation has no id"
	}
	dir := home(func(k string) string { return q.Env[k] })
	if dir == "" || !sessionID.MatchString(q.NativeID) {
		return baton.VerdictUnknown, "it can't be told where the conversation is kept"
	}
	data, err := os.ReadFile(sessionFile(dir, q.NativeID))
	if err != nil {
		return baton.VerdictUnknown, err.Error()
	}
	list, err := entries(data[:bytes.LastIndexByte(data, '\n')+1])
	if err != nil {
		return baton.VerdictUnknown, "the conversation's file is damaged: " + err.Error()
	}
	name := filepath.Base(q.NativeID) + ".jsonl"
	for _, e := range list {
		if e.Delivery == string(q.Delivery) && e.Delivery != "" {
			return baton.VerdictHas, name + " holds it"
		}
	}
	return baton.VerdictHasNot, name + " does not hold it"
}
