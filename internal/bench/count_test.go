package bench

import (
	"net"
	"sync/atomic"
)

// counter counts the bytes that connections have received.
type counter struct{ n atomic.Int64 }

type counting struct {
	net.Conn
	c *counter
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.c.n.Add(int64(n))
	return n, err
}
