package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// attack is a request that must be refused. code "" is a refusal of package
// net/http, before anything of ours is asked.
type attack struct {
	name, request string
	status        int
	code          string
}

const (
	approve = "POST /api/requests/$REQUEST/answer HTTP/1.1\n"
	yes     = "\n\n" + `{"decision":"approve"}`
)

// with is what the page sends to approve, with one header line replaced. An
// empty line takes it out.
func with(header, line string) string {
	var out []string
	for _, l := range strings.Split(good, "\n") {
		if name, _, _ := strings.Cut(l, ":"); name == header {
			l = line
		}
		if l != "" {
			out = append(out, l)
		}
	}
	return approve + strings.Join(out, "\n") + yes
}

func without(names ...string) string {
	s := with(names[0], "")
	for _, n := range names[1:] {
		for _, l := range strings.Split(good, "\n") {
			if strings.HasPrefix(l, n+":") {
				s = strings.Replace(s, l+"\n", "", 1)
			}
		}
	}
	return s
}

const navigates = "Host: $HOST\nAccept: text/html\nSec-Fetch-Site: none\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document"

var attacks = []attack{
	// Who is asked for, and by whom.
	{"foreign host", with("Host", "Host: evil.example"), 403, "foreign_host"},
	{"rebound DNS name", approve + "Host: rebound.example:$PORT\nCookie: $COOKIE\nOrigin: http://rebound.example:$PORT\nSec-Fetch-Site: same-origin\nContent-Type: application/json" + yes, 403, "foreign_host"},
	{"rebound name that only reads", "GET / HTTP/1.1\nHost: rebound.example:$PORT\nCookie: $COOKIE", 403, "foreign_host"},
	{"another port", with("Host", "Host: 127.0.0.1:1"), 403, "foreign_host"},
	{"no port", with("Host", "Host: 127.0.0.1"), 403, "foreign_host"},
	{"host with a dot behind it", with("Host", "Host: localhost.:$PORT"), 403, "foreign_host"},
	{"HTTP/1.0 without host", strings.Replace(without("Host"), "HTTP/1.1", "HTTP/1.0", 1), 403, "foreign_host"},
	{"HTTP/1.1 without host", without("Host"), 400, ""},
	{"two hosts", with("Host", "Host: $HOST\nHost: evil.example"), 400, ""},
	{"as a proxy", strings.Replace(with("Host", "Host: $HOST"), "POST /", "POST http://evil.example/", 1), 403, "foreign_host"},
	{"as a proxy to itself", strings.Replace(with("Host", "Host: $HOST"), "POST /", "POST http://$HOST/", 1), 422, "invalid"},
	{"foreign origin", with("Origin", "Origin: https://evil.example"), 403, "foreign_origin"},
	{"origin null", with("Origin", "Origin: null"), 403, "foreign_origin"},
	{"origin null, nothing else", approve + "Host: $HOST\nCookie: $COOKIE\nOrigin: null\nContent-Type: application/json" + yes, 403, "foreign_origin"},
	{"empty origin", with("Origin", "Origin:"), 403, "foreign_origin"},
	{"another port's origin", with("Origin", "Origin: http://127.0.0.1:1"), 403, "foreign_origin"},
	{"another name of ours", with("Origin", "Origin: http://localhost:$PORT"), 403, "foreign_origin"},
	{"another scheme", with("Origin", "Origin: https://$HOST"), 403, "foreign_origin"},
	{"two origins", with("Origin", "Origin: $URL\nOrigin: https://evil.example"), 403, "foreign_origin"},
	{"neither origin nor site", without("Origin", "Sec-Fetch-Site"), 403, "foreign_origin"},
	{"cross-site", with("Sec-Fetch-Site", "Sec-Fetch-Site: cross-site"), 403, "foreign_origin"},
	{"same site, another port", with("Sec-Fetch-Site", "Sec-Fetch-Site: same-site"), 403, "foreign_origin"},
	{"typed in, but a POST", with("Sec-Fetch-Site", "Sec-Fetch-Site: none"), 403, "foreign_origin"},
	{"a site of tomorrow", with("Sec-Fetch-Site", "Sec-Fetch-Site: friendly"), 403, "foreign_origin"},
	{"two sites", with("Sec-Fetch-Site", "Sec-Fetch-Site: same-origin\nSec-Fetch-Site: cross-site"), 403, "foreign_origin"},
	{"form of another page", approve + "Host: $HOST\nCookie: $COOKIE\nOrigin: https://evil.example\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\nContent-Type: application/x-www-form-urlencoded\n\ndecision=approve", 403, "foreign_origin"},
	{"form of another page, old browser", approve + "Host: $HOST\nCookie: $COOKIE\nContent-Type: text/plain" + yes, 403, "foreign_origin"},
	{"script reads", "GET /api/threads HTTP/1.1\nHost: $HOST\nCookie: $COOKIE", 403, "foreign_origin"},
	{"script of another page reads", "GET /api/threads HTTP/1.1\nHost: $HOST\nCookie: $COOKIE\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: script", 403, "foreign_origin"},
	{"a link to the API", "GET /api/threads HTTP/1.1\nHost: $HOST\nCookie: $COOKIE\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document", 403, "foreign_origin"},
	{"frame of another page", "GET / HTTP/1.1\nHost: $HOST\nCookie: $COOKIE\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe", 403, "foreign_origin"},
	{"image of another page", "GET / HTTP/1.1\nHost: $HOST\nCookie: $COOKIE\nSec-Fetch-Site: same-site\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: image", 403, "foreign_origin"},
	{"the stream of another page", "GET /api/streams?thread=$THREAD HTTP/1.1\nHost: $HOST\nCookie: $COOKIE\nOrigin: https://evil.example\nSec-Fetch-Site: cross-site", 403, "foreign_origin"},
	{"may I, asks another page", strings.Replace(with("Origin", "Origin: https://evil.example\nAccess-Control-Request-Method: POST"), "POST", "OPTIONS", 1), 403, "foreign_origin"},
	{"may I, asks the page", "OPTIONS /api/threads HTTP/1.1\n$GOOD\nAccess-Control-Request-Method: POST", 404, "not_found"},

	// Cookies.
	{"no cookie", without("Cookie"), 401, "signed_out"},
	{"no cookie, the page", "GET / HTTP/1.1\n" + navigates, 401, "signed_out"},
	{"an empty cookie", with("Cookie", "Cookie: baton_$PORT="), 401, "signed_out"},
	{"a made-up cookie", with("Cookie", "Cookie: baton_$PORT=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), 401, "signed_out"},
	{"another server's cookie", with("Cookie", "Cookie: $OTHER"), 401, "signed_out"},
	{"another server's cookie under our name", with("Cookie", "Cookie: baton_$PORT=$OTHERVALUE"), 401, "signed_out"},
	{"the hash of a cookie", with("Cookie", "Cookie: baton_$PORT=$HASH"), 401, "signed_out"},
	{"the description, signed out", "GET /openapi.json HTTP/1.1\nHost: $HOST\nSec-Fetch-Site: same-origin", 401, "signed_out"},

	// Links.
	{"a link twice", "GET $USED HTTP/1.1\n" + navigates, 410, "link_over"},
	{"a made-up link", "GET /in/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA HTTP/1.1\n" + navigates, 410, "link_over"},
	{"a link of nothing", "GET /in/ HTTP/1.1\n" + navigates, 410, "link_over"},
	{"a link that is taken back", "GET $FORGOTTEN HTTP/1.1\n" + navigates, 410, "link_over"},
	{"a link's head", "HEAD $FRESH HTTP/1.1\n" + navigates, 403, ""},
	{"a link as a form", "POST $FRESH HTTP/1.1\n" + strings.Replace(navigates, "none", "same-origin", 1) + "\n\nx=y", 403, "forbidden"},
	{"a link ahead of time", "GET $FRESH HTTP/1.1\n" + navigates + "\nSec-Purpose: prefetch;prerender", 403, "forbidden"},
	{"a link as an image", "GET $FRESH HTTP/1.1\nHost: $HOST\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: image", 403, "foreign_origin"},

	// Paths.
	{"up and out", "GET /api/threads/..%2f..%2f..%2fetc%2fpasswd HTTP/1.1\n$GOOD", 404, "not_found"},
	{"up and out, dots written out", "GET /api/runs/%2e%2e%2f%2e%2e%2fserver.log HTTP/1.1\n$GOOD", 404, "not_found"},
	{"up and out of the page", "GET /../../etc/passwd HTTP/1.1\n$GOOD", 404, "not_found"},
	{"NUL", "GET /api/threads/thr_%00 HTTP/1.1\n$GOOD", 404, "not_found"},
	{"no UTF-8", "GET /api/threads/%ff%fe HTTP/1.1\n$GOOD", 404, "not_found"},
	{"very long", "GET /api/threads/" + strings.Repeat("A", 30_000) + " HTTP/1.1\n$GOOD", 404, "not_found"},
	{"longer than that", "GET /api/threads/" + strings.Repeat("A", 300_000) + " HTTP/1.1\n$GOOD", 431, ""},
	{"an id in a body's place", "POST /api/requests/..%2f$REQUEST/answer HTTP/1.1\n$GOOD" + yes, 404, "not_found"},

	// Methods and protocols.
	{"method override", "GET /api/requests/$REQUEST/answer HTTP/1.1\n$GOOD\nX-HTTP-Method-Override: POST", 422, "invalid"},
	{"method override in the query", "GET /api/requests/$REQUEST/answer?_method=POST HTTP/1.1\n$GOOD", 404, "not_found"},
	{"a method that nothing has", "DELETE /api/threads/$THREAD HTTP/1.1\n$GOOD", 404, "not_found"},
	{"TRACE", "TRACE / HTTP/1.1\n$GOOD", 404, "not_found"},
	{"CONNECT", "CONNECT $HOST HTTP/1.1\n$GOOD", 501, "unsupported"},
	{"websocket", "GET /api/streams?thread=$THREAD HTTP/1.1\n$GOOD\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", 501, "unsupported"},
	{"websocket of another page", "GET / HTTP/1.1\nHost: $HOST\nCookie: $COOKIE\nOrigin: https://evil.example\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", 501, "unsupported"},
	{"HTTP/2 on the way", "GET /api/threads HTTP/1.1\n$GOOD\nConnection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: AAMAAABk", 501, "unsupported"},
	{"a body that is not JSON", with("Content-Type", "Content-Type: text/plain"), 422, "invalid"},

	// What the socket alone has.
	{"end the server", "POST /api/server/stop HTTP/1.1\n$GOOD\n\n{}", 403, "forbidden"},
	{"end the server, written otherwise", "POST /api/%73erver%2Fstop HTTP/1.1\n$GOOD\n\n{}", 403, "forbidden"},
	{"make a link", "POST /api/page/link HTTP/1.1\n$GOOD\n\n{}", 403, "forbidden"},
	{"send others out", "POST /api/page/forget HTTP/1.1\n$GOOD\n\n{}", 403, "forbidden"},
	{"write a file", "POST /api/backup HTTP/1.1\n$GOOD\n\n" + `{"file":"/tmp/stolen"}`, 403, "forbidden"},
	{"trust a project", "POST /api/project/trust HTTP/1.1\n$GOOD\n\n" + `{"dir":"/tmp","trusted":true}`, 403, "forbidden"},
	{"subscribe for another page", "POST /api/streams/str_x HTTP/1.1\nHost: $HOST\nCookie: $COOKIE\nOrigin: null\nContent-Type: application/json\n\n{}", 403, "foreign_origin"},
	{"read the inside", "GET /api/debug/threads/$THREAD/events HTTP/1.1\n$GOOD", 403, "forbidden"},
}

// TestAttacks makes every request of the list against a real server that has a
// cookie in the attacker's browser and a request to be approved.
func TestAttacks(t *testing.T) {
	h := newHouse(t, "")
	other := newHouse(t, "")
	h.enter()
	other.enter()
	forgotten := h.link()
	h.baton("open", "--forget")
	used := h.link()
	h.knock("GET " + used + " HTTP/1.1\n" + navigates)
	h.enter()
	h.furnish()
	fresh := h.link()
	browsers, err := os.ReadFile(filepath.Join(h.home, "browsers.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, hash, _ := strings.Cut(string(browsers), `"hash":"`)
	_, value, _ := strings.Cut(other.cookie, "=")
	fill := strings.NewReplacer("$USED", used, "$FORGOTTEN", forgotten, "$FRESH", fresh, "$OTHERVALUE", value, "$OTHER", other.cookie, "$HASH", hash[:64])
	before := h.state()
	for _, a := range attacks {
		got := h.knock(fill.Replace(a.request))
		if got.StatusCode != a.status || got.code != a.code {
			t.Errorf("%s: %d %q, want %d %q\n%s", a.name, got.StatusCode, got.code, a.status, a.code, clipped(got.body))
		}
		if a.code != "" {
			h.guarded(a.name, got)
		}
		if len(got.body) > 2000 {
			t.Errorf("%s: is answered with %d bytes", a.name, len(got.body))
		}
		if got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: got a cookie", a.name)
		}
	}
	if after := h.state(); after != before {
		t.Errorf("something has changed, from\n%s\nto\n%s", before, after)
	}
	log, err := os.ReadFile(filepath.Join(h.home, "server.log"))
	if err != nil || bytes.Contains(log, []byte("/in/")) || bytes.Contains(log, []byte(fresh[4:])) {
		t.Errorf("the log tells a link: %v %s", err, log)
	}

	// What is left of the fresh link, and the page's own requests, work: the
	// attacks were refused for what is wrong with them.
	if got := h.knock("GET " + fresh + " HTTP/1.1\n" + navigates); got.StatusCode != 303 {
		t.Errorf("the link that nobody used: %d %s", got.StatusCode, got.body)
	}
	for _, ok := range []struct{ name, request, body string }{
		{"the page", "GET / HTTP/1.1\nCookie: $COOKIE\n" + navigates, "attacked"},
		{"the page, from a link on another one", "GET / HTTP/1.1\nCookie: $COOKIE\n" + strings.Replace(navigates, "none", "cross-site", 1), "attacked"},
		{"the page's reads", "GET /api/threads HTTP/1.1\n$GOOD", "attacked"},
		{"reads without an origin", "GET /api/threads HTTP/1.1\nHost: $HOST\nCookie: $COOKIE\nSec-Fetch-Site: same-origin", "attacked"},
		{"by another name", "GET /api/threads HTTP/1.1\nHost: localhost:$PORT\nCookie: $COOKIE\nOrigin: http://localhost:$PORT", "attacked"},
		{"the description", "GET /openapi.json HTTP/1.1\n$GOOD", "openapi"},
		{"the page's commands", approve + good + yes, "{"},
	} {
		got := h.knock(ok.request)
		if got.StatusCode != 200 || !bytes.Contains(got.body, []byte(ok.body)) {
			t.Errorf("%s: %d %s", ok.name, got.StatusCode, clipped(got.body))
		}
		h.guarded(ok.name, got)
	}
	if got := h.baton("requests", "--json"); bytes.Contains(got, []byte("pending")) {
		t.Errorf("the page could not approve: %s", got)
	}
}

// TestALinkAfterItsTime: a link that lived for a nanosecond lets nobody in.
func TestALinkAfterItsTime(t *testing.T) {
	h := newHouse(t, "[page]\nlink_life = \"1ns\"\n")
	link := h.link()
	if got := h.knock("GET " + link + " HTTP/1.1\n" + navigates); got.StatusCode != 410 || got.code != "link_over" || !bytes.Contains(got.body, []byte("baton open")) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

// TestALinkFromAnotherPage: the browser gets its cookie, and goes on in a step
// that is no longer the other page's.
func TestALinkFromAnotherPage(t *testing.T) {
	h := newHouse(t, "")
	link := h.link()
	got := h.knock("GET " + link + " HTTP/1.1\n" + strings.Replace(navigates, "none", "cross-site", 1))
	if got.StatusCode != 200 || got.Header.Get("Set-Cookie") == "" || !bytes.Contains(got.body, []byte(`content="0; url=/"`)) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	h.guarded("link", got)
}

func clipped(b []byte) string { return string(b[:min(len(b), 300)]) }
