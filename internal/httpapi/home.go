package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"

	"baton"
	"baton/internal/journal"
)

//go:embed home.css
var homeCSS string

//go:embed home.html
var homeHTML string

var homePage = template.Must(template.New("home").Parse(homeHTML))

// homePolicy lets the one style sheet in, which is part of the page, and nothing else.
var homePolicy = func() string {
	sum := sha256.Sum256([]byte(homeCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// homeView is what home.html shows: one of its parts.
type homeView struct {
	CSS     template.CSS
	Title   string
	Refresh bool // goes to the page at once
	Problem *Problem
	Server  *homeServer
}

type homeServer struct {
	Version string
	Threads []Thread
	More    bool
}

func writeHome(w http.ResponseWriter, status int, v homeView) {
	v.CSS = template.CSS(homeCSS) //nolint:gosec // it is a file of ours
	var b bytes.Buffer
	if err := homePage.Execute(&b, v); err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Security-Policy", homePolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// home shows that Baton runs, and its newest threads.
func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" || r.Method != http.MethodGet && r.Method != http.MethodHead {
		refusePage(w, r, baton.Errorf(baton.CodeNotFound, "there is no %s %s", clip(r.Method), clip(r.URL.Path)).WithHint("the page is at /"))
		return
	}
	view := &homeServer{Version: s.cfg.Version}
	err := s.cfg.Engine.View(r.Context(), func(j journal.Reader) error {
		p, err := page[threadDoc](r.Context(), j, journal.Query{Kind: journal.KindThread, Desc: true, Limit: 50}, "")
		for _, d := range p.Items {
			view.Threads = append(view.Threads, d.thread())
		}
		view.More = p.Next != ""
		return err
	})
	if err != nil {
		refusePage(w, r, s.fail(err))
		return
	}
	writeHome(w, http.StatusOK, homeView{Title: "Baton", Server: view})
}

// goOn sends the browser to the page in a step of its own.
func goOn(w http.ResponseWriter) {
	writeHome(w, http.StatusOK, homeView{Title: "Baton", Refresh: true})
}

// refusePage answers a person with a page and a program with a problem.
func refusePage(w http.ResponseWriter, r *http.Request, err error) {
	if isPage(r.URL.Path) && strings.Contains(r.Header.Get("Accept"), "text/html") {
		p := ProblemOf(err)
		writeHome(w, p.Status, homeView{Title: p.Title, Problem: p})
		return
	}
	refuse(w, err)
}
