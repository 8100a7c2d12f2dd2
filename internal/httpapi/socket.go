package httpapi

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// socketEvery is how often the server looks whether its socket is still there.
// A client waits longer than that for a server that holds the data.
const socketEvery = time.Second

// keepSocket makes the socket again where somebody has removed it, a cleaner of
// temporary directories say: without it nobody could reach this server, and none
// could be started beside it. What is another file by that name is left alone.
// The caller holds the lock of the data directory until ctx ends.
func (s *Server) keepSocket(ctx context.Context, srv *http.Server, path string) {
	tick := time.NewTicker(socketEvery)
	defer tick.Stop()
	last := "" // failure, so that each is told once
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			l, listenErr := Listen(path)
			if err = listenErr; err == nil {
				s.log().Warn("the socket was removed and is made again", "socket", path)
				last = ""
				go func() { _ = srv.Serve(l) }() // ends with the others, at Shutdown
				continue
			}
		}
		if last != err.Error() {
			last = err.Error()
			s.log().Error("the socket was removed and can't be made again: no client reaches this server", "socket", path, "error", err)
		}
	}
}
