package handoff

import (
	"crypto/sha256"
	"fmt"

	"baton/internal/redact"
)

// Edited is a person's text in the place of a document's.
type Edited struct {
	Text       string // without secrets
	Digest     string
	Tokens     int
	Redactions int
}

// Edit makes a person's text ready to be stored and sent.
func Edit(text string) Edited {
	clean, n := redact.Text(text)
	return Edited{Text: clean, Digest: digest(clean), Tokens: Tokens(clean), Redactions: n}
}

func digest(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }
