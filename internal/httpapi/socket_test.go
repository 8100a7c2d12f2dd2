package httpapi

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// until asks again until the server answers on its socket.
func (r *rig) until(what string) {
	r.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for {
		if c, err := net.Dial("unix", r.socket); err == nil {
			c.Close()
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			r.Fatalf("no %s", what)
		}
	}
}

// A socket that was removed is made again, with its directory, for this user
// alone; what is done over the former one goes on.
func TestSocketIsMadeAgain(t *testing.T) {
	r := newRig(t, nil)
	answers := func() {
		t.Helper()
		if status, _ := r.do(http.MethodGet, "/api/server", ""); status != 200 {
			t.Errorf("it answers %d", status)
		}
	}
	for _, gone := range []string{r.socket, filepath.Dir(r.socket)} {
		answers()
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		answers() // over the connection that is open
		r.until("socket in place of " + gone)
		r.http.CloseIdleConnections()
		answers()
		if info, err := os.Stat(r.socket); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
}
