package baton

// The commands of a thread's life. Each may be given again: what is so already
// stays so, and that is no error.
type (
	// CommandRenameThread gives the thread another title.
	CommandRenameThread struct {
		Title string `json:"title"` // one line, not empty
	}
	// CommandArchiveThread takes the thread out of the list. It stays readable; what
	// is at work in it has to be stopped first.
	CommandArchiveThread struct{}
	// CommandUnarchiveThread puts an archived thread back into the list.
	CommandUnarchiveThread struct{}
	// CommandDeleteThread hides the thread and takes no message any more. Nothing of
	// it is destroyed.
	CommandDeleteThread struct{}
	// CommandUndeleteThread makes a deleted thread what it was before.
	CommandUndeleteThread struct{}
	// CommandStopSession ends one idle agent process. One with an open turn or with
	// detached work is refused: CommandStop ends that.
	CommandStopSession struct {
		Session SessionID `json:"session_id"`
	}
)

// CommandType names the command.
func (CommandRenameThread) CommandType() string { return "thread.rename" }

// CommandType names the command.
func (CommandArchiveThread) CommandType() string { return "thread.archive" }

// CommandType names the command.
func (CommandUnarchiveThread) CommandType() string { return "thread.unarchive" }

// CommandType names the command.
func (CommandDeleteThread) CommandType() string { return "thread.delete" }

// CommandType names the command.
func (CommandUndeleteThread) CommandType() string { return "thread.undelete" }

// CommandType names the command.
func (CommandStopSession) CommandType() string { return "session.stop" }
