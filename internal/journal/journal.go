// Package journal is where a thread's truth is kept. Append(Unit) is the whole
// write interface: one value, indivisible, without closures over transactions,
// so that every store can do it. Read models are a pure fold over events (see
// Project) and can be rebuilt from them at any time.
//
// Stores: sqlite (a file), memory (for tests and the simulation). Both pass the
// contract suite in journaltest.
package journal

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"baton"
)

// Errors of Append. Nothing of the unit has been stored when one comes back,
// but for ErrUnknown.
var (
	// ErrVersion: the thread is not at Unit.Expect.
	ErrVersion = errors.New("journal: the thread has moved on")
	// ErrFenced: an owner with a higher epoch has written to the thread.
	ErrFenced = errors.New("journal: a newer owner holds the thread")
	// ErrPrecondition: a precondition does not hold.
	ErrPrecondition = errors.New("journal: a precondition does not hold")
	// ErrReceipt: a receipt with that command id exists.
	ErrReceipt = errors.New("journal: the command has been answered before")
	// ErrUnknown: whether the unit is durable can't be told; load the thread again.
	ErrUnknown = errors.New("journal: the outcome of the append is unknown")
	// ErrClosed: the journal is closed.
	ErrClosed = errors.New("journal: closed")
	// ErrNotFound is returned by readers.
	ErrNotFound = errors.New("journal: not found")
)

// Unit is one indivisible append. A store that has taken it fills Seq, Epoch and
// Committed of Events in place and keeps nothing of the value itself. Seqs of a
// unit follow each other.
type Unit struct {
	Thread        baton.ThreadID
	Expect        uint64 // version of the thread before the unit, 0 for a new one
	Epoch         uint64 // of the owner
	Preconditions []Precondition
	Receipts      []Receipt
	Events        []baton.Event // Versions Expect+1, Expect+2, …
	Changes       []Change      // of the read models: Project of the events
	Chunks        []Chunk
	DropChunks    []baton.ItemID // whose closed item carries the whole text
	Effects       []baton.Effect
	Done          []baton.EffectID // effects that have ended; unknown ids are ignored
	Sessions      []SessionMark
	Snapshot      *Snapshot
	Settled       bool // nothing of the thread is open after this unit
}

// Precondition is about another thread than the unit's.
type Precondition struct {
	Thread    baton.ThreadID
	StopEpoch int // the other thread's, unchanged
}

// Receipt is the answer to a command, bound to what the command asked.
type Receipt struct {
	Command baton.CommandID
	Hash    string
	Reply   baton.Reply
	Err     *baton.Error // an answer too: the same refusal again
}

// Chunk is text of an open item, in order. Chunks of one revision are adjacent:
// Offset is where the former ended, a gap is refused. A new revision begins at 0
// and voids the older ones, as EventItemReset does; void text in the same unit
// is dropped.
type Chunk struct {
	Item     baton.ItemID
	Revision int
	Output   bool  // of Body.Output, else of Body.Text; each is counted apart
	Offset   int64 // in bytes of UTF-8
	Text     string
}

// SessionMark says how far a session's spool has taken effect, with the
// driver's state at that very point. Gone removes it.
type SessionMark struct {
	Session baton.SessionID
	Frame   uint64
	State   []byte // the driver's, nil keeps what is stored
	Gone    bool
}

// Snapshot is the fold of a thread's events up to Version. One of another Shape
// than the reader's is ignored and the events are folded again.
type Snapshot struct {
	Version uint64
	Shape   int
	State   json.RawMessage
}

// Kind is the kind of a read model's document. Shapes are those of the API.
type Kind string

// The kinds of documents.
const (
	KindThread         Kind = "thread"
	KindRun            Kind = "run"
	KindAttempt        Kind = "attempt"
	KindNode           Kind = "node"
	KindItem           Kind = "item"
	KindSession        Kind = "session"
	KindProviderThread Kind = "provider_thread"
	KindTurn           Kind = "provider_turn"
	KindDelivery       Kind = "delivery"
	KindTransfer       Kind = "transfer"
	KindHandoff        Kind = "handoff"
	KindRequest        Kind = "request"
	KindMessage        Kind = "message"
)

// Change merges a patch (RFC 7396: null removes, objects merge, the rest
// replaces) into a document, making it where it is missing. Run and Position
// are set by the change that makes it and kept by later ones that leave them zero.
type Change struct {
	Kind     Kind
	ID       string
	Run      baton.RunID
	Position int64 // order within kind and thread, see Project
	Patch    json.RawMessage
}

// Document is a read model's document.
type Document struct {
	Kind     Kind
	ID       string
	Thread   baton.ThreadID
	Run      baton.RunID
	Position int64
	Body     json.RawMessage
}

// Query selects documents of one kind in the order of Position (then ID).
type Query struct {
	Kind   Kind
	Thread baton.ThreadID // empty: all threads, newest position first only with Desc
	Run    baton.RunID    // empty: any
	After  int64          // positions greater than this; with Desc less than, 0 for no bound
	// AfterID goes on inside one position: those at After whose id is greater
	// (with Desc less) come too. Pages of documents of many threads need it,
	// since their positions may be equal.
	AfterID string
	// State keeps to threads in that state; for KindThread alone.
	State baton.ThreadState
	Desc  bool
	Limit int // 0: 1000
}

// Loaded is what an owner needs to go on with a thread.
type Loaded struct {
	Version  uint64
	Epoch    uint64
	Snapshot *Snapshot     // nil where there is none
	Tail     []baton.Event // after the snapshot
	Sessions []SessionMark
	Effects  []baton.Effect // not done, in the order they were asked
	Chunks   []ChunkLength  // of items that are open and have streamed
}

// ChunkLength is how far an open item's text has come.
type ChunkLength struct {
	Item     baton.ItemID
	Revision int
	Text     int64
	Output   int64
}

// Reader reads what is committed. All methods may be called at any time by
// anyone; what they return is the caller's.
type Reader interface {
	// Load returns ErrNotFound for a thread that does not exist.
	Load(ctx context.Context, id baton.ThreadID) (Loaded, error)
	// Events returns a thread's events with versions greater than after. A limit
	// of 0 is none, here and in EventsSince.
	Events(ctx context.Context, id baton.ThreadID, after uint64, limit int) ([]baton.Event, error)
	// EventsSince returns events of all threads with Seq greater than seq.
	EventsSince(ctx context.Context, seq uint64, limit int) ([]baton.Event, error)
	// Head is the greatest Seq, 0 for an empty journal.
	Head(ctx context.Context) (uint64, error)
	// VersionAt is the version that a thread had when the journal was at seq; 0
	// where it did not exist. It reads as much as the thread has behind seq.
	VersionAt(ctx context.Context, id baton.ThreadID, seq uint64) (uint64, error)
	// OpenTexts says how far the open items of a thread that have streamed have
	// come, in order of their ids.
	OpenTexts(ctx context.Context, id baton.ThreadID) ([]ChunkLength, error)
	// Receipt returns ErrNotFound for a command that has none.
	Receipt(ctx context.Context, id baton.CommandID) (Receipt, error)
	// Get returns ErrNotFound for a document that does not exist.
	Get(ctx context.Context, kind Kind, id string) (Document, error)
	List(ctx context.Context, q Query) ([]Document, error)
	// Chunks returns chunks of the item's newest revision, text or output, that
	// end after offset: as many as it takes to hold maxBytes of text, 0 for all.
	Chunks(ctx context.Context, item baton.ItemID, output bool, offset int64, maxBytes int) ([]Chunk, error)
	// Unsettled returns the threads of which something is open, archived ones too.
	Unsettled(ctx context.Context) ([]baton.ThreadID, error)
	// Projects returns all projects, by their directories.
	Projects(ctx context.Context) ([]ProjectDoc, error)
	// ThreadOf finds the thread of an entity by kind and id.
	ThreadOf(ctx context.Context, kind Kind, id string) (baton.ThreadID, error)
}

// Journal stores units.
type Journal interface {
	Reader
	// Append stores the unit and returns the Seq of its first event (0 for a
	// unit without events) and the commit's time. It is safe for concurrent use;
	// a caller has one append of a thread in flight at a time. When it returns
	// nil the unit is durable. What is refused is found in this order: ErrFenced,
	// ErrReceipt, ErrVersion, ErrPrecondition, the rest. A context that ends
	// before the unit's turn has come leaves nothing; after that Append waits.
	Append(ctx context.Context, u Unit) (Appended, error)
	// View calls fn with a reader of one unchanging point of the journal.
	View(ctx context.Context, fn func(Reader) error) error
	// ClaimEpoch returns a number greater than any it has returned before; a
	// server claims one at its start.
	ClaimEpoch(ctx context.Context) (uint64, error)
	// PutProject stores a project, which is named by its directory; the id and the
	// time of the making of one that is there already stay. It is fenced by the
	// greatest epoch that was claimed: ErrFenced.
	PutProject(ctx context.Context, epoch uint64, p ProjectDoc) error
	// Search finds the items and titles in which all that the query asks for
	// stands, the best first. Everything that was committed before the call is
	// looked at.
	Search(ctx context.Context, q SearchQuery) ([]Hit, error)
	Close() error
}

// Appended is the result of an append.
type Appended struct {
	FirstSeq  uint64
	Committed time.Time
}
