package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What an error quotes is in no line of the server's log.
func TestTheLogHoldsNoSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.log")
	log, closeLog, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	key := "ghp" + "_" + strings.Repeat("q7Zk2Xw9Rb", 4)
	log.With("session", "ses_1").Error("a push failed", "error", errors.New("https://"+key+"@git.example.com/a: refused"))
	closeLog()
	b, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(b), "q7Zk") || !strings.Contains(string(b), "[redacted:github_token]") {
		t.Errorf("%v: %s", err, b)
	}
}
