package httpapi

import (
	"context"
	"time"

	"baton"
)

// PageLink lets one browser in, once.
type PageLink struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Forgotten says how many browsers were in.
type Forgotten struct {
	Forgotten int `json:"forgotten"`
}

// pageRoutes are on the unix socket alone: see socketOnly.
func (s *Server) pageRoutes() {
	command(s, "/api/page/link", "make-page-link", "Make a one-time link that lets a browser in; on the unix socket alone", func(context.Context, *struct{}) (PageLink, error) {
		d, err := s.door()
		if err != nil {
			return PageLink{}, err
		}
		now := d.cfg.Now()
		until := now.Add(d.cfg.LinkLife)
		return PageLink{URL: d.URL() + inPath + d.links.add(until, now), ExpiresAt: until.UTC()}, nil
	})
	command(s, "/api/page/forget", "forget-browsers", "Take back every link and every browser's cookie; on the unix socket alone", func(context.Context, *struct{}) (Forgotten, error) {
		d, err := s.door()
		if err != nil {
			return Forgotten{}, err
		}
		d.links.clear()
		n, err := d.cookies.forget(d.cfg.Now())
		return Forgotten{Forgotten: n}, err
	})
}

func (s *Server) door() (*Door, error) {
	if s.cfg.Door == nil {
		return nil, baton.Errorf(baton.CodeUnsupported, "this server has no page").
			WithDetail("it is off, or found no port at its start").WithHint("see [page] in %s, then `baton serve --stop`", s.cfg.Places.Config)
	}
	return s.cfg.Door, nil
}
