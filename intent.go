package baton

// An Intent is what a decision wants an agent to be told. The driver of the
// session turns it into writes in the same unit.
type Intent interface{ isIntent() }

type (
	// IntentDeliver gives a person's message, and before it the handoffs it
	// needs, as the input of a new turn. The session is ready and no turn is open.
	IntentDeliver struct {
		Message  Payload
		Handoffs []Payload // in order of delivery; may be empty
		Settings Settings  // the thread's, re-applied where the agent takes them per turn
	}
	// IntentAnswer answers a request.
	IntentAnswer struct {
		Delivery  DeliveryID
		Request   string // the driver's key
		Decision  Decision
		Reason    string              // for decline
		Answers   map[string][]string // for questions, by Question.Key
		Questions []Question          // as they were asked
		Option    string              // NativeID of the chosen option, where it has one
	}
	// IntentInterrupt asks the agent to end the open root turn.
	IntentInterrupt struct{ TurnKey string }
)

// Payload is one text that is given to an agent, with the id of its delivery.
type Payload struct {
	Delivery DeliveryID `json:"delivery"`
	Text     string     `json:"text"`
}

func (IntentDeliver) isIntent()   {}
func (IntentAnswer) isIntent()    {}
func (IntentInterrupt) isIntent() {}

// Settings are a thread's choices for its agents; empty means the provider's
// default.
type Settings struct {
	Model          string `json:"model,omitempty"`
	Effort         string `json:"effort,omitempty"`
	PermissionMode string `json:"permission_mode,omitempty"`
}

// Or returns the settings with empty fields taken from d.
func (s Settings) Or(d Settings) Settings {
	if s.Model == "" {
		s.Model = d.Model
	}
	if s.Effort == "" {
		s.Effort = d.Effort
	}
	if s.PermissionMode == "" {
		s.PermissionMode = d.PermissionMode
	}
	return s
}
