package httpapi

import (
	"errors"
	"io/fs"
	"net"
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
// The caller holds the lock of the data directory until it has called leave,
// after which the socket is let be.
func (s *Server) keepSocket(srv *http.Server, path string) (leave func()) {
	stop, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		tick := time.NewTicker(socketEvery)
		defer tick.Stop()
		last := "" // failure, so that each is told once
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			l, err := listenAgain(path)
			switch {
			case err == nil:
				last = ""
				s.log().Warn("the socket was removed and is made again", "socket", path)
				go func() { _ = srv.Serve(l) }() // ends with the others, at Shutdown
			case last != err.Error():
				last = err.Error()
				s.log().Error("the socket was removed and can't be made again: no client reaches this server", "socket", path, "error", err)
			}
		}
	}()
	return func() { close(stop); <-left }
}

func listenAgain(path string) (*net.UnixListener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return Listen(path)
}
