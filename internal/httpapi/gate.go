package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"baton"
)

// gate decides by its headers alone whether a request that came over TCP may be
// looked at. It refuses what a foreign page could make a browser send, and is
// stricter in every respect than http.CrossOriginProtection, which looks at
// methods that change something only, passes a request that has neither Origin
// nor Sec-Fetch-Site, and compares Origin with a Host that it believes (a test
// holds that whatever passes here passes there too).
type gate struct {
	scheme string   // http or https
	hosts  []string // what Host may be, with the port where the scheme needs it
}

// overrides are headers that some servers take for the method.
var overrides = []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"}

func (g gate) check(r *http.Request) error {
	if !slices.Contains(g.hosts, r.Host) {
		return baton.Errorf(baton.CodeForeignHost, "this server is not asked for by that name").
			WithDetail("Host is %q", clip(r.Host)).WithHint("open the address that `baton open` prints")
	}
	if r.URL.IsAbs() {
		return baton.Errorf(baton.CodeInvalid, "this server is no proxy").WithHint("ask for a path")
	}
	for _, h := range overrides {
		if r.Header.Get(h) != "" {
			return baton.Errorf(baton.CodeInvalid, "the method of a request can't be overridden").WithDetail("%s is set", h).WithHint("leave it out")
		}
	}
	if r.Header.Get("Upgrade") != "" || r.Method == http.MethodConnect {
		return baton.Errorf(baton.CodeUnsupported, "this server speaks no other protocol").
			WithHint("live data comes as server-sent events: see /openapi.json")
	}
	if reason := g.foreign(r); reason != "" {
		return baton.Errorf(baton.CodeForeignOrigin, "only Baton's own page may ask for this").WithDetail("%s", reason).
			WithHint("open the page with `baton open`; scripts use the unix socket, as `baton` does")
	}
	return nil
}

// foreign says why a request can't be one that the page made, or a person who
// opened the page. Browsers since 2023 send Sec-Fetch-Site with everything.
//
// The page must ask with fetch's own mode, cors: with the policy no-referrer a
// browser writes the Origin of other POSTs as null.
func (g gate) foreign(r *http.Request) string {
	origins, sites := r.Header.Values("Origin"), r.Header.Values("Sec-Fetch-Site")
	if len(origins) > 1 || len(sites) > 1 {
		return "Origin or Sec-Fetch-Site is there twice"
	}
	if len(origins) == 1 && origins[0] != g.scheme+"://"+r.Host {
		return "Origin is " + clip(origins[0])
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	opens := reads && isPage(r.URL.Path) // what a person may open in a browser
	if len(sites) == 0 {
		if len(origins) == 0 && !opens {
			return "neither Origin nor Sec-Fetch-Site is there"
		}
		return ""
	}
	topLevel := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	switch site := sites[0]; {
	case site == "same-origin":
		return ""
	case site == "none" && reads && topLevel: // typed in, or from a bookmark
		return ""
	case opens && topLevel: // a link somewhere
		return ""
	default:
		return "Sec-Fetch-Site is " + clip(site)
	}
}

// isPage says whether a path is for people, not for programs.
func isPage(path string) bool {
	return path != "/api" && !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/openapi")
}

// clip shortens what a stranger sent, for a message.
func clip(s string) string {
	if len(s) > 100 {
		s = s[:100] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
