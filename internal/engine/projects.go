package engine

import (
	"context"
	"sync"
	"time"

	"baton"
	"baton/internal/journal"
)

// projects is what the journal knows of projects, in memory: a decision asks
// for it. Every change goes through put, one at a time, and is durable before it
// counts. It is data of the server and of no thread, so no owner writes it.
type projects struct {
	writing sync.Mutex // held over a whole change
	mu      sync.RWMutex
	byDir   map[string]journal.ProjectDoc
}

func (p *projects) fill(all []journal.ProjectDoc) {
	p.byDir = map[string]journal.ProjectDoc{}
	for _, x := range all {
		p.byDir[x.Dir] = x
	}
}

// trusted says whether the person trusts exactly this directory.
func (p *projects) trusted(dir string) bool {
	x, _ := p.get(dir)
	return x.Trusted
}

func (p *projects) get(dir string) (journal.ProjectDoc, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	x, ok := p.byDir[dir]
	return x, ok
}

// Projects returns what is known of each project, in no order.
func (e *Engine) Projects() []journal.ProjectDoc {
	e.projects.mu.RLock()
	defer e.projects.mu.RUnlock()
	var all []journal.ProjectDoc
	for _, x := range e.projects.byDir {
		all = append(all, x)
	}
	return all
}

// Project returns the project of a directory, which is absolute and resolved,
// and makes it where there is none.
func (e *Engine) Project(ctx context.Context, dir string) (journal.ProjectDoc, error) {
	if x, ok := e.projects.get(dir); ok {
		return x, nil
	}
	return e.putProject(ctx, dir, nil)
}

// Trust says for a directory whether its own agent configuration may be loaded
// by sessions that are opened from now on.
func (e *Engine) Trust(ctx context.Context, dir string, trusted bool, by string) (journal.ProjectDoc, error) {
	return e.putProject(ctx, dir, func(p *journal.ProjectDoc, now time.Time) {
		if p.Trusted != trusted {
			p.Trusted, p.ChangedBy, p.ChangedAt = trusted, by, now
		}
	})
}

func (e *Engine) putProject(ctx context.Context, dir string, change func(*journal.ProjectDoc, time.Time)) (journal.ProjectDoc, error) {
	p := &e.projects
	p.writing.Lock()
	defer p.writing.Unlock()
	now := e.cfg.Now()
	before, known := p.get(dir)
	x := before
	if !known {
		x = journal.ProjectDoc{ID: baton.ProjectID(e.cfg.NewID(baton.PrefixProject)), Dir: dir, CreatedAt: now}
	}
	if change != nil {
		change(&x, now)
	}
	if known && x == before {
		return x, nil
	}
	e.mu.Lock()
	epoch := e.claimed
	e.mu.Unlock()
	if err := e.cfg.Journal.PutProject(ctx, epoch, x); err != nil {
		return before, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byDir[dir] = x
	return x, nil
}

// Search finds text in the journal.
func (e *Engine) Search(ctx context.Context, q journal.SearchQuery) ([]journal.Hit, error) {
	return e.cfg.Journal.Search(ctx, q)
}
