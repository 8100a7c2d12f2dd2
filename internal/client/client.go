// Package client is the Go client of the API, for the command line. It speaks
// over the server's unix socket and starts a server where none runs.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"

	"baton"
	"baton/internal/httpapi"
)

// Client talks to one server. It is safe for concurrent use.
type Client struct {
	socket string
	http   *http.Client
	start  *Start // how a server is started where ours went away; nil: it is not
	times  times
	// followed is the thread that was followed. From then on a server that went
	// away is waited for and not started, since a person may have ended it.
	followed atomic.Pointer[string]
}

// New makes a client of the server on the socket. It does not connect yet.
func New(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return &Client{socket: socket, http: &http.Client{Transport: &http.Transport{DialContext: dial, ResponseHeaderTimeout: usual.answer}}, times: usual}
}

// Close ends the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get reads path into out. A client that Connect has made reads again when the
// server goes away: it starts the next one or, where it has followed a thread,
// waits for it as Stream does.
func (c *Client) Get(ctx context.Context, path string, query url.Values, out any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	for {
		err := c.do(ctx, http.MethodGet, path, nil, out)
		if err == nil || baton.ErrorCode(err) != baton.CodeServerUnreachable {
			return err
		}
		if err := c.back(ctx, err); err != nil {
			return err
		}
	}
}

// Post sends in, which may be nil, to path and reads the answer into out.
func (c *Client) Post(ctx context.Context, path string, in, out any) error {
	if in == nil {
		in = struct{}{}
	}
	return c.do(ctx, http.MethodPost, path, in, out)
}

// Patch does the same for a change of what is at path.
func (c *Client) Patch(ctx context.Context, path string, in, out any) error {
	return c.do(ctx, http.MethodPatch, path, in, out)
}

// All reads a whole list, part by part.
func All[T any](ctx context.Context, c *Client, path string, query url.Values) ([]T, error) {
	out := []T{}
	q := url.Values{}
	for k, v := range query {
		q[k] = v
	}
	for {
		var p httpapi.Page[T]
		if err := c.Get(ctx, path, q, &p); err != nil {
			return nil, err
		}
		out = append(out, p.Items...)
		if p.Next == "" {
			return out, nil
		}
		q.Set("cursor", p.Next)
	}
}

func (c *Client) request(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://baton"+path, body)
	if err != nil {
		return nil, baton.Errorf(baton.CodeInvalid, "this can't be asked for").WithDetail("%v", err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" {
			return nil, unreachable(err)
		}
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			return nil, silent(c.times.answer)
		}
		return nil, baton.Errorf(baton.CodeServerUnreachable, "the server went away").
			WithDetail("%v; whether it took the command is not known", err).WithHint("send it again with the same --command-id")
	}
	return res, nil
}

func unreachable(err error) *baton.Error {
	return baton.Errorf(baton.CodeServerUnreachable, "no server answers").WithDetail("%v", err).WithHint("start one with `baton serve`")
}

func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	res, err := c.request(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return baton.Errorf(baton.CodeServerUnreachable, "the server went away").WithDetail("%v", err).WithHint("try again")
	}
	if res.StatusCode >= 300 {
		return httpapi.Failure(res.StatusCode, b)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return baton.Errorf(baton.CodeInternal, "the server's answer can't be read").WithDetail("%v", err).
			WithHint("the server may be of another version: `baton serve --stop`, then try again")
	}
	return nil
}

// Path builds a path of the API out of a pattern's parts, each escaped.
func Path(parts ...string) string {
	s := "/api"
	for _, p := range parts {
		s += "/" + url.PathEscape(p)
	}
	return s
}
