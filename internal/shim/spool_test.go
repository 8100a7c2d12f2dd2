package shim

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func testSpool(t testing.TB, capacity int64) *spool {
	t.Helper()
	s, err := newSpool(t.TempDir(), capacity)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.file.Close() })
	return s
}

func readAll(t testing.TB, r *Reader) (out []Frame) {
	t.Helper()
	for {
		f, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
}

func spoolFrames(t testing.TB, s *spool) []Frame {
	t.Helper()
	r, err := ReadSpool(s.dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := readAll(t, r)
	if r.Torn() != nil {
		t.Fatalf("torn: %+v", *r.Torn())
	}
	return out
}

func jsonOf(v any) []byte {
	b, _ := json.Marshal(v)
	return b
}

func segments(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.spool"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func spoolBytes(t testing.TB, dir string) (n int64) {
	for _, p := range segments(t, dir) {
		if info, err := os.Stat(p); err == nil {
			n += info.Size()
		}
	}
	return n
}

// fill appends n records that tell their own number, over several segments.
func fill(t testing.TB, s *spool, n int) {
	t.Helper()
	for i := range n {
		if _, err := s.append(record{kind: KindIn, data: bytes.Repeat([]byte{byte(i)}, 1000)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAckDeletesWholeSegmentsOnly(t *testing.T) {
	s := testSpool(t, 1<<20)
	fill(t, s, 300) // segments of 64 KB: about 64 records each
	before := len(segments(t, s.dir))
	if before < 4 {
		t.Fatalf("only %d segments", before)
	}
	if err := s.ack(100); err != nil {
		t.Fatal(err)
	}
	frames := spoolFrames(t, s)
	first, last, acked, _ := s.state()
	if first > 101 || first == 1 || last != 300 || acked != 100 || frames[0].Seq != first || len(frames) != int(301-first) {
		t.Errorf("first %d, last %d, acked %d; on disk %d from %d on", first, last, acked, len(frames), frames[0].Seq)
	}
	if err := s.ack(50); err != nil { // late, and harmless
		t.Error(err)
	}
	if err := s.ack(301); ErrorCode(err) != CodeBadPosition {
		t.Errorf("ack of a frame that never was: %v", err)
	}
	if err := s.ack(300); err != nil {
		t.Fatal(err)
	}
	if n := len(segments(t, s.dir)); n != 1 {
		t.Errorf("%d segments after everything was acknowledged", n)
	}
	for _, p := range append(segments(t, s.dir), filepath.Join(s.dir, segmentName(last))) {
		if info, err := os.Stat(p); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
	}
}

func TestCursorSeesEveryRecordOnce(t *testing.T) {
	s := testSpool(t, 4<<20)
	fill(t, s, 700)
	big := strings.Repeat("B", 3*batchBytes)
	if err := s.appendFile(KindIn, 0, strings.NewReader(big), int64(len(big))); err != nil {
		t.Fatal(err)
	}
	fill(t, s, 50)
	for _, after := range []uint64{0, 1, 63, 64, 65, 500, 699, 700, 701, 750, 751} {
		for _, limit := range []int{1, 5000, batchBytes} {
			c := newCursor(s, after)
			next := after + 1
			for {
				r, size, _, err := c.batch(limit)
				if err != nil {
					t.Fatalf("after %d: %v", after, err)
				}
				if r == nil {
					break
				}
				b, err := io.ReadAll(r)
				if err != nil || int64(len(b)) != size {
					t.Fatalf("a batch of %d bytes has %d: %v", size, len(b), err)
				}
				for len(b) > 0 {
					f, n, err := decodeRecord(b)
					if err != nil || f.Seq != next {
						t.Fatalf("after %d, limit %d: record %d instead of %d: %v", after, limit, f.Seq, next, err)
					}
					if f.Seq == 701 && string(f.Data) != big {
						t.Error("the big record is damaged")
					}
					next, b = next+1, b[n:]
				}
			}
			c.close()
			if next != 752 {
				t.Fatalf("after %d, limit %d: ended before %d", after, limit, next)
			}
		}
	}
}

func TestOutputWaitsAtTheCap(t *testing.T) {
	s := testSpool(t, 256<<10)
	quit := make(chan struct{})
	// flood writes until the spool is full; its last record is then under way.
	flood := func() (done int, last chan bool) {
		for {
			wrote := make(chan bool, 1)
			_, _, _, changed := s.state()
			go func() {
				r := record{kind: KindIn, data: make([]byte, 1000)}
				wrote <- s.output(r.size(), quit, func() error { _, err := s.append(r); return err })
			}()
			<-changed // either a record or the mark that it must wait
			if s.stalled() {
				return done, wrote
			}
			if done++; !<-wrote {
				t.Fatal("output gave up")
			}
		}
	}
	n, last := flood()
	if n < 200 || n > 256 {
		t.Errorf("%d records of 1 KB went into 256 KB", n)
	}
	if err := s.accept(record{kind: KindAccepted, id: "w", data: make([]byte, 100<<10)}); err != nil {
		t.Errorf("a write must still get through: %v", err)
	}
	_, newest, _, _ := s.state()
	if err := s.ack(newest - 1); err != nil {
		t.Fatal(err)
	}
	if !<-last {
		t.Error("output gave up")
	}
	var marks []Kind
	for _, f := range spoolFrames(t, s) {
		if f.Kind != KindIn && f.Kind != KindAccepted {
			marks = append(marks, f.Kind)
		}
	}
	if marks[len(marks)-1] != KindUnblocked {
		t.Errorf("marks are %v", marks)
	}
	_, last = flood() // full again; this time nobody comes
	close(quit)
	if <-last {
		t.Error("output went through a full spool")
	}
}

// What a crash or a bad disk leaves is evidence up to the last good checksum.
func TestReadSpoolStopsWhereTheEvidenceEnds(t *testing.T) {
	tests := []struct {
		name    string
		damage  func(b []byte) []byte
		last    uint64
		torn    bool
		segment int
	}{
		{"whole", func(b []byte) []byte { return b }, 150, false, 2},
		{"cut in the data", func(b []byte) []byte { return b[:len(b)-1] }, 149, true, 2},
		{"cut in the head", func(b []byte) []byte { return b[:len(b)-1028+5] }, 149, true, 2},
		{"garbage behind", func(b []byte) []byte { return append(b, "garbage garbage garbage garbage garbage"...) }, 150, true, 2},
		{"zeros behind", func(b []byte) []byte { return append(b, make([]byte, 5000)...) }, 150, true, 2},
		{"a huge length", func(b []byte) []byte { b[len(b)-1028+4] = 0xff; return b }, 149, true, 2},
		{"a flipped bit", func(b []byte) []byte { b[8+1028*10+100] ^= 1; return b }, 138, true, 2},
		{"a flipped bit in the middle segment", func(b []byte) []byte { b[8+500] ^= 1; return b }, 64, true, 1},
		{"another version", func(b []byte) []byte { b[7] = 9; return b }, 64, true, 1},
		{"empty", func(b []byte) []byte { return nil }, 64, false, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := testSpool(t, 1<<20)
			fill(t, s, 150)
			paths := segments(t, s.dir)
			if len(paths) != 3 {
				t.Fatalf("%d segments", len(paths))
			}
			if tt.segment < 0 { // a crash just after a new segment was made
				os.Remove(paths[2])
				os.WriteFile(paths[1], nil, 0o600)
			} else {
				b, err := os.ReadFile(paths[tt.segment])
				if err != nil {
					t.Fatal(err)
				}
				os.WriteFile(paths[tt.segment], tt.damage(b), 0o600)
			}
			r, err := ReadSpool(s.dir, 10)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			frames := readAll(t, r)
			if f := frames[0]; f.Seq != 11 || f.Data[0] != 10 {
				t.Errorf("began with %d", f.Seq)
			}
			if f := frames[len(frames)-1]; f.Seq != tt.last || len(frames) != int(tt.last-10) {
				t.Errorf("ended with %d, want %d", f.Seq, tt.last)
			}
			if (r.Torn() != nil) != tt.torn {
				t.Errorf("torn: %+v", r.Torn())
			}
		})
	}
}

// FuzzDecodeRecord: no input may do harm, and what is taken is what would be
// written again.
func FuzzDecodeRecord(f *testing.F) {
	at := time.Unix(1700000000, 123)
	f.Add(appendRecord(nil, 7, at, record{kind: KindAccepted, id: "w", data: []byte("data")}))
	f.Add(appendRecord(nil, 1<<63, at, record{kind: KindIn, flags: flagPartial}))
	f.Add(make([]byte, recordHead))
	f.Add(bytes.Repeat([]byte{0xff}, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, n, err := decodeRecord(b)
		if err != nil {
			return
		}
		if n < recordHead || n > len(b) {
			t.Fatalf("took %d of %d bytes", n, len(b))
		}
		again := appendRecord(nil, frame.Seq, frame.Time, record{kind: frame.Kind, flags: b[25], id: frame.ID, data: frame.Data})
		if !bytes.Equal(again, b[:n]) {
			t.Fatalf("%x became %x", b[:n], again)
		}
	})
}

func TestRecordRoundTrip(t *testing.T) {
	at := time.Unix(1700000000, 123)
	in := record{kind: KindErr, flags: flagPartial, id: "write-1", data: []byte{0, 0xff, '\n'}}
	f, n, err := decodeRecord(append(appendRecord(nil, 42, at, in), "next"...))
	if err != nil || int64(n) != in.size() || f.Seq != 42 || !f.Time.Equal(at) || f.Kind != KindErr || !f.Partial || f.ID != in.id || !bytes.Equal(f.Data, in.data) {
		t.Errorf("%+v, %d bytes, %v", f, n, err)
	}
}

// The stored shape is frozen: this record was written by version 1.
func TestRecordGolden(t *testing.T) {
	got := appendRecord(nil, 3, time.Unix(0, 1_700_000_000_000_000_001), record{kind: KindAccepted, flags: 1, id: "eff_1", data: []byte("hi\n")})
	want := "\x31\x45\x40\x08\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x03\x17\x97\x9c\xfe\x36\x2a\x00\x01\x04\x01\x00\x05eff_1hi\n"
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
