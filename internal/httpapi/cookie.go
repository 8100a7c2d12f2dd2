package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"baton"
)

const (
	// cookieLife is how long a browser stays in after it was let in.
	cookieLife = 30 * 24 * time.Hour
	// maxCookies is how many browsers are in at most; the oldest leaves.
	maxCookies = 100
)

// admitted is a browser that was let in.
type admitted struct {
	Hash string    `json:"hash"` // SHA-256 of the cookie's value, hex
	At   time.Time `json:"at"`
}

// cookies are the browsers that are in. They outlive the server in a file of
// mode 0600 that holds hashes: who reads it can't get in by it.
type cookies struct {
	path string
	mu   sync.Mutex
	all  []admitted // oldest first
}

// openCookies reads the file. One that can't be understood is taken for empty:
// the worst is that a person has to run `baton open` again.
func openCookies(path string) (*cookies, error) {
	c := &cookies{path: path}
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cookieFile(err)
	}
	if json.Unmarshal(b, &c.all) != nil {
		c.all = nil
	}
	return c, nil
}

// add lets a browser in and returns the value of its cookie, which is on disk,
// hashed, before it is given away.
func (c *cookies) add(now time.Time) (string, error) {
	value := secret()
	c.mu.Lock()
	defer c.mu.Unlock()
	next := make([]admitted, 0, len(c.all)+1)
	for _, a := range c.all {
		if a.live(now) {
			next = append(next, a)
		}
	}
	next = append(next, admitted{Hash: hashed(value), At: now.UTC()})
	next = next[max(0, len(next)-maxCookies):]
	if err := c.save(next); err != nil {
		return "", err
	}
	return value, nil
}

// has says whether a cookie's value lets in now.
func (c *cookies) has(value string, now time.Time) bool {
	hash := hashed(value)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.all {
		if a.Hash == hash {
			return a.live(now)
		}
	}
	return false
}

// forget sends every browser out and returns how many were in.
func (c *cookies) forget(now time.Time) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, a := range c.all {
		if a.live(now) {
			n++
		}
	}
	return n, c.save(nil)
}

// save replaces file and list, in this order.
func (c *cookies) save(next []admitted) error {
	b, err := json.Marshal(next)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(c.path), "."+filepath.Base(c.path)+"-*") // mode 0600
	if err != nil {
		return cookieFile(err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), c.path)
	}
	if err != nil {
		return cookieFile(err)
	}
	c.all = next
	return nil
}

// live says whether a is still in. One of the future is not: the clock was set
// back, and its age can't be told.
func (a admitted) live(now time.Time) bool {
	age := now.Sub(a.At)
	return age < cookieLife && age > -time.Hour
}

func hashed(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

func cookieFile(err error) error {
	return baton.Errorf(baton.CodeConfig, "the list of browsers that are let in can't be kept").WithDetail("%v", err).
		WithHint("see to the disk and the data directory's permissions")
}
