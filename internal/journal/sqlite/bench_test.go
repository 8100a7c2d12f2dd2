package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"baton"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
)

// percentiles reports p50 and p99 of what one append took.
func percentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkAppend is a durable command of one busy thread: five events, their
// documents, a receipt, an effect. One op is the command and the end of its run;
// the percentiles are of the command.
func BenchmarkAppend(b *testing.B) {
	j := open(b, filepath.Join(b.TempDir(), "baton.db"))
	one(b, func(s *journaltest.Scribe, u journal.Unit) error { return s.Append(j, u) })
}

// BenchmarkBare is what SQLite itself takes for the same rows, see BenchmarkBare64.
func BenchmarkBare(b *testing.B) { one(b, bare(b)) }

func one(b *testing.B, store func(*journaltest.Scribe, journal.Unit) error) {
	s := journaltest.NewScribe("thr_1")
	must := func(u journal.Unit) {
		if err := store(s, u); err != nil {
			b.Fatal(err)
		}
	}
	must(s.Create())
	took := make([]time.Duration, 0, b.N)
	for n := 0; b.Loop(); n++ {
		u := s.Command(n + 1)
		start := time.Now()
		must(u)
		took = append(took, time.Since(start))
		must(s.End(n + 1))
	}
	percentiles(b, took)
}

// BenchmarkAppend64 is the same from 64 threads at once.
func BenchmarkAppend64(b *testing.B) {
	j := open(b, filepath.Join(b.TempDir(), "baton.db"))
	sixtyFour(b, func(s *journaltest.Scribe, u journal.Unit) error { return s.Append(j, u) })
}

// BenchmarkBare64 is what SQLite itself does with the same rows: a group commit
// without checks, encoding and merging. Budget: Append64 takes at
// most twice as long.
func BenchmarkBare64(b *testing.B) { sixtyFour(b, bare(b)) }

func bare(b *testing.B) func(*journaltest.Scribe, journal.Unit) error {
	path := filepath.Join(b.TempDir(), "baton.db")
	if err := open(b, path).Close(); err != nil { // for the schema
		b.Fatal(err)
	}
	store := newBare(b, path)
	return func(s *journaltest.Scribe, u journal.Unit) error {
		s.Version = u.Version()
		return store.append(u)
	}
}

func sixtyFour(b *testing.B, store func(*journaltest.Scribe, journal.Unit) error) {
	scribes := make([]*journaltest.Scribe, 64)
	for i := range scribes {
		scribes[i] = journaltest.NewScribe(fmt.Sprintf("thr_%02d", i))
		if err := store(scribes[i], scribes[i].Create()); err != nil {
			b.Fatal(err)
		}
	}
	took := make([][]time.Duration, 64)
	each := b.N/64 + 1
	b.ResetTimer()
	var all sync.WaitGroup
	for i, s := range scribes {
		all.Go(func() {
			for n := range each {
				u := s.Command(n + 1)
				start := time.Now()
				if err := store(s, u); err != nil {
					b.Error(err)
					return
				}
				took[i] = append(took[i], time.Since(start))
				if err := store(s, s.End(n+1)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(2*64*each)/b.Elapsed().Seconds(), "units/s")
	percentiles(b, slices.Concat(took...))
}

// BenchmarkText64 is 64 threads whose agents stream: each unit is a piece of text
// and how far the session has come.
func BenchmarkText64(b *testing.B) {
	j := open(b, filepath.Join(b.TempDir(), "baton.db"))
	state := []byte(`{"driver":"acp","state":{"` + strings.Repeat("x", 1500) + `":1}}`)
	took := make([][]time.Duration, 64)
	each := b.N/64 + 1
	var all sync.WaitGroup
	for i := range took {
		s := journaltest.NewScribe(fmt.Sprintf("thr_%02d", i))
		s.Must(b, j, s.Create())
		s.Must(b, j, s.Command(1))
		all.Go(func() {
			for n := range each {
				u := s.Unit()
				u.Chunks = []journal.Chunk{{Item: baton.ItemID("itm_" + string(s.Thread)), Offset: int64(n * 40), Text: strings.Repeat("word ", 8)}}
				u.Sessions = []journal.SessionMark{{Session: baton.SessionID("ses_" + string(s.Thread)), Frame: uint64(n + 1), State: state}}
				start := time.Now()
				if err := s.Append(j, u); err != nil {
					b.Error(err)
					return
				}
				took[i] = append(took[i], time.Since(start))
			}
		})
	}
	b.ResetTimer()
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(64*each)/b.Elapsed().Seconds(), "units/s")
	percentiles(b, slices.Concat(took...))
}

// BenchmarkAppendBesideLarge is BenchmarkAppend while another thread asks for
// effects of 5 MB without pause.
func BenchmarkAppendBesideLarge(b *testing.B) {
	j := open(b, filepath.Join(b.TempDir(), "baton.db"))
	ctx, cancel := context.WithCancel(context.Background())
	var other sync.WaitGroup
	other.Go(func() {
		s := journaltest.NewScribe("thr_large")
		for n := 0; ctx.Err() == nil; n++ {
			u := s.Unit(baton.EventQueueResumed{})
			id := baton.EffectID(fmt.Sprint("eff_", n))
			u.Effects = []baton.Effect{{ID: id, Thread: s.Thread, Lane: baton.LaneWork, Data: baton.EffectWrite{Data: make([]byte, 5<<20)}}}
			u.Done = []baton.EffectID{baton.EffectID(fmt.Sprint("eff_", n-1))}
			s.Must(b, j, u)
		}
	})
	s := journaltest.NewScribe("thr_1")
	took := make([]time.Duration, 0, b.N)
	for n := 0; b.Loop(); n++ {
		u := s.Command(n + 1)
		start := time.Now()
		s.Must(b, j, u)
		took = append(took, time.Since(start))
		s.Must(b, j, s.End(n+1))
	}
	cancel()
	other.Wait()
	percentiles(b, took)
}

// BenchmarkListThreads reads a list of 1,000 threads.
func BenchmarkListThreads(b *testing.B) {
	j := open(b, filepath.Join(b.TempDir(), "baton.db"))
	for n := range 1000 {
		s := journaltest.NewScribe(fmt.Sprintf("thr_%04d", n))
		s.Must(b, j, s.Create())
	}
	for b.Loop() {
		docs, err := j.List(context.Background(), journal.Query{Kind: journal.KindThread, Desc: true})
		if err != nil || len(docs) != 1000 {
			b.Fatal(len(docs), err)
		}
	}
}

// bareStore writes rows that are ready.
type bareStore struct {
	conn  *sql.Conn
	queue chan bareUnit
	stmts map[string]*sql.Stmt
}

type bareUnit struct {
	rows [][]any
	done chan error
}

var bareRows = []string{
	"INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	"INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?)",
	"INSERT INTO receipts VALUES (?, ?, ?)",
	"INSERT INTO effects (id, thread, session, lane, type, data, large) VALUES (?, ?, ?, ?, ?, ?, 0)",
	"INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?, ?)",
	"BEGIN IMMEDIATE", "COMMIT",
}

func newBare(b *testing.B, path string) *bareStore {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		b.Fatal(err)
	}
	s := &bareStore{queue: make(chan bareUnit, 128), stmts: map[string]*sql.Stmt{}}
	if s.conn, err = db.Conn(context.Background()); err != nil {
		b.Fatal(err)
	}
	for _, text := range bareRows {
		if s.stmts[text], err = s.conn.PrepareContext(context.Background(), text); err != nil {
			b.Fatal(err)
		}
	}
	done := make(chan struct{})
	go s.run(done)
	b.Cleanup(func() { close(s.queue); <-done; s.conn.Close(); db.Close() })
	return s
}

func (s *bareStore) append(u journal.Unit) error {
	r := bareUnit{done: make(chan error, 1)}
	for _, e := range u.Events {
		v, err := journal.EncodeEvent(e)
		if err != nil {
			return err
		}
		r.rows = append(r.rows, []any{bareRows[0], nil, string(e.Thread), e.Version, v.Type, v.Shape, string(v.Actor), string(v.Cause), u.Epoch, v.At, v.At, string(v.Data)})
	}
	last := map[string]journal.Change{}
	for _, c := range u.Changes {
		last[string(c.Kind)+c.ID] = c
	}
	for _, c := range last {
		r.rows = append(r.rows, []any{bareRows[1], string(c.Kind), c.ID, string(u.Thread), string(c.Run), c.Position, string(c.Patch)})
	}
	for _, c := range u.Receipts {
		r.rows = append(r.rows, []any{bareRows[2], string(c.Command), c.Hash, "{}"})
	}
	for _, e := range u.Effects {
		v, err := journal.EncodeEffect(e)
		if err != nil {
			return err
		}
		r.rows = append(r.rows, []any{bareRows[3], string(e.ID), string(e.Thread), string(e.Session), string(e.Lane), v.Type, string(v.Data)})
	}
	r.rows = append(r.rows, []any{bareRows[4], string(u.Thread), u.Version(), u.Epoch, 0, false})
	s.queue <- r
	return <-r.done
}

func (s *bareStore) run(done chan struct{}) {
	defer close(done)
	ctx := context.Background()
	for first := range s.queue {
		group := []bareUnit{first}
		_, err := s.stmts["BEGIN IMMEDIATE"].ExecContext(ctx)
		for i := 0; i < len(group) && err == nil; i++ {
			for _, row := range group[i].rows {
				if _, err = s.stmts[row[0].(string)].ExecContext(ctx, row[1:]...); err != nil {
					break
				}
			}
			if len(group) < 64 {
				select {
				case r, ok := <-s.queue:
					if ok {
						group = append(group, r)
					}
				default:
				}
			}
		}
		if err == nil {
			_, err = s.stmts["COMMIT"].ExecContext(ctx)
		}
		for _, r := range group {
			r.done <- err
		}
	}
}
