package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baton"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
)

var ctx = context.Background()

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func reopen(t *testing.T, path string, opts Options) *Journal {
	t.Helper()
	j, err := Open(path, opts)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// filled makes a database with some threads in it and closes it.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dir with ?#% in it", "baton.db")
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	j := reopen(t, path, Options{})
	fill(t, j)
	must(t, j.Close())
	return path
}

func fill(t *testing.T, j *Journal) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	s := journaltest.NewScribe("thr_1")
	s.Must(t, j, s.Create())
	for _, kind := range journaltest.Types() {
		s.Must(t, j, s.Unit(journaltest.Sample(r, kind)))
	}
	for n := range 50 {
		s.Must(t, j, s.Command(n+1))
	}
}

func query(t *testing.T, path, text string) {
	t.Helper()
	db, err := connect(path, "rw", "wal_autocheckpoint(0)")
	must(t, err)
	defer db.Close()
	_, err = db.Exec(text)
	must(t, err)
}

func TestReopen(t *testing.T) {
	path := filled(t)
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the database's mode is %v", info.Mode())
	}
	first, err := reopen(t, path, Options{}).ClaimEpoch(ctx)
	must(t, err)
	j := reopen(t, path, Options{})
	second, err := j.ClaimEpoch(ctx)
	must(t, err)
	if second <= first {
		t.Errorf("epoch %d after %d", second, first)
	}
	head, err := j.Head(ctx)
	must(t, err)
	s := journaltest.NewScribe("thr_2")
	u := s.Create()
	s.Must(t, j, u)
	if u.Events[0].Seq <= head {
		t.Errorf("seq %d after %d", u.Events[0].Seq, head)
	}
	journaltest.CheckDocuments(t, j)
}

func TestRefusedFiles(t *testing.T) {
	valid, err := os.ReadFile(filled(t))
	must(t, err)
	for name, c := range map[string]struct {
		make func(path string)
		code baton.Code
		says string
	}{
		"newer": {func(path string) {
			must(t, os.WriteFile(path, valid, 0o600))
			query(t, path, "PRAGMA user_version = 99")
		}, baton.CodeDataNewer, "newer"},
		"no database": {func(path string) { must(t, os.WriteFile(path, []byte(strings.Repeat("text ", 100)), 0o600)) }, baton.CodeInternal, "no SQLite"},
		"a stump":     {func(path string) { must(t, os.WriteFile(path, []byte("SQLite f"), 0o600)) }, baton.CodeInternal, "no SQLite"},
		"another program's": {func(path string) {
			must(t, os.WriteFile(path, nil, 0o600))
			query(t, path, "PRAGMA application_id = 77; CREATE TABLE t (x)")
		}, baton.CodeInternal, "another program"},
		"garbage after the header": {func(path string) {
			b := bytes.Clone(valid)
			for i := 100; i < len(b); i++ {
				b[i] = 0xa5
			}
			must(t, os.WriteFile(path, b, 0o600))
		}, baton.CodeInternal, "damaged"},
	} {
		path := filepath.Join(t.TempDir(), "baton.db")
		c.make(path)
		before, err := os.ReadFile(path)
		must(t, err)
		_, err = Open(path, Options{})
		var e *baton.Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Error(), c.says) || !strings.Contains(e.Detail, path) || e.Hint == "" {
			t.Errorf("%s: %v (%#v)", name, err, e)
		}
		after, err := os.ReadFile(path)
		must(t, err)
		if !bytes.Equal(before, after) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// TestNewerInLog: the newer version crashed before a checkpoint, so that only the
// log tells of it.
func TestNewerInLog(t *testing.T) {
	path := filled(t)
	reopen(t, path, Options{}) // holds the log open
	query(t, path, "PRAGMA user_version = 99")
	left := filepath.Join(t.TempDir(), "baton.db")
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		must(t, err)
		must(t, os.WriteFile(left+suffix, b, 0o600))
	}
	_, err := Open(left, Options{})
	if baton.ErrorCode(err) != baton.CodeDataNewer {
		t.Fatalf("got %v", err)
	}
	for _, suffix := range []string{"", "-wal"} {
		was, err := os.ReadFile(path + suffix)
		must(t, err)
		is, err := os.ReadFile(left + suffix)
		must(t, err)
		if !bytes.Equal(was, is) {
			t.Errorf("%q was changed", suffix)
		}
	}
	query(t, path, "PRAGMA user_version = 1")
}

// TestDamageWhileOpen: a reader that meets broken pages says which file and
// what to do.
func TestDamageWhileOpen(t *testing.T) {
	path := filled(t)
	b, err := os.ReadFile(path)
	must(t, err)
	half := len(b) / 2
	for i := half; i < len(b); i++ {
		b[i] = 0xff
	}
	must(t, os.WriteFile(path, b, 0o600))
	j, err := Open(path, Options{})
	if err == nil {
		defer j.Close()
		for _, kind := range []journal.Kind{journal.KindItem, journal.KindRun, journal.KindMessage, journal.KindAttempt} {
			if _, err = j.List(ctx, journal.Query{Kind: kind, Thread: "thr_1"}); err != nil {
				break
			}
		}
		if err == nil {
			_, err = j.EventsSince(ctx, 0, 0)
		}
	}
	var e *baton.Error
	if !errors.As(err, &e) || !strings.Contains(e.Detail, path) || !strings.Contains(e.Hint, "backup") {
		t.Fatalf("got %v", err)
	}
}

func TestMissingDirectory(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none", "baton.db"), Options{}); err == nil {
		t.Fatal("opened a database in a directory that is not there")
	}
}

func TestMigrate(t *testing.T) {
	db, err := connect(filepath.Join(t.TempDir(), "m.db"), "rwc")
	must(t, err)
	defer db.Close()
	c, err := db.Conn(ctx)
	must(t, err)
	defer c.Close()
	version := func() (v int) {
		must(t, c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v))
		return v
	}
	steps := []string{"CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y; INSERT INTO a VALUES (1, 2)", "INSERT INTO a VALUES (3, 4); CREATE TABLE a (x)"}
	must(t, migrate(ctx, c, steps[:1]))
	must(t, migrate(ctx, c, steps[:2]))
	if v := version(); v != 2 {
		t.Fatalf("version %d", v)
	}
	if err := migrate(ctx, c, steps); err == nil || version() != 2 {
		t.Fatalf("a broken step gave %v at version %d", err, version())
	}
	var rows int
	must(t, c.QueryRowContext(ctx, "SELECT count(*) FROM a").Scan(&rows))
	if rows != 1 {
		t.Fatalf("the broken step left %d rows", rows)
	}
	must(t, migrate(ctx, c, steps[:2])) // nothing to do
}

// TestRebuild: documents of an older projector are folded again at Open.
func TestRebuild(t *testing.T) {
	path := filled(t)
	query(t, path, "UPDATE meta SET value = 0 WHERE name = 'projector'; DELETE FROM documents WHERE kind = 'run'; UPDATE documents SET body = '{\"old\":1}', position = 3")
	j := reopen(t, path, Options{})
	journaltest.CheckDocuments(t, j)
	var made int
	must(t, j.read.QueryRow("SELECT value FROM meta WHERE name = 'projector'").Scan(&made))
	if made != journal.ProjectorVersion {
		t.Fatalf("projector %d", made)
	}
}

func TestBackup(t *testing.T) {
	j := reopen(t, filled(t), Options{})
	path := filepath.Join(t.TempDir(), "backup.db")
	must(t, j.Backup(ctx, path))
	s := journaltest.NewScribe("thr_later")
	s.Must(t, j, s.Create())
	if j.Backup(ctx, path) == nil {
		t.Error("a backup was overwritten")
	}
	b := reopen(t, path, Options{})
	journaltest.CheckDocuments(t, b)
	if _, err := b.Load(ctx, "thr_1"); err != nil {
		t.Error(err)
	}
	if _, err := b.Load(ctx, "thr_later"); !errors.Is(err, journal.ErrNotFound) {
		t.Error(err)
	}
}

// TestListings: each list is read in order from an index, however long it is.
func TestListings(t *testing.T) {
	j := reopen(t, filled(t), Options{})
	for index, queries := range map[string][]journal.Query{
		"documents_thread": {{Kind: journal.KindItem, Thread: "thr_1"}, {Kind: journal.KindItem, Thread: "thr_1", After: 3, Desc: true}, {Kind: journal.KindNode, Thread: "thr_1", After: 3, AfterID: "x"}},
		"documents_run":    {{Kind: journal.KindItem, Run: "run_1"}, {Kind: journal.KindAttempt, Thread: "thr_1", Run: "run_1", Desc: true}},
		"documents_all":    {{Kind: journal.KindThread}, {Kind: journal.KindThread, Desc: true, After: 3, AfterID: "x"}, {Kind: journal.KindRequest, After: 1}},
	} {
		for _, q := range queries {
			text, args := listing(q)
			if plan := explainPlan(t, j.read, text, args); !strings.Contains(plan, "INDEX "+index) || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%+v: %s", q, plan)
			}
		}
	}
}

func explainPlan(t *testing.T, db *sql.DB, text string, args []any) (plan string) {
	t.Helper()
	rows, err := db.Query("EXPLAIN QUERY PLAN "+text, args...)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		must(t, rows.Scan(&id, &parent, &unused, &detail))
		plan += detail + "; "
	}
	must(t, rows.Err())
	return plan
}
