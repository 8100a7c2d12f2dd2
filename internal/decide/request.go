package decide

import (
	"fmt"
	"slices"
	"strings"

	"baton"
)

func (d *Decider) requestOpened(x *Session, f baton.FactRequestOpened) {
	if find(d.S.Requests, func(q *Request) bool { return q.Session == x.ID && q.Key == f.Key }) != nil {
		return // reported before
	}
	r := d.runOf(x)
	id := newID[baton.RequestID](d, baton.PrefixRequest)
	e := baton.EventRequestOpened{Request: id, Session: x.ID, Key: f.Key, Kind: f.Kind, Title: f.Title, Detail: f.Detail,
		Options: f.Options, Questions: f.Questions}
	kind := baton.ItemApproval
	if f.Kind == baton.RequestUserInput {
		kind = baton.ItemQuestion
	}
	it := d.itemOpened(x, baton.FactItemOpened{Key: "request:" + f.Key, Parent: f.Item, Kind: kind,
		Body: baton.ItemBody{Title: f.Title, Text: f.Detail, RequestID: id, Options: f.Options, Questions: f.Questions}})
	e.Item, e.Node = it.ID, it.Node
	if r != nil {
		e.Run = r.ID
	}
	d.emit(e)
}

func (d *Decider) requestGone(x *Session, f baton.FactRequestGone) {
	if q := find(d.S.Requests, func(q *Request) bool { return q.Session == x.ID && q.Key == f.Key }); q != nil {
		d.expire(q, baton.RequestCancelled, f.Reason)
	}
}

func (d *Decider) expire(q *Request, status baton.RequestStatus, reason string) {
	d.emit(baton.EventRequestExpired{Request: q.ID, Status: status, Reason: reason, Response: baton.AnswerNotResumable})
	if it := d.S.item(q.Item); it != nil {
		d.closeItem(it, baton.NodeCancelled, baton.ItemBody{})
	}
}

// answer gives a person's answer to the agent that waits for it.
func (d *Decider) answer(c baton.Command, data baton.CommandAnswer) (baton.Reply, error) {
	q := d.S.request(data.Request)
	if q == nil {
		return baton.Reply{}, baton.Errorf(baton.CodeNotResumable, "the request %s waits no longer", data.Request).
			WithDetail("it was answered before, or the agent that asked is gone; nothing was sent").
			WithHint("`baton requests` shows what waits; to go on, send a message")
	}
	x := d.S.Session(q.Session)
	if x == nil || x.Stopping != "" {
		return baton.Reply{}, baton.Errorf(baton.CodeNotResumable, "the agent that asked %s is on its way out", data.Request).
			WithHint("send a message to go on")
	}
	if q.Kind == baton.RequestUserInput {
		if err := checkAnswers(q, data); err != nil {
			return baton.Reply{}, err
		}
	} else if err := checkDecision(q, data); err != nil {
		return baton.Reply{}, err
	}
	by := c.Author
	if by == "" {
		by = string(c.Actor)
	}
	d.emit(baton.EventRequestResolved{Request: q.ID, Decision: data.Decision, Reason: data.Reason, Answers: data.Answers, By: by})
	v := newID[baton.DeliveryID](d, baton.PrefixDelivery)
	d.emit(baton.EventDeliveryOffered{Delivery: v, Kind: baton.DeliverAnswer, Session: x.ID, ProviderThread: x.ProviderThread, Run: q.Run, Request: q.ID})
	option := ""
	if i := slices.IndexFunc(q.Options, func(o baton.RequestOption) bool { return o.Decision == data.Decision }); i >= 0 {
		option = q.Options[i].NativeID
	}
	d.intend(x.ID, baton.IntentAnswer{Delivery: v, Request: q.Key, Decision: data.Decision, Reason: data.Reason, Answers: data.Answers,
		Questions: q.Questions, Option: option})
	if it := d.S.item(q.Item); it != nil {
		body := baton.ItemBody{Answer: answerText(data), Author: by}
		d.closeItem(it, baton.NodeCompleted, body)
	}
	return baton.Reply{Run: q.Run, Request: q.ID}, nil
}

func answerText(data baton.CommandAnswer) string {
	if data.Decision != "" {
		return string(data.Decision)
	}
	var parts []string
	for _, values := range data.Answers {
		parts = append(parts, strings.Join(values, ", "))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

func checkDecision(q *Request, data baton.CommandAnswer) error {
	if len(data.Answers) > 0 {
		return baton.Errorf(baton.CodeInvalid, "%s asks for an approval, not for answers", q.ID).WithHint("use `baton approve` or `baton decline`")
	}
	known := []baton.Decision{baton.ApproveOnce, baton.ApproveSession, baton.Decline, baton.CancelTurn}
	if !slices.Contains(known, data.Decision) {
		return baton.Errorf(baton.CodeInvalid, "unknown decision %q", data.Decision).WithHint("approve, approve_session, decline or cancel_turn")
	}
	if len(q.Options) > 0 && data.Decision != baton.CancelTurn &&
		!slices.ContainsFunc(q.Options, func(o baton.RequestOption) bool { return o.Decision == data.Decision }) {
		return baton.Errorf(baton.CodeUnsupported, "the agent does not offer %q here", data.Decision).
			WithHint("it offers: %s", strings.Join(offered(q), ", "))
	}
	return nil
}

func offered(q *Request) []string {
	var out []string
	for _, o := range q.Options {
		out = append(out, string(o.Decision))
	}
	return out
}

// checkAnswers: a blank answer is no answer, and each question needs one.
func checkAnswers(q *Request, data baton.CommandAnswer) error {
	if data.Decision == baton.CancelTurn || data.Decision == baton.Decline {
		return nil
	}
	for key := range data.Answers {
		if !slices.ContainsFunc(q.Questions, func(x baton.Question) bool { return x.Key == key }) {
			return baton.Errorf(baton.CodeInvalid, "%s has no question %q", q.ID, key).WithHint("the questions are: %s", questionKeys(q))
		}
	}
	for _, question := range q.Questions {
		values := slices.DeleteFunc(slices.Clone(data.Answers[question.Key]), func(s string) bool { return strings.TrimSpace(s) == "" })
		switch {
		case len(values) == 0:
			return baton.Errorf(baton.CodeInvalid, "the question %q has no answer", question.Key).
				WithDetail("a blank answer is no answer; the agent still waits").WithHint("the questions are: %s", questionKeys(q))
		case len(values) > 1 && !question.Multiple:
			return baton.Errorf(baton.CodeInvalid, "the question %q takes one answer", question.Key)
		}
	}
	return nil
}

func questionKeys(q *Request) string {
	var keys []string
	for _, x := range q.Questions {
		keys = append(keys, fmt.Sprintf("%q", x.Key))
	}
	return strings.Join(keys, ", ")
}
