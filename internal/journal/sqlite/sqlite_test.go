package sqlite_test

import (
	"path/filepath"
	"testing"

	"baton/internal/journal"
	"baton/internal/journal/journaltest"
	"baton/internal/journal/sqlite"
)

func open(t testing.TB, path string) *sqlite.Journal {
	t.Helper()
	j, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func TestContract(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Journal { return open(t, filepath.Join(t.TempDir(), "baton.db")) })
}
