package httpapi

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"baton"
)

// DoorConfig is what a Door needs.
type DoorConfig struct {
	Listener *PageListener
	Cookies  string           // file of the browsers that are in
	LinkLife time.Duration    // of one-time links
	Now      func() time.Time // wall clock
	Check    func(net.Conn) error
}

// Door lets browsers in over TCP and everything else not. Each request passes,
// in this order: the gate (Host, Origin, Sec-Fetch-Site), the cookie, the check
// of the process at the other end, and the list of what the socket alone has.
// Only then is its body read.
type Door struct {
	cfg     DoorConfig
	links   links
	cookies *cookies
}

// inPath begins the paths of one-time links.
const inPath = "/in/"

// socketOnly begins the paths that only the unix socket has: what ends the
// server, lets browsers in or out, shows its inside, writes a file where it is
// told, or lets a project's own configuration run.
var socketOnly = []string{"/api/server/", "/api/page/", "/api/debug/", "/api/backup", "/api/project/trust"}

// NewDoor makes a door on an open listener, which it owns from here on.
func NewDoor(cfg DoorConfig) (*Door, error) {
	if cfg.LinkLife == 0 {
		cfg.LinkLife = DefaultLinkLife
	}
	if cfg.Check == nil {
		cfg.Check = checkTCP
	}
	c, err := openCookies(cfg.Cookies)
	if err != nil {
		cfg.Listener.Close()
		return nil, err
	}
	return &Door{cfg: cfg, cookies: c}, nil
}

// URL is where a browser finds the page.
func (d *Door) URL() string { return d.cfg.Listener.URL() }

// Close ends a door that no server serves. A nil door is closed.
func (d *Door) Close() {
	if d != nil {
		d.cfg.Listener.Close()
	}
}

// tcpPeer is the process at the other end of a connection. It is looked for
// once, when a request has come that far.
type tcpPeer struct {
	conn net.Conn
	once sync.Once
	err  error
}

type tcpPeerKey struct{}

func withTCPPeer(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, tcpPeerKey{}, &tcpPeer{conn: c})
}

// checkPeer refuses what stands behind the request's connection, or nobody.
func (d *Door) checkPeer(r *http.Request) error {
	p, ok := r.Context().Value(tcpPeerKey{}).(*tcpPeer)
	if !ok {
		return baton.Errorf(baton.CodeForbidden, "it can't be told which process asks")
	}
	p.once.Do(func() { p.err = d.cfg.Check(p.conn) })
	return p.err
}

// serve answers at the door until the server is shut down.
func (d *Door) serve(srv *http.Server) error {
	srv.IdleTimeout = 2 * time.Minute
	if d.cfg.Listener.tls == nil {
		return srv.Serve(d.cfg.Listener)
	}
	srv.TLSConfig = d.cfg.Listener.tls
	return srv.ServeTLS(d.cfg.Listener, "", "")
}

// Handler puts the door before a handler of the API. The page is home's.
func (d *Door) Handler(api, home http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard(w.Header())
		if err := d.cfg.Listener.gate.check(r); err != nil {
			refusePage(w, r, err)
			return
		}
		if token, ok := strings.CutPrefix(r.URL.Path, inPath); ok {
			d.letIn(w, r, token)
			return
		}
		if err := d.admits(r); err != nil {
			refusePage(w, r, err)
			return
		}
		if isPage(r.URL.Path) {
			home.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// admits checks what the headers of the gate do not tell.
func (d *Door) admits(r *http.Request) error {
	in := false
	for _, c := range r.CookiesNamed(d.cfg.Listener.cookieName()) {
		in = in || d.cookies.has(c.Value, d.cfg.Now())
	}
	if !in {
		return baton.Errorf(baton.CodeSignedOut, "this browser is not let in").WithHint("run `baton open`")
	}
	if err := d.checkPeer(r); err != nil {
		return err
	}
	for _, prefix := range socketOnly {
		if strings.HasPrefix(r.URL.Path, prefix) {
			return baton.Errorf(baton.CodeForbidden, "a browser may not ask for %s", clip(r.URL.Path)).WithHint("use the command line")
		}
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.ContentLength != 0 {
		if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(media) != "application/json" {
			return baton.Errorf(baton.CodeInvalid, "the request's body is not said to be JSON").WithHint("set Content-Type to application/json")
		}
	}
	return nil
}

// letIn uses a link up, gives the browser its cookie and sends it to the page.
// A browser that only looks ahead does not use it up.
func (d *Door) letIn(w http.ResponseWriter, r *http.Request, token string) {
	if r.Method != http.MethodGet || strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch") {
		refusePage(w, r, baton.Errorf(baton.CodeForbidden, "this link has to be opened").WithHint("open it in a browser"))
		return
	}
	if err := d.checkPeer(r); err != nil {
		refusePage(w, r, err)
		return
	}
	now := d.cfg.Now()
	if err := d.links.take(token, now); err != nil {
		refusePage(w, r, err)
		return
	}
	value, err := d.cookies.add(now)
	if err != nil {
		refusePage(w, r, err)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: d.cfg.Listener.cookieName(), Value: value, Path: "/", MaxAge: int(cookieLife / time.Second),
		HttpOnly: true, Secure: d.cfg.Listener.tls != nil, SameSite: http.SameSiteStrictMode})
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		// A redirect would still count as the other site's, and the browser
		// would hold the new cookie back.
		goOn(w)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// guard sets the headers that every answer over TCP has. Nothing here is for
// another origin: there are no CORS headers, ever.
func guard(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
