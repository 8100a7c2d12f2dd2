package httpapi

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"baton"
)

// PagePort is where the page is looked for first: BATON on a telephone's keys.
const PagePort = 22866

// PageOff is the address of a page that is not served.
const PageOff = "off"

// PageAddress says where the page is to be served.
type PageAddress struct {
	Address      string // host:port; "": PagePort or, where that is taken, any port of 127.0.0.1; PageOff: nowhere
	TLSCert      string // file, PEM
	TLSKey       string // file, PEM
	AllowNetwork bool   // an address that other machines can reach is meant
}

// PageListener is a listener for the page and the names by which it is asked for.
type PageListener struct {
	net.Listener
	tls  *tls.Config // nil: plain HTTP
	gate gate
}

// Loopback says whether an address is one that only this machine can reach.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Listen opens the address. Where the page is off it returns nil and no error.
func (p PageAddress) Listen() (*PageListener, error) {
	if p.Address == PageOff {
		return nil, nil
	}
	cert, err := p.certificate()
	if err != nil {
		return nil, err
	}
	if p.Address == "" {
		p.Address = "127.0.0.1:0"
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(PagePort))); err == nil {
			return p.listener(l, nil, cert)
		}
	}
	if _, _, err := net.SplitHostPort(p.Address); err != nil {
		return nil, baton.Errorf(baton.CodeInvalid, "%q is no address to listen on", p.Address).WithDetail("%v", err).WithHint("write host:port, such as 127.0.0.1:0")
	}
	if !Loopback(p.Address) && (cert == nil || !p.AllowNetwork) {
		return nil, baton.Errorf(baton.CodeForbidden, "other machines could reach %s", p.Address).
			WithDetail("who gets in there has the agents at their command; nothing was started").
			WithHint("take 127.0.0.1, or give --tls-cert, --tls-key and --allow-network too")
	}
	address := strings.Replace(p.Address, "localhost:", "127.0.0.1:", 1)
	l, err := net.Listen("tcp", address)
	return p.listener(l, err, cert)
}

func (p PageAddress) certificate() (*tls.Certificate, error) {
	if p.TLSCert == "" && p.TLSKey == "" {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(p.TLSCert, p.TLSKey)
	if err != nil {
		return nil, baton.Errorf(baton.CodeConfig, "the certificate can't be used").WithDetail("%v", err).
			WithHint("give both --tls-cert and --tls-key, each a PEM file")
	}
	return &cert, nil
}

// listener puts together what belongs to an open listener. Over TLS the names
// are those of the certificate: a browser believes no other.
func (p PageAddress) listener(l net.Listener, err error, cert *tls.Certificate) (*PageListener, error) {
	if err != nil {
		return nil, baton.Errorf(baton.CodeConfig, "the page can't be served on %s", p.Address).WithDetail("%v", err).
			WithHint("choose another address with [page] address or --listen; \"off\" serves none")
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	out := &PageListener{Listener: l, gate: gate{scheme: "http"}}
	names := []string{}
	if host, _, _ := net.SplitHostPort(l.Addr().String()); Loopback(l.Addr().String()) {
		names = append(names, host, "127.0.0.1", "localhost", "::1")
	}
	if cert != nil {
		out.gate.scheme = "https"
		out.tls = &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12}
		leaf, err := x509.ParseCertificate(cert.Certificate[0])
		if err != nil {
			l.Close()
			return nil, baton.Errorf(baton.CodeConfig, "the certificate can't be read").WithDetail("%v", err)
		}
		named := certificateNames(leaf)
		if len(named) == 0 && len(names) == 0 {
			l.Close()
			return nil, baton.Errorf(baton.CodeConfig, "the certificate names no host").
				WithDetail("it has no DNS name without a wildcard and no IP address").WithHint("take one that names the host that you will open")
		}
		names = append(named, names...)
	}
	for _, name := range names {
		host := net.JoinHostPort(name, port)
		if !slices.Contains(out.gate.hosts, host) {
			out.gate.hosts = append(out.gate.hosts, host)
		}
		if port == map[string]string{"http": "80", "https": "443"}[out.gate.scheme] {
			out.gate.hosts = append(out.gate.hosts, strings.TrimSuffix(host, ":"+port))
		}
	}
	return out, nil
}

func certificateNames(leaf *x509.Certificate) (names []string) {
	for _, n := range leaf.DNSNames {
		if !strings.Contains(n, "*") {
			names = append(names, strings.ToLower(n))
		}
	}
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

// URL is where a browser finds the page, without a slash at its end.
func (l *PageListener) URL() string { return l.gate.scheme + "://" + l.gate.hosts[0] }

// cookieName is the name of this server's cookie: cookies know no ports.
func (l *PageListener) cookieName() string {
	return "baton_" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
