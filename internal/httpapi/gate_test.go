package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"baton"
)

// FuzzGate: whatever the gate lets pass, the standard library's protection lets
// pass too, the host is ours, and a script's request shows where it comes from.
func FuzzGate(f *testing.F) {
	for _, method := range []string{"GET", "POST", "OPTIONS"} {
		for _, origin := range []string{"", "null", "http://127.0.0.1:7", "http://localhost:7", "https://evil.example"} {
			for _, site := range []string{"", "none", "same-origin", "same-site", "cross-site"} {
				for _, path := range []string{"/", "/api/threads", "/in/x"} {
					f.Add(method, path, "127.0.0.1:7", origin, site, "navigate", "document")
				}
			}
		}
	}
	f.Add("POST", "/api/threads", "rebound.example:7", "http://rebound.example:7", "same-origin", "cors", "empty")
	g := gate{scheme: "http", hosts: []string{"127.0.0.1:7", "localhost:7"}}
	f.Fuzz(func(t *testing.T, method, path, host, origin, site, mode, dest string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Method, r.Host, r.URL.Path = method, host, path
		for k, v := range map[string]string{"Origin": origin, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest} {
			if v != "" {
				r.Header.Set(k, v)
			}
		}
		if g.check(r) != nil {
			return
		}
		if err := http.NewCrossOriginProtection().Check(r); err != nil {
			t.Errorf("the standard library refuses what the gate lets pass: %v", err)
		}
		if host != "127.0.0.1:7" && host != "localhost:7" {
			t.Errorf("the host %q passes", host)
		}
		if origin != "" && origin != "http://"+host {
			t.Errorf("the origin %q passes for %q", origin, host)
		}
		reads := method == http.MethodGet || method == http.MethodHead
		if origin == "" && site == "" && (!reads || !isPage(path)) {
			t.Errorf("%s %s passes and tells nothing of where it comes from", method, path)
		}
		if (site == "cross-site" || site == "same-site") && (!reads || !isPage(path) || mode != "navigate" || dest != "document") {
			t.Errorf("%s %s of another page passes", method, path)
		}
	})
}

func TestGateOfATLSHost(t *testing.T) {
	g := gate{scheme: "https", hosts: []string{"box.example"}}
	for origin, want := range map[string]baton.Code{"https://box.example": "", "http://box.example": baton.CodeForeignOrigin} {
		r := httptest.NewRequest(http.MethodPost, "/api/threads", nil)
		r.Host = "box.example"
		r.Header.Set("Origin", origin)
		err := g.check(r)
		if want == "" && err != nil || want != "" && baton.ErrorCode(err) != want {
			t.Errorf("%s: %v", origin, err)
		}
	}
}
