package shim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Reader reads the spool of a session directory without its shim: the evidence
// of a dead one, or a look at a living one. It holds one frame in memory.
type Reader struct {
	after uint64
	paths []string
	path  string // the open segment
	file  *os.File
	buf   *bufio.Reader
	left  int64 // bytes of the open segment not read yet
	last  uint64
	torn  *Torn
}

// Torn says where a spool stopped being evidence.
type Torn struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"` // ignored from there to the end of the file
	Files int    `json:"files"` // whole files behind it, ignored as well
	Error string `json:"error"`
}

// ReadSpool opens the spool in dir for the frames behind after; 0 gives all
// that is still there. The first frame may have a higher number than after+1
// if those between were acknowledged and deleted. A directory without a spool
// gives no frames.
func ReadSpool(dir string, after uint64) (*Reader, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.spool"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, &Error{CodeInvalid, "there is no session directory: " + err.Error()}
	}
	slices.Sort(paths)
	return &Reader{after: after, paths: paths}, nil
}

// Next returns the next frame, and io.EOF behind the last one that is whole.
// What follows a wrong checksum, a cut record or a gap is never given: see Torn.
func (r *Reader) Next() (Frame, error) {
	for {
		f, err := r.next()
		if err != nil || f.Seq > r.after {
			return f, err
		}
	}
}

// Torn returns what was ignored at the end of the spool, once Next has
// returned io.EOF; nil if nothing was.
func (r *Reader) Torn() *Torn { return r.torn }

// Close releases the files.
func (r *Reader) Close() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
	r.paths = nil
}

func (r *Reader) next() (Frame, error) {
	for r.left == 0 {
		if len(r.paths) == 0 {
			return Frame{}, io.EOF
		}
		if err := r.open(); err != nil {
			return Frame{}, err
		}
	}
	f, n, err := r.record()
	if err == nil && r.last != 0 && f.Seq != r.last+1 {
		err = fmt.Errorf("frame %d follows frame %d", f.Seq, r.last)
	}
	if err != nil {
		return Frame{}, r.tear(err)
	}
	r.last, r.left = f.Seq, r.left-n
	return f, nil
}

// open goes to the next segment.
func (r *Reader) open() error {
	if r.file != nil {
		r.file.Close()
	}
	path := r.paths[0]
	r.paths = r.paths[1:]
	r.path = path
	var err error
	if r.file, err = os.Open(path); errors.Is(err, os.ErrNotExist) && r.last == 0 {
		return nil // a living shim has just deleted it
	} else if err != nil {
		return &Error{CodeInvalid, "the spool can't be read: " + err.Error()}
	}
	info, err := r.file.Stat()
	if err != nil {
		return &Error{CodeInvalid, "the spool can't be read: " + err.Error()}
	}
	if r.left = info.Size(); r.left == 0 && len(r.paths) == 0 {
		return nil // the shim died when it had just made it
	}
	r.buf = bufio.NewReaderSize(r.file, 64<<10)
	magic := make([]byte, len(segmentMagic))
	if _, err := io.ReadFull(r.buf, magic); err != nil || string(magic) != segmentMagic {
		return r.tear(errors.New("this is no segment of a spool that this version can read"))
	}
	r.left -= int64(len(magic))
	return nil
}

// record reads one record; its length is believed only as far as the file goes.
func (r *Reader) record() (Frame, int64, error) {
	head, err := r.buf.Peek(recordHead)
	if err != nil {
		return Frame{}, 0, errShort
	}
	size := recordLength(head)
	if size > r.left {
		return Frame{}, 0, errShort
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r.buf, b); err != nil {
		return Frame{}, 0, errShort
	}
	f, _, err := decodeRecord(b)
	return f, size, err
}

// tear ends the reading where the evidence ends.
func (r *Reader) tear(why error) error {
	r.torn = &Torn{File: filepath.Base(r.path), Bytes: r.left, Files: len(r.paths), Error: strings.TrimSpace(why.Error())}
	r.left, r.paths = 0, nil
	return io.EOF
}
