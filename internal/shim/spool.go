package shim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"baton/internal/failpoint"
)

const (
	maxSegment   = 8 << 20
	minSegment   = 64 << 10
	writeReserve = 64 << 20 // room beyond the cap for what goes to the agent
	diskRetry    = time.Second
)

// spool appends records to segment files and deletes acknowledged segments.
// Its methods may be called from any goroutine.
type spool struct {
	dir        string
	cap        int64
	segmentCap int64

	mu      sync.Mutex
	segs    []*segment // the last one is open for appending
	file    *os.File
	last    uint64        // number of the newest record
	acked   uint64        // number of the newest committed record
	size    int64         // bytes in all segments
	blocked bool          // a blocked record stands, no unblocked one yet
	diskErr error         // why the disk took nothing when last asked
	changed chan struct{} // closed and replaced at every change
	scratch []byte
}

type segment struct {
	path        string
	first, last uint64 // last < first: empty
	size        int64
}

func segmentName(first uint64) string { return fmt.Sprintf("%020d.spool", first) }

func newSpool(dir string, capacity int64) (*spool, error) {
	s := &spool{
		dir: dir, cap: capacity,
		segmentCap: min(max(capacity/16, minSegment), maxSegment),
		changed:    make(chan struct{}),
	}
	return s, s.roll()
}

// roll opens a new segment. With mu held, or before the spool is shared.
func (s *spool) roll() error {
	path := filepath.Join(s.dir, segmentName(s.last+1))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte(segmentMagic), 0); err != nil {
		f.Close()
		os.Remove(path)
		return err
	}
	if s.file != nil {
		s.file.Close()
	}
	s.file = f
	s.segs = append(s.segs, &segment{path: path, first: s.last + 1, last: s.last, size: int64(len(segmentMagic))})
	s.size += int64(len(segmentMagic))
	return nil
}

// append writes records as one write and returns the number of the last one.
// On an error nothing is appended.
func (s *spool) append(recs ...record) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appendLocked(recs...)
}

func (s *spool) appendLocked(recs ...record) (uint64, error) {
	seg, err := s.writable()
	if err != nil {
		return 0, err
	}
	now, seq, b := time.Now(), s.last, s.scratch[:0]
	for _, r := range recs {
		seq++
		b = appendRecord(b, seq, now, r)
	}
	if _, err := s.file.WriteAt(b, seg.size); err != nil {
		s.diskErr = err
		return 0, err
	}
	s.committed(seg, seq, int64(len(b)))
	if s.scratch = b; cap(b) > 256<<10 {
		s.scratch = nil
	}
	return seq, nil
}

// appendFile appends one record whose data is the first n bytes of f, without
// holding them in memory. The head is written last, so that a crash half way
// leaves a tail that no checksum fits.
func (s *spool) appendFile(kind Kind, flags uint8, f io.ReaderAt, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	seg, err := s.writable()
	if err != nil {
		return err
	}
	head := appendHead(nil, s.last+1, time.Now(), kind, flags, "", int(n))
	sum := crc32.New(castagnoli)
	sum.Write(head[4:])
	to := io.NewOffsetWriter(s.file, seg.size+int64(len(head)))
	_, err = io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(sum, to)}, io.NewSectionReader(f, 0, n), make([]byte, 64<<10))
	if err == nil {
		binary.BigEndian.PutUint32(head, sum.Sum32())
		_, err = s.file.WriteAt(head, seg.size)
	}
	if err != nil {
		s.diskErr = err
		return err
	}
	s.committed(seg, s.last+1, int64(len(head))+n)
	return nil
}

func (s *spool) writable() (*segment, error) {
	if seg := s.segs[len(s.segs)-1]; seg.size < s.segmentCap {
		return seg, nil
	}
	if err := s.roll(); err != nil {
		s.diskErr = err
		return nil, err
	}
	return s.segs[len(s.segs)-1], nil
}

func (s *spool) committed(seg *segment, seq uint64, n int64) {
	seg.size += n
	seg.last = seq
	s.size += n
	s.last = seq
	s.diskErr = nil
	s.wake()
	failpoint.Hit("shim.spooled")
}

func (s *spool) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// ack notes that all frames up to seq are committed, and deletes the segments
// that hold no others. An older number is no error.
func (s *spool) ack(seq uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq > s.last {
		return &Error{CodeBadPosition, fmt.Sprintf("frame %d was acknowledged, but the newest is %d", seq, s.last)}
	}
	if seq <= s.acked {
		return nil
	}
	s.acked = seq
	if cur := s.segs[len(s.segs)-1]; cur.last <= seq && cur.size >= s.segmentCap {
		_ = s.roll() // on a full disk the old segment is simply kept
	}
	for len(s.segs) > 1 && s.segs[0].last <= seq {
		s.size -= s.segs[0].size
		os.Remove(s.segs[0].path)
		s.segs = s.segs[1:]
	}
	s.wake()
	return nil
}

// full says whether n more bytes of output must wait. With mu held. Everything
// acknowledged means that nothing more can be freed, so output goes on even if
// one record alone is over the cap. Once blocked, a quarter must be free again.
func (s *spool) full(n int64) bool {
	limit := s.cap
	if s.blocked {
		limit = s.cap / 4 * 3
	}
	return s.last > s.acked && s.size+n > limit
}

// output runs write, which appends n bytes of the agent's output, as soon as
// there is room for them; a full disk is waited for as well. It returns false,
// with nothing written, when quit is closed first.
func (s *spool) output(n int64, quit <-chan struct{}, write func() error) bool {
	for {
		s.mu.Lock()
		full := s.full(n)
		if full && !s.blocked {
			s.blocked = true
			_, _ = s.appendLocked(record{kind: KindBlocked})
		} else if !full && s.blocked {
			s.blocked = false
			_, _ = s.appendLocked(record{kind: KindUnblocked})
		}
		changed := s.changed
		s.mu.Unlock()
		var retry <-chan time.Time
		if !full {
			if err := write(); err == nil {
				return true
			}
			retry = time.After(diskRetry)
		}
		select {
		case <-changed:
		case <-retry:
		case <-quit:
			return false
		}
	}
}

// stalled says whether output waits for acknowledgements or for the disk.
func (s *spool) stalled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blocked || s.diskErr != nil
}

// accept appends a record of a write to the agent, for which room is kept
// back beyond the cap.
func (s *spool) accept(r record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last > s.acked && s.size+r.size() > s.cap+writeReserve {
		return &Error{CodeSpoolFull, "the spool and its reserve are full; acknowledge frames first"}
	}
	if _, err := s.appendLocked(r); err != nil {
		return &Error{CodeSpoolFull, "the spool can't be written: " + err.Error()}
	}
	return nil
}

// force appends r beyond every cap, and waits for a disk that takes nothing. It
// returns the number, or 0 when quit was closed first.
func (s *spool) force(r record, quit <-chan struct{}) uint64 {
	for {
		seq, err := s.append(r)
		if err == nil {
			return seq
		}
		_, _, _, changed := s.state()
		select {
		case <-changed:
		case <-time.After(diskRetry):
		case <-quit:
			return 0
		}
	}
}

// state returns the first number that is still there, the last one, the last
// acknowledged one, and a channel that is closed when any of them changes.
func (s *spool) state() (first, last, acked uint64, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.segs[0].first, s.last, s.acked, s.changed
}

// find returns a copy of the segment that holds seq or, if seq is the next
// number, of the segment that will; ok is false where it is deleted.
func (s *spool) find(seq uint64) (seg segment, changed <-chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.segs {
		if seq >= g.first && (seq <= g.last || seq == s.last+1) {
			seg, ok = *g, true
		}
	}
	return seg, s.changed, ok
}

var errDeleted = errors.New("the frame is deleted")
