package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
)

func titled(t *testing.T, j *Journal, thread, title string) {
	t.Helper()
	s := journaltest.NewScribe(thread)
	s.Must(t, j, s.Unit(baton.EventThreadCreated{Title: title, Workspace: "wsp_1", Dir: "/p"}))
}

func hits(t *testing.T, j *Journal, text string) (threads string) {
	t.Helper()
	all, err := j.Search(ctx, journal.SearchQuery{Text: text})
	must(t, err)
	for _, h := range all {
		threads += string(h.Thread) + " "
	}
	return strings.TrimSpace(threads)
}

// The index follows by itself once nothing is written any more.
func TestIndexTrails(t *testing.T) {
	followed := make(chan struct{}, 100)
	j := reopen(t, filepath.Join(t.TempDir(), "baton.db"), Options{Idle: time.Millisecond, indexed: func() { followed <- struct{}{} }})
	titled(t, j, "thr_1", "needle")
	head, err := j.Head(ctx)
	must(t, err)
	for at := uint64(0); at < head; {
		<-followed
		j.index.mu.Lock()
		at = j.index.at
		j.index.mu.Unlock()
	}
	var n int
	must(t, j.index.conn.QueryRowContext(ctx, `SELECT count(*) FROM words WHERE words MATCH 'needle'`).Scan(&n))
	if n != 1 {
		t.Errorf("%d entries", n)
	}
	if info, err := os.Stat(j.index.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, mode %v", err, info.Mode())
	}
}

// Where more is found than can be weighed, titles come first, then the newest.
func TestSearchOfMany(t *testing.T) {
	was := ranked
	ranked = 3
	t.Cleanup(func() { ranked = was })
	j := reopen(t, filepath.Join(t.TempDir(), "baton.db"), Options{})
	titled(t, j, "thr_1", "needle a")
	s := journaltest.NewScribe("thr_2")
	var said []baton.EventData
	for i, id := range []baton.ItemID{"itm_1", "itm_2", "itm_3"} {
		said = append(said, baton.EventItemOpened{Item: id, Kind: baton.ItemNotice, Position: i + 1, Body: baton.ItemBody{Text: "the needle"}})
	}
	s.Must(t, j, s.Unit(append(said, baton.EventThreadCreated{Title: "needle b", Workspace: "wsp_1", Dir: "/p"})...))
	var got []string
	for offset := range 6 {
		all, err := j.Search(ctx, journal.SearchQuery{Text: "needle", Offset: offset, Limit: 1})
		must(t, err)
		for _, h := range all {
			got = append(got, string(h.Thread)+string(h.Item))
		}
	}
	if want := "thr_2 thr_1 thr_2itm_3 thr_2itm_2 thr_2itm_1"; strings.Join(got, " ") != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

// An index that is lost, broken or of another journal is made anew.
func TestIndexIsMadeAnew(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"removed": func(t *testing.T, path string) { must(t, os.Remove(path+".search")) },
		"garbage": func(t *testing.T, path string) {
			must(t, os.WriteFile(path+".search", []byte(strings.Repeat("garbage ", 4096)), 0o600))
		},
		"broken pages": func(t *testing.T, path string) {
			b, err := os.ReadFile(path + ".search")
			must(t, err)
			for i := 4096; i < len(b); i++ {
				b[i] = 0xa5
			}
			must(t, os.WriteFile(path+".search", b, 0o600))
		},
		"another shape": func(t *testing.T, path string) { query(t, path+".search", "PRAGMA user_version = 77") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "baton.db")
			j, err := Open(path, Options{})
			must(t, err)
			titled(t, j, "thr_1", "needle one")
			if got := hits(t, j, "needle"); got != "thr_1" {
				t.Fatalf("found %q", got)
			}
			must(t, j.Close())
			spoil(t, path)
			j = reopen(t, path, Options{})
			titled(t, j, "thr_2", "needle two")
			if got := hits(t, j, "needle"); got != "thr_2 thr_1" {
				t.Errorf("found %q", got)
			}
		})
	}
}

// The database is put back to an older state, and then goes on differently.
func TestIndexOfAnotherPast(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "baton.db"), filepath.Join(dir, "backup.db")
	j, err := Open(path, Options{})
	must(t, err)
	titled(t, j, "thr_1", "needle")
	must(t, j.Backup(ctx, backup))
	titled(t, j, "thr_lost", "needle")
	if got := hits(t, j, "needle"); got != "thr_lost thr_1" {
		t.Fatalf("found %q", got)
	}
	must(t, j.Close())
	must(t, os.Rename(backup, path))
	j = reopen(t, path, Options{})
	titled(t, j, "thr_new", "needle")
	titled(t, j, "thr_newer", "needle")
	if got := hits(t, j, "needle"); got != "thr_newer thr_new thr_1" {
		t.Errorf("found %q", got)
	}
}

// A database of before there were projects gets one for each directory.
func TestProjectsOfOldThreads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	j, err := Open(path, Options{})
	must(t, err)
	for thread, dir := range map[string]string{"thr_1": "/a", "thr_2": "/b", "thr_3": "/a"} {
		s := journaltest.NewScribe(thread)
		s.Must(t, j, s.Unit(baton.EventThreadCreated{Workspace: "wsp_1", Dir: dir}))
	}
	must(t, j.Close())
	query(t, path, "DROP TABLE projects; PRAGMA user_version = 1")
	j = reopen(t, path, Options{})
	all, err := j.Projects(ctx)
	must(t, err)
	if len(all) != 2 || all[0].Dir != "/a" || all[1].Dir != "/b" || all[0].Trusted || all[0].CreatedAt.IsZero() {
		t.Fatalf("got %+v", all)
	}
	// prj_xxxxxxxx-xxxx-7xxx-[89ab]xxx-xxxxxxxxxxxx
	id := string(all[0].ID)
	if len(id) != 40 || id[18] != '7' || !strings.ContainsRune("89ab", rune(id[23])) || strings.Count(id, "-") != 4 || all[0].ID == all[1].ID {
		t.Errorf("the id is %q", id)
	}
}

func TestBackupFiles(t *testing.T) {
	path := filled(t)
	dir := t.TempDir()
	to := filepath.Join(dir, "backup.db")
	must(t, Backup(ctx, path, to)) // nobody has it open
	info, err := os.Stat(to)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	for name, c := range map[string]struct {
		from, to string
		code     baton.Code
	}{
		"there already": {path, to, baton.CodeConflict},
		"no directory":  {path, filepath.Join(dir, "no", "backup.db"), baton.CodeInternal},
		"no database":   {filepath.Join(dir, "no.db"), filepath.Join(dir, "b.db"), baton.CodeNotFound},
	} {
		if err := Backup(ctx, c.from, c.to); baton.ErrorCode(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 1 {
		t.Errorf("there is %v", left)
	}
	journaltest.CheckDocuments(t, reopen(t, to, Options{}))
}
