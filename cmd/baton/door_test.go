package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"baton/internal/httpapi"
)

// house is a real server with its data in a directory of its own, one thread in
// it, and a request that waits.
type house struct {
	*testing.T
	home    string
	url     string // without a slash at its end
	host    string
	cookie  string // NAME=VALUE of a browser that is in
	thread  string
	request string
}

func newHouse(t *testing.T, config string) *house {
	t.Helper()
	home, err := os.MkdirTemp("", "door")
	if err != nil {
		t.Fatal(err)
	}
	h := &house{T: t, home: home}
	t.Cleanup(func() { endAll(t, home); os.RemoveAll(home) })
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// baton runs the command line and returns what it printed.
func (h *house) baton(args ...string) []byte {
	h.Helper()
	cmd := exec.CommandContext(h.Context(), "baton", args...)
	cmd.Env = []string{"BATON_HOME=" + h.home, "HOME=" + h.home, "PATH=" + os.Getenv("PATH")}
	cmd.Dir = h.home
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != exitWaits) {
		h.Fatalf("baton %v: %v %s", args, err, out)
	}
	return out
}

// link returns the path of a new link.
func (h *house) link() string {
	h.Helper()
	var l httpapi.PageLink
	if err := json.Unmarshal(h.baton("open", "--json"), &l); err != nil {
		h.Fatal(err)
	}
	at := strings.Index(l.URL, "/in/")
	h.url, h.host = l.URL[:at], strings.TrimPrefix(l.URL[:at], "http://")
	return l.URL[at:]
}

// enter lets a browser in and keeps its cookie.
func (h *house) enter() {
	h.Helper()
	link := h.link()
	a := h.knock("GET " + link + " HTTP/1.1\nHost: $HOST\nAccept: text/html\nSec-Fetch-Site: none\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document")
	set := a.Header.Get("Set-Cookie")
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/" {
		h.Fatalf("the link is answered with %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	for _, want := range []string{"; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=2592000"} {
		if !strings.Contains(set, want) {
			h.Errorf("the cookie %q is without %q", set, want)
		}
	}
	h.cookie, _, _ = strings.Cut(set, ";")
}

// furnish makes a thread whose run waits for a person.
func (h *house) furnish() {
	h.Helper()
	h.thread = strings.TrimSpace(string(h.baton("new", "--title", "attacked")))
	h.baton("send", h.thread, "[[ask touch done]]", "--provider", "script", "--wait")
	var all []httpapi.Request
	if err := json.Unmarshal(h.baton("requests", "--json"), &all); err != nil || len(all) != 1 {
		h.Fatalf("%v %v", all, err)
	}
	h.request = all[0].ID
}

// state is everything that an attack could have changed.
func (h *house) state() string {
	h.Helper()
	_, err := os.Stat(filepath.Join(h.home, "done"))
	return string(h.baton("ls", "--json")) + string(h.baton("show", h.thread, "--json")) + string(h.baton("requests", "--json")) + os.ErrNotExist.Error() + errText(err)
}

func errText(err error) string {
	if err == nil {
		return "done"
	}
	return ""
}

// answer is what came back.
type answer struct {
	*http.Response
	body []byte
	code string // of a problem
}

// good stands for what a browser sends with a command of the page itself.
const good = "Host: $HOST\nCookie: $COOKIE\nOrigin: $URL\nSec-Fetch-Site: same-origin\nSec-Fetch-Mode: cors\nSec-Fetch-Dest: empty\nContent-Type: application/json"

// knock sends a request, head and body parted by an empty line, byte for byte,
// on a connection of its own. The length of the body is added.
func (h *house) knock(request string) answer {
	h.Helper()
	request = strings.NewReplacer("$GOOD", good).Replace(request)
	request = strings.NewReplacer("$HOST", h.host, "$URL", h.url, "$COOKIE", h.cookie, "$REQUEST", h.request, "$THREAD", h.thread,
		"$PORT", h.host[strings.LastIndexByte(h.host, ':')+1:]).Replace(request)
	head, body, _ := strings.Cut(request, "\n\n")
	if body != "" {
		head += "\nContent-Length: " + itoa(len(body))
	}
	conn, err := net.Dial("tcp", h.host)
	if err != nil {
		h.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+body); err != nil {
		h.Fatal(err)
	}
	method, _, _ := strings.Cut(head, " ")
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		h.Fatal(err)
	}
	a := answer{Response: res}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		a.body, _ = io.ReadAll(res.Body)
	}
	var p httpapi.Problem
	if json.Unmarshal(a.body, &p) == nil {
		a.code = string(p.Code)
	} else if bytes.Contains(a.body, []byte("<small>")) {
		_, rest, _ := bytes.Cut(a.body, []byte("<p><small>"))
		code, _, _ := bytes.Cut(rest, []byte("<"))
		a.code = string(code)
	}
	return a
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// guarded complains about an answer without the headers that all must have.
func (h *house) guarded(name string, a answer) {
	h.Helper()
	for header, want := range map[string]string{"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store"} {
		if got := a.Header.Get(header); got != want {
			h.Errorf("%s: %s is %q", name, header, got)
		}
	}
	csp := a.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "frame-ancestors 'none'") || !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		h.Errorf("%s: the policy is %q", name, csp)
	}
	for header := range a.Header {
		if strings.HasPrefix(header, "Access-Control-") {
			h.Errorf("%s: %s is set", name, header)
		}
	}
}
