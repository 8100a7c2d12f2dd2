package modelscript

import (
	"context"
	"errors"
	"sync"
)

// gates hold requests until they are released. A gate exists once anybody
// names it and stays open once it was released.
type gates struct {
	mu   sync.Mutex
	list map[string]*gate
}

type gate struct {
	open    chan struct{} // closed by the release
	reached chan struct{} // closed when the first request comes
	left    chan struct{} // closed when the first client goes while it is held
	arrived int
}

func (g *gates) get(name string) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.list == nil {
		g.list = map[string]*gate{}
	}
	if g.list[name] == nil {
		g.list[name] = &gate{open: make(chan struct{}), reached: make(chan struct{}), left: make(chan struct{})}
	}
	return g.list[name]
}

// closeOnce closes c unless it is closed already.
func (g *gates) closeOnce(c chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

func (g *gates) released(name string) bool {
	select {
	case <-g.get(name).open:
		return true
	default:
		return false
	}
}

// errGone says that the client left.
var errGone = errors.New("the client has disconnected")

// wait holds until the gate is released (nil), the client leaves (errGone) or
// the server stops (errStopped).
func (g *gates) wait(ctx context.Context, name string, stop <-chan struct{}) error {
	gt := g.get(name)
	g.mu.Lock()
	gt.arrived++
	g.mu.Unlock()
	g.closeOnce(gt.reached)
	select {
	case <-gt.open:
		return nil
	case <-stop:
		return errStopped
	case <-ctx.Done():
	}
	select { // stopping ends the connections too
	case <-stop:
		return errStopped
	default:
	}
	g.closeOnce(gt.left)
	return errGone
}
