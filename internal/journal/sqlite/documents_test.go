package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"baton"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
)

// Documents that are too long together for one text of SQLite come all the same.
func TestListOfLongDocuments(t *testing.T) {
	j, err := Open(filepath.Join(t.TempDir(), "baton.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s := journaltest.NewScribe("thr_1")
	s.Must(t, j, s.Create())
	for i := range 20 {
		s.Must(t, j, s.Unit(baton.EventMessageAccepted{Message: baton.MessageID(fmt.Sprintf("msg_%02d", i)), Text: strings.Repeat("x", 10_000)}))
	}
	c, err := j.read.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := driver.Limit(c, lib.SQLITE_LIMIT_LENGTH, 50_000); err != nil {
		t.Fatal(err)
	}
	tx, err := c.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	docs, err := reader{tx: tx}.List(context.Background(), journal.Query{Kind: journal.KindMessage, Thread: "thr_1", Desc: true})
	if err != nil || len(docs) != 20 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	for i, d := range docs {
		if want := fmt.Sprintf("msg_%02d", 19-i); d.ID != want || len(d.Body) < 10_000 {
			t.Errorf("%d: %s, %d bytes; want %s", i, d.ID, len(d.Body), want)
		}
	}
}
