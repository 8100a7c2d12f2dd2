package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"baton"
	"baton/internal/config"
	"baton/internal/engine"
)

// maxBody is the largest body in bytes: the largest message with every
// character escaped, and room for the rest. What a message may be is said by
// baton.CheckMessage.
const maxBody = 6*baton.MaxMessage + 64<<10

// Config is what a server of the API needs.
type Config struct {
	Engine    *engine.Engine
	Providers *config.Providers
	Places    config.Places
	Version   string
	NewID     func(prefix string) string
	Probe     config.Probe
	Log       *slog.Logger
	Stop      func() // asks the process to end; called at most once for each request to stop
	Check     func(*net.UnixConn) error
	Door      *Door                                      // for browsers, over TCP; nil: there is none
	Backup    func(ctx context.Context, to string) error // of the journal; nil: this server has no file to back up
	Heartbeat time.Duration                              // of streams; 0 for the default
}

// Server serves the API. Make it with New.
type Server struct {
	cfg     Config
	started time.Time
	api     huma.API
	mux     *http.ServeMux
	closing chan struct{} // closed when streams have to end
	open    sync.Map      // the streams by their ids
}

// New makes a server that is ready to serve.
func New(cfg Config) *Server {
	if cfg.Check == nil {
		cfg.Check = checkPeer
	}
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = 15 * time.Second
	}
	s := &Server{cfg: cfg, started: time.Now().UTC(), mux: http.NewServeMux(), closing: make(chan struct{})}
	c := huma.DefaultConfig("Baton", cfg.Version)
	c.CreateHooks = nil // no $schema in bodies
	c.DocsPath, c.SchemasPath = "", ""
	s.api = humago.New(s.mux, c)
	s.commands()
	s.threads()
	s.requests()
	s.context()
	s.life()
	s.search()
	s.export()
	s.projects()
	s.sessions()
	s.previews()
	s.server()
	s.pageRoutes()
	s.debug()
	s.streams()
	return s
}

// OpenAPI returns the description of the API as JSON.
func (s *Server) OpenAPI() ([]byte, error) { return json.MarshalIndent(s.api.OpenAPI(), "", "  ") }

// Handler is the whole API behind its checks.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err, _ := r.Context().Value(peerKey{}).(error); err != nil {
			refuse(w, err)
			return
		}
		if err := readBody(r); err != nil {
			refuse(w, err)
			return
		}
		if _, pattern := s.mux.Handler(r); pattern == "" {
			refuse(w, baton.Errorf(baton.CodeNotFound, "there is no %s %s", clip(r.Method), clip(r.URL.Path)).WithHint("/openapi.json lists what there is"))
			return
		}
		s.mux.ServeHTTP(w, r)
	})
}

// readBody takes the body in, bounded, and refuses what is no UTF-8: decoding
// would quietly replace it.
func readBody(r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return baton.Errorf(baton.CodeInvalid, "the request's body could not be read").WithDetail("%v", err)
	case len(b) > maxBody:
		return baton.Errorf(baton.CodeMessageTooLarge, "the request has more than %d bytes", maxBody).
			WithDetail("a message may have %d; it was not sent and nothing was changed", baton.MaxMessage).
			WithHint("put the text into a file of the project and name the file in the message")
	case !utf8.Valid(b):
		return baton.Errorf(baton.CodeMessageText, "the request is not valid UTF-8").
			WithDetail("it was not sent and nothing was changed").WithHint("convert it to UTF-8 and send it again")
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	return nil
}

type peerKey struct{}

// Serve answers on the listener, and at the door where there is one, until ctx
// ends, then lets what is being answered finish, but for streams.
func (s *Server) Serve(ctx context.Context, l *net.UnixListener) error {
	unix := s.httpServer(s.Handler(), func(ctx context.Context, c net.Conn) context.Context {
		if u, ok := c.(*net.UnixConn); ok {
			if err := s.cfg.Check(u); err != nil {
				return context.WithValue(ctx, peerKey{}, err)
			}
		}
		return ctx
	})
	servers, done := []*http.Server{unix}, make(chan error, 2)
	go func() { done <- unix.Serve(l) }()
	if d := s.cfg.Door; d != nil {
		tcp := s.httpServer(d.Handler(s.Handler(), http.HandlerFunc(s.home)), withTCPPeer)
		servers = append(servers, tcp)
		go func() { done <- d.serve(tcp) }()
	}
	var failed error
	open, leave := len(servers), s.keepSocket(unix, l.Addr().String())
	select {
	case failed = <-done:
		open--
	case <-ctx.Done():
	}
	leave()
	close(s.closing)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	for _, srv := range servers {
		if err := srv.Shutdown(end); err != nil {
			_ = srv.Close()
		}
	}
	for ; open > 0; open-- {
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func (s *Server) httpServer(h http.Handler, peer func(context.Context, net.Conn) context.Context) *http.Server {
	return &http.Server{Handler: h, ConnContext: peer, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.log().Handler(), slog.LevelWarn)}
}

// Listen makes the socket, for this user alone. The caller holds the lock of
// the data directory, so a socket that is there is a dead server's.
func Listen(path string) (*net.UnixListener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		_ = os.Remove(path)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, baton.Errorf(baton.CodeServerUnreachable, "the socket %s can't be made", path).WithDetail("%v", err).
			WithHint("see to the directory's permissions, or set BATON_HOME to another one")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}
