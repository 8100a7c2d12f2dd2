package httpapi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton"
)

func TestALinkWorksOnceAndForItsTime(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var l links
	for name, test := range map[string]struct {
		after time.Duration
		ok    bool
	}{"at once": {0, true}, "just in time": {time.Minute - 1, true}, "just too late": {time.Minute, false}, "late": {time.Hour, false}} {
		token := l.add(now.Add(time.Minute), now)
		if err := l.take(token, now.Add(test.after)); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err := l.take(token, now); baton.ErrorCode(err) != baton.CodeLinkOver {
			t.Errorf("%s, then again: %v", name, err)
		}
	}
	for range 10 {
		l.add(now.Add(time.Minute), now)
	}
	last := l.add(now.Add(time.Hour), now.Add(2*time.Minute))
	if len(l.until) != 1 {
		t.Errorf("%d links are kept, one can be used", len(l.until))
	}
	l.clear()
	if err := l.take(last, now); err == nil {
		t.Error("a link that was taken back works")
	}
}

func TestCookiesAreKeptHashedForTheirTime(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "browsers.json")
	c, err := openCookies(path)
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.add(now)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if err != nil || statErr != nil || strings.Contains(string(b), first) || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v %s %v", err, statErr, b, info.Mode())
	}
	if c, err = openCookies(path); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		value string
		at    time.Time
		want  bool
	}{
		"read back":    {first, now, true},
		"its last day": {first, now.Add(cookieLife - 1), true},
		"over":         {first, now.Add(cookieLife), false},
		"clock back":   {first, now.Add(-24 * time.Hour), false},
		"its hash":     {hashed(first), now, false},
		"nothing":      {"", now, false},
		"another":      {secret(), now, false},
	} {
		if c.has(test.value, test.at) != test.want {
			t.Errorf("%s: not %v", name, test.want)
		}
	}
	for range maxCookies {
		if _, err := c.add(now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if c.has(first, now.Add(time.Hour)) || len(c.all) != maxCookies {
		t.Errorf("%d browsers are in, the oldest among them", len(c.all))
	}
	if n, err := c.forget(now.Add(time.Hour)); n != maxCookies || err != nil || len(c.all) != 0 {
		t.Errorf("%d forgotten, %v", n, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestACookieThatCannotBeKeptIsNotGiven(t *testing.T) {
	c := &cookies{path: filepath.Join(t.TempDir(), "none", "browsers.json")}
	if value, err := c.add(time.Now()); err == nil || value != "" || len(c.all) != 0 {
		t.Errorf("%q %v", value, err)
	}
}

// certificate writes a certificate for the names and its key.
func certificate(t *testing.T, names ...string) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: names}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", keyDER)
}

func TestPageAddress(t *testing.T) {
	cert, key := certificate(t, "box.example", "*.box.example")
	unnamed, unnamedKey := certificate(t, "*.box.example")
	for name, test := range map[string]struct {
		address PageAddress
		code    baton.Code // "": it is listened on
		url     string     // begins with
	}{
		"default":          {PageAddress{}, "", "http://127.0.0.1:"},
		"localhost":        {PageAddress{Address: "localhost:0"}, "", "http://127.0.0.1:"},
		"network, plain":   {PageAddress{Address: "0.0.0.0:0", AllowNetwork: true}, baton.CodeForbidden, ""},
		"network, unasked": {PageAddress{Address: "0.0.0.0:0", TLSCert: cert, TLSKey: key}, baton.CodeForbidden, ""},
		"all addresses":    {PageAddress{Address: ":0"}, baton.CodeForbidden, ""},
		"a name":           {PageAddress{Address: "box.example:0"}, baton.CodeForbidden, ""},
		"network":          {PageAddress{Address: "0.0.0.0:0", TLSCert: cert, TLSKey: key, AllowNetwork: true}, "", "https://box.example:"},
		"nameless":         {PageAddress{Address: "0.0.0.0:0", TLSCert: unnamed, TLSKey: unnamedKey, AllowNetwork: true}, baton.CodeConfig, ""},
		"TLS at home":      {PageAddress{Address: "127.0.0.1:0", TLSCert: cert, TLSKey: key}, "", "https://box.example:"},
		"half a pair":      {PageAddress{Address: "127.0.0.1:0", TLSCert: cert}, baton.CodeConfig, ""},
		"no port":          {PageAddress{Address: "127.0.0.1"}, baton.CodeInvalid, ""},
	} {
		l, err := test.address.Listen()
		if err == nil {
			defer l.Close()
		}
		if test.code != "" && baton.ErrorCode(err) != test.code || test.code == "" && (err != nil || !strings.HasPrefix(l.URL(), test.url)) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && strings.Contains(strings.Join(l.gate.hosts, " "), "*") {
			t.Errorf("%s: any host will do: %v", name, l.gate.hosts)
		}
	}
	if l, err := (PageAddress{Address: PageOff}).Listen(); l != nil || err != nil {
		t.Errorf("off: %v %v", l, err)
	}
	first, err := (PageAddress{}).Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := (PageAddress{}).Listen() // whoever has the wanted port, this one gets another
	if err != nil || second.URL() == first.URL() {
		t.Fatal(second, err)
	}
	second.Close()
}

// TestOverTLS lets a client in over TLS: its cookie is for TLS alone.
func TestOverTLS(t *testing.T) {
	cert, key := certificate(t, "localhost")
	l, err := PageAddress{Address: "localhost:0", TLSCert: cert, TLSKey: key}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDoor(DoorConfig{Listener: l, Cookies: filepath.Join(t.TempDir(), "b"), Now: time.Now, Check: func(net.Conn) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(c *Config) { c.Door = d })
	pool := x509.NewCertPool()
	pemBytes, err := os.ReadFile(cert)
	if err != nil || !pool.AppendCertsFromPEM(pemBytes) {
		t.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig.RootCAs = pool
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(httptest.NewRequest(http.MethodGet, ask[PageLink](r, "POST", "/api/page/link", "").URL, nil))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if c := res.Cookies(); res.StatusCode != http.StatusSeeOther || len(c) != 1 || !c[0].Secure || res.ProtoMajor != 2 {
		t.Errorf("%d %s %v", res.StatusCode, res.Proto, c)
	}
}

// TestWhatTheSocketAloneHas: the routes are there, on the socket.
func TestWhatTheSocketAloneHas(t *testing.T) {
	r := newRig(t, nil)
	seen := map[string]bool{}
	for path := range r.server.api.OpenAPI().Paths {
		for _, prefix := range socketOnly {
			seen[prefix] = seen[prefix] || strings.HasPrefix(path, prefix)
		}
	}
	for _, prefix := range socketOnly {
		if !seen[prefix] {
			t.Errorf("nothing begins with %s", prefix)
		}
	}
	r.refused("POST", "/api/page/link", "", 501, baton.CodeUnsupported)
}

// TestNobodyBehindARequest: what is not known to come over a checked
// connection is refused.
func TestNobodyBehindARequest(t *testing.T) {
	d := &Door{cfg: DoorConfig{Check: func(net.Conn) error { return nil }}}
	if err := d.checkPeer(httptest.NewRequest(http.MethodGet, "/", nil)); baton.ErrorCode(err) != baton.CodeForbidden {
		t.Error(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if err := d.checkPeer(r.WithContext(withTCPPeer(context.Background(), nil))); err != nil {
		t.Error(err)
	}
}
