package shim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"os"
	"path/filepath"
)

const (
	lineBuffer   = 64 << 10
	oversizeHead = 4 << 10
)

// lines cuts one stream of the agent into frames. Short lines pass through one
// buffer; a line that outgrows it is collected in a file, so that the shim's
// memory doesn't depend on what an agent prints.
type lines struct {
	spool *spool
	kind  Kind // KindIn or KindErr
	max   int64
	quit  <-chan struct{} // closed: give up waiting for room in the spool
	recs  []record        // reused
}

// run reads r to its end. It returns false when it gave up before that.
func (l *lines) run(r io.Reader) bool {
	buf := make([]byte, lineBuffer)
	n := 0 // bytes of an unfinished line at the start of buf
	var long *longLine
	defer func() { long.discard() }()
	for {
		got, err := r.Read(buf[n:])
		chunk := buf[:n+got]
		if long != nil {
			end := bytes.IndexByte(chunk, '\n')
			if end < 0 {
				long.add(chunk)
				chunk = nil
			} else {
				long.add(chunk[:end])
				if !l.emitLong(long, 0) {
					return false
				}
				long, chunk = nil, chunk[end+1:]
			}
		}
		rest, ok := l.emit(chunk)
		if !ok {
			return false
		}
		n = copy(buf, rest)
		if n == len(buf) {
			long, n = l.newLong(), 0
			long.add(buf)
		}
		if err == nil {
			continue
		}
		switch { // the stream has ended, perhaps in the middle of a line
		case long != nil:
			return l.emitLong(long, flagPartial)
		case n > 0:
			return l.emitPartial(buf[:n])
		}
		return true
	}
}

// emit spools the whole lines of chunk and returns what follows the last one.
func (l *lines) emit(chunk []byte) (rest []byte, ok bool) {
	recs := l.recs[:0]
	defer func() { l.recs = recs[:0] }()
	for {
		end := bytes.IndexByte(chunk, '\n')
		if end < 0 {
			return chunk, len(recs) == 0 || l.put(recs)
		}
		line := bytes.TrimSuffix(chunk[:end], []byte{'\r'})
		chunk = chunk[end+1:]
		if int64(len(line)) <= l.max {
			recs = append(recs, record{kind: l.kind, data: line})
			continue
		}
		if len(recs) > 0 && !l.put(recs) {
			return nil, false
		}
		if recs = recs[:0]; !l.putShortOversize(line) {
			return nil, false
		}
	}
}

// emitPartial spools what the stream ended with, after its last line break.
func (l *lines) emitPartial(line []byte) bool {
	if int64(len(line)) > l.max {
		return l.putShortOversize(line)
	}
	return l.put([]record{{kind: l.kind, flags: flagPartial, data: line}})
}

func (l *lines) put(recs []record) bool {
	var n int64
	for _, r := range recs {
		n += r.size()
	}
	return l.spool.output(n, l.quit, func() error {
		_, err := l.spool.append(recs...)
		return err
	})
}

func (l *lines) putShortOversize(line []byte) bool {
	sum := sha256.Sum256(line)
	return l.putOversize(int64(len(line)), sum[:], line)
}

func (l *lines) putOversize(length int64, sum, head []byte) bool {
	stream := "in"
	if l.kind == KindErr {
		stream = "err"
	}
	data, _ := json.Marshal(Oversize{Stream: stream, Length: length, SHA256: hex.EncodeToString(sum),
		Head: head[:min(len(head), oversizeHead)]})
	return l.put([]record{{kind: KindOversize, data: data}})
}

// longLine is a line that doesn't fit into the buffer. Past the longest frame
// only its length, hash and head are kept.
type longLine struct {
	file   *os.File
	max    int64
	length int64 // without a carriage return that is held back
	cr     bool  // the last byte was a carriage return: content or line break?
	sum    hash.Hash
	head   []byte
	err    error // the file could not be written
}

func (l *lines) newLong() *longLine {
	f, err := os.OpenFile(filepath.Join(l.spool.dir, "line."+l.kind.String()), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if f != nil {
		os.Remove(f.Name()) // it lives as long as it is open
	}
	return &longLine{file: f, err: err, max: l.max, sum: sha256.New()}
}

func (g *longLine) add(b []byte) {
	if g.cr && len(b) > 0 {
		g.cr = false
		g.write([]byte{'\r'})
	}
	if len(b) > 0 && b[len(b)-1] == '\r' {
		g.cr = true
		b = b[:len(b)-1]
	}
	g.write(b)
}

func (g *longLine) write(b []byte) {
	g.sum.Write(b)
	g.head = append(g.head, b[:min(len(b), oversizeHead-len(g.head))]...)
	if g.err == nil && g.length+int64(len(b)) <= g.max {
		_, g.err = g.file.WriteAt(b, g.length)
	}
	g.length += int64(len(b))
}

func (g *longLine) discard() {
	if g != nil && g.file != nil {
		g.file.Close()
	}
}

// emitLong spools a long line. One that no file could hold (a full disk) is
// reported like an oversize one rather than kept in memory.
func (l *lines) emitLong(g *longLine, flags uint8) bool {
	defer g.discard()
	if flags == flagPartial && g.cr {
		g.cr = false
		g.write([]byte{'\r'})
	}
	if g.length > l.max || g.err != nil {
		return l.putOversize(g.length, g.sum.Sum(nil), g.head)
	}
	return l.spool.output(recordHead+g.length, l.quit, func() error {
		return l.spool.appendFile(l.kind, flags, g.file, g.length)
	})
}
