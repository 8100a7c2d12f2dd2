package decide

import (
	"slices"
	"testing"

	"baton"
)

// asks opens a request in a running turn and returns its id.
func (p *play) asks(f baton.FactRequestOpened) baton.RequestID {
	p.t.Helper()
	p.running("one", "a")
	p.fact(p.session("a").ID, f)
	return p.d.S.Requests[0].ID
}

var questions = baton.FactRequestOpened{Key: "q", Kind: baton.RequestUserInput, Title: "two things", Questions: []baton.Question{
	{Key: "colour", Text: "Which?", Options: []baton.QuestionOption{{Label: "red"}, {Label: "blue"}}}, {Key: "sizes", Text: "How big?", Multiple: true}}}

var approval = baton.FactRequestOpened{Key: "q", Kind: baton.RequestCommand, Title: "rm -r build", Options: []baton.RequestOption{
	{Decision: baton.ApproveOnce, NativeID: "allow"}, {Decision: baton.Decline, NativeID: "reject"}}}

func TestApproval(t *testing.T) {
	p := newPlay(t)
	req := p.asks(approval)
	if e := last[baton.EventRequestOpened](p); e.Run != "run_1" || e.Item == "" || e.Node == "" || len(e.Options) != 2 {
		t.Errorf("opened: %+v", e)
	}
	reply := p.do(baton.CommandAnswer{Request: req, Decision: baton.Decline, Reason: "keep it"})
	if reply.Run != "run_1" || reply.Request != req {
		t.Errorf("reply %+v", reply)
	}
	if len(p.intents) != 1 {
		t.Fatalf("intents %+v", p.intents)
	}
	in := p.intents[0].Intent.(baton.IntentAnswer)
	if in.Request != "q" || in.Option != "reject" || in.Reason != "keep it" || in.Decision != baton.Decline {
		t.Errorf("the agent is told %+v", in)
	}
	if e := last[baton.EventRequestResolved](p); e.By != "person:ada" {
		t.Errorf("resolved by %q", e.By)
	}
	if e := last[baton.EventItemClosed](p); e.Body.Answer != "decline" || e.Body.Author != "person:ada" || e.Status != baton.NodeCompleted {
		t.Errorf("the item shows %+v", e)
	}
	// Written is all that an answer needs.
	p.fact(p.session("a").ID, baton.FactWritten{Deliveries: []baton.DeliveryID{in.Delivery}})
	if p.fate(in.Delivery) != baton.DeliveryAccepted || p.d.S.delivery(in.Delivery) != nil {
		t.Errorf("the answer is %s", p.fate(in.Delivery))
	}
	p.refused(baton.CommandAnswer{Request: req, Decision: baton.ApproveOnce}, baton.CodeNotResumable) // twice
}

func TestAnswers(t *testing.T) {
	p := newPlay(t)
	req := p.asks(questions)
	answers := map[string][]string{"colour": {"red"}, "sizes": {"1", "2"}}
	p.do(baton.CommandAnswer{Request: req, Answers: answers})
	in := p.intents[0].Intent.(baton.IntentAnswer)
	if len(in.Questions) != 2 || !slices.Equal(in.Answers["sizes"], []string{"1", "2"}) {
		t.Errorf("the agent is told %+v", in)
	}
	if e := last[baton.EventItemClosed](p); e.Body.Answer != "1, 2; red" {
		t.Errorf("the item shows %q", e.Body.Answer)
	}
}

func TestAnswerRefused(t *testing.T) {
	type answers = map[string][]string
	for _, c := range []struct {
		name string
		asks baton.FactRequestOpened
		data baton.CommandAnswer
		code baton.Code
	}{
		{"no answer", questions, baton.CommandAnswer{}, baton.CodeInvalid},
		{"blank", questions, baton.CommandAnswer{Answers: answers{"colour": {" \n"}, "sizes": {"1"}}}, baton.CodeInvalid},
		{"one is missing", questions, baton.CommandAnswer{Answers: answers{"colour": {"red"}}}, baton.CodeInvalid},
		{"wrong key", questions, baton.CommandAnswer{Answers: answers{"color": {"red"}, "sizes": {"1"}}}, baton.CodeInvalid},
		{"two for one", questions, baton.CommandAnswer{Answers: answers{"colour": {"red", "blue"}, "sizes": {"1"}}}, baton.CodeInvalid},
		{"no decision", approval, baton.CommandAnswer{}, baton.CodeInvalid},
		{"unknown decision", approval, baton.CommandAnswer{Decision: "perhaps"}, baton.CodeInvalid},
		{"answers to an approval", approval, baton.CommandAnswer{Decision: baton.ApproveOnce, Answers: answers{"x": {"y"}}}, baton.CodeInvalid},
		{"not offered", approval, baton.CommandAnswer{Decision: baton.ApproveSession}, baton.CodeUnsupported},
		{"another request", approval, baton.CommandAnswer{Request: "req_99", Decision: baton.ApproveOnce}, baton.CodeNotResumable},
		{"approving questions", questions, baton.CommandAnswer{Decision: baton.ApproveOnce}, baton.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlay(t)
			req := p.asks(c.asks)
			if c.data.Request == "" {
				c.data.Request = req
			}
			if e := p.refused(c.data, c.code); e.Title == "" {
				t.Errorf("the refusal says nothing: %+v", e)
			}
			if p.d.S.request(req) == nil {
				t.Error("the request waits no longer")
			}
		})
	}
}

// What is not in the options of an approval, but always possible.
func TestCancelTurnIsAlwaysOffered(t *testing.T) {
	for _, asks := range []baton.FactRequestOpened{approval, questions} {
		p := newPlay(t)
		req := p.asks(asks)
		p.do(baton.CommandAnswer{Request: req, Decision: baton.CancelTurn})
	}
}

// A request that can't be answered any more says so.
func TestRequestOutlivedItsAsker(t *testing.T) {
	for name, end := range map[string]func(p *play){
		"the agent died":         func(p *play) { p.gone(p.session("a").ID) },
		"the turn ended":         func(p *play) { p.end("a", baton.TurnCompleted) },
		"it waits no longer":     func(p *play) { p.fact(p.session("a").ID, baton.FactRequestGone{Key: "q", Reason: "withdrawn"}) },
		"the session is stopped": func(p *play) { p.caps.Interrupt = false; p.do(baton.CommandStop{}) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			req := p.asks(approval)
			end(p)
			p.refused(baton.CommandAnswer{Request: req, Decision: baton.ApproveOnce}, baton.CodeNotResumable)
			if name == "the session is stopped" {
				p.gone(p.session("a").ID)
			}
			e := last[baton.EventRequestExpired](p)
			if e.Request != req || e.Response != baton.AnswerNotResumable || e.Reason == "" {
				t.Errorf("expired: %+v", e)
			}
			if len(p.d.S.Requests) > 0 || len(p.d.S.Items) > 0 {
				t.Error("the request or its item is still open")
			}
		})
	}
}

// The answer is on its way when the agent dies: it is not sought, it is gone.
func TestAnswerDiesWithItsAgent(t *testing.T) {
	p := newPlay(t)
	req := p.asks(approval)
	p.do(baton.CommandAnswer{Request: req, Decision: baton.ApproveOnce})
	id := p.intents[0].Intent.(baton.IntentAnswer).Delivery
	p.gone(p.session("a").ID)
	p.settle("")
	if p.fate(id) != baton.DeliveryDropped {
		t.Errorf("the answer is %s", p.fate(id))
	}
	if len(p.d.S.Deliveries) > 0 {
		t.Errorf("deliveries are open: %+v", p.d.S.Deliveries[0])
	}
}

// Reported twice, it is one request.
func TestRequestReportedTwice(t *testing.T) {
	p := newPlay(t)
	p.asks(approval)
	p.fact(p.session("a").ID, approval)
	if n := len(p.d.S.Requests); n != 1 {
		t.Errorf("%d requests wait", n)
	}
}

func TestTwoRequests(t *testing.T) {
	p := newPlay(t)
	first := p.asks(approval)
	second := approval
	second.Key = "r"
	p.fact(p.session("a").ID, second)
	p.do(baton.CommandAnswer{Request: p.d.S.Requests[1].ID, Decision: baton.ApproveOnce})
	if in := p.intents[0].Intent.(baton.IntentAnswer); in.Request != "r" {
		t.Errorf("answered %q", in.Request)
	}
	if p.d.S.request(first) == nil {
		t.Error("the first waits no longer")
	}
	p.do(baton.CommandAnswer{Request: first, Decision: baton.ApproveOnce})
}
