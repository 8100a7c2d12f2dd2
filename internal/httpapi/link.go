package httpapi

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"

	"baton"
)

// DefaultLinkLife is how long a link that lets a browser in can be used.
const DefaultLinkLife = time.Minute

// secret makes 256 random bits, in characters that need no escaping.
func secret() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// links are the one-time links that wait to be used. Only hashes are kept, and
// only in memory: a server that ends forgets them.
type links struct {
	mu    sync.Mutex
	until map[[sha256.Size]byte]time.Time
}

// add makes the token of a new link.
func (l *links) add(until, now time.Time) string {
	token := secret()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil {
		l.until = map[[sha256.Size]byte]time.Time{}
	}
	for k, t := range l.until {
		if !now.Before(t) {
			delete(l.until, k)
		}
	}
	l.until[sha256.Sum256([]byte(token))] = until
	return token
}

// take uses a link up. One that is used, too old or unknown is refused in the
// same words.
func (l *links) take(token string, now time.Time) error {
	key := sha256.Sum256([]byte(token))
	l.mu.Lock()
	defer l.mu.Unlock()
	until, ok := l.until[key]
	delete(l.until, key)
	if !ok || !now.Before(until) {
		return baton.Errorf(baton.CodeLinkOver, "this link is used up or too old").
			WithDetail("each one lets a browser in once, for a short time").WithHint("run `baton open` again")
	}
	return nil
}

// clear takes all links back.
func (l *links) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.until)
}
