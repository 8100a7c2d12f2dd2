package httpapi

import (
	"context"
	"net/http"
	"os"

	"baton/internal/config"
	"baton/internal/journal"
)

func (s *Server) server() {
	route(s, http.MethodGet, "/api/server", "show-server", "The server that answers", func(context.Context, journal.Reader, *struct{}) (ServerInfo, error) {
		return s.info(), nil
	})
	command(s, "/api/server/stop", "stop-server", "End the server; agents go on under their shims", func(context.Context, *struct{}) (ServerInfo, error) {
		s.cfg.Stop()
		return s.info(), nil
	})
	route(s, http.MethodGet, "/api/providers", "list-providers", "The configured agents, real ones first", func(context.Context, journal.Reader, *struct{}) (Page[config.ProviderInfo], error) {
		return Page[config.ProviderInfo]{Items: s.cfg.Providers.List()}, nil
	})
	command(s, "/api/doctor", "doctor", "Look at the places and ask each agent for its version", func(ctx context.Context, _ *struct{}) (Page[config.Check], error) {
		return Page[config.Check]{Items: s.cfg.Providers.Examine(ctx, s.cfg.Probe)}, nil
	})
}

func (s *Server) info() ServerInfo {
	i := ServerInfo{Version: s.cfg.Version, PID: os.Getpid(), StartedAt: s.started, Data: s.cfg.Places.Data, Config: s.cfg.Places.Config}
	if s.cfg.Door != nil {
		i.Page = s.cfg.Door.URL()
	}
	return i
}
