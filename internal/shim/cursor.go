package shim

import (
	"bytes"
	"io"
	"os"
)

const batchBytes = 128 << 10

// cursor walks over a living spool for one connection. It hands out runs of
// whole records by their place in a file, so that no record is ever held in
// memory whole. Not safe for concurrent use.
type cursor struct {
	spool *spool
	next  uint64 // number of the next record
	seg   uint64 // first number of the open segment
	file  *os.File
	off   int64 // where the next record starts
	buf   []byte
}

func newCursor(s *spool, after uint64) *cursor {
	return &cursor{spool: s, next: after + 1, buf: make([]byte, 0, batchBytes)}
}

func (c *cursor) close() {
	if c.file != nil {
		c.file.Close()
		c.file = nil
	}
}

// batch returns the next records, at most limit bytes of them but at least
// one. If there are none yet, r is nil and changed is closed when to look again.
func (c *cursor) batch(limit int) (r io.Reader, size int64, changed <-chan struct{}, err error) {
	seg, changed, ok := c.spool.find(c.next)
	if !ok {
		return nil, 0, nil, errDeleted
	}
	if err := c.open(seg); err != nil {
		return nil, 0, nil, err
	}
	if seg.last < c.next {
		return nil, 0, changed, nil
	}
	first, err := c.fill(seg.size)
	if err != nil {
		return nil, 0, nil, err
	}
	start := c.off
	if first > int64(len(c.buf)) || first > int64(limit) {
		size = first
		c.next++
	} else {
		for rest := c.buf; len(rest) >= recordHead && recordLength(rest) <= int64(len(rest)) && size+recordLength(rest) <= int64(limit); {
			n := recordLength(rest)
			rest, size, c.next = rest[n:], size+n, c.next+1
		}
	}
	c.off += size
	if size <= int64(len(c.buf)) {
		return bytes.NewReader(c.buf[:size]), size, nil, nil
	}
	return io.NewSectionReader(c.file, start, size), size, nil, nil
}

// open makes seg the open segment, and finds the place of c.next in it.
func (c *cursor) open(seg segment) error {
	if c.file != nil && c.seg == seg.first {
		return nil
	}
	f, err := os.Open(seg.path)
	if err != nil {
		return errDeleted
	}
	c.close()
	c.file, c.seg, c.off = f, seg.first, int64(len(segmentMagic))
	for c.off < seg.size {
		if _, err := c.fill(seg.size); err != nil {
			return err
		}
		rest := c.buf
		for len(rest) >= recordHead {
			if recordSeq(rest) == c.next {
				return nil
			}
			n := recordLength(rest)
			c.off += n
			rest = rest[min(n, int64(len(rest))):]
		}
	}
	return nil
}

// fill reads from the place of the next record on, up to end, and returns the
// length of the first record.
func (c *cursor) fill(end int64) (first int64, err error) {
	c.buf = c.buf[:min(int64(cap(c.buf)), end-c.off)]
	if _, err := c.file.ReadAt(c.buf, c.off); err != nil {
		return 0, err
	}
	if len(c.buf) < recordHead {
		return 0, errShort
	}
	return recordLength(c.buf), nil
}

// copyBuffer returns room to copy a batch of size bytes with; a batch that lies
// in the cursor's own buffer needs none.
func (c *cursor) copyBuffer(size int64) []byte {
	if size <= int64(len(c.buf)) {
		return nil
	}
	return c.buf[:cap(c.buf)]
}
