package journal

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"baton"
)

// TestEveryEventIsProjected holds the switch of Project against the list of
// events: a new one is handled there or listed as having no document.
func TestEveryEventIsProjected(t *testing.T) {
	for kind, typ := range baton.EventTypes() {
		e := baton.Event{Thread: "thr_1", Version: 1, Data: reflect.New(typ).Elem().Interface().(baton.EventData)}
		changes := Project(e)
		if len(changes) == 0 != noDocument[kind] {
			t.Errorf("%s: %d changes, listed as having none: %v", kind, len(changes), noDocument[kind])
		}
		for _, c := range changes {
			if strings.Contains(string(c.Patch), "projection_error") {
				t.Errorf("%s: %s", kind, c.Patch)
			}
		}
	}
	for kind := range noDocument {
		if baton.EventTypes()[kind] == nil {
			t.Errorf("%s is listed and no event", kind)
		}
	}
	if c := Project(baton.Event{Data: baton.EventUnknown{Type: "future", Raw: json.RawMessage("{}")}}); c != nil {
		t.Errorf("an unknown event changes %v", c)
	}
}

var at = time.Date(2026, 3, 1, 10, 0, 0, 0, time.FixedZone("", 3600))

// fold projects the events as versions 1, 2, … of thr_1, a second apart.
func fold(t *testing.T, data ...baton.EventData) map[Key]Document {
	t.Helper()
	var events []baton.Event
	for i, d := range data {
		events = append(events, baton.Event{Thread: "thr_1", Version: uint64(i) + 1, At: at.Add(time.Duration(i) * time.Second), Data: d})
	}
	docs, err := Fold(events)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func wantDoc(t *testing.T, docs map[Key]Document, kind Kind, id string, want string) Document {
	t.Helper()
	d, ok := docs[Key{kind, id}]
	if !ok {
		t.Fatalf("no %s %s", kind, id)
	}
	var g, w any
	if err := json.Unmarshal(d.Body, &g); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%v in %s", err, want)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("%s %s\n got %s\nwant %s", kind, id, d.Body, want)
	}
	return d
}

func TestThreadAndRun(t *testing.T) {
	queued := []baton.EventData{
		baton.EventThreadCreated{Title: "t", Workspace: "wsp_1", Dir: "/p", Provider: "claude", Settings: baton.Settings{Model: "m", Effort: "high"}},
		baton.EventRunQueued{Run: "run_1", Ordinal: 1, Trigger: baton.TriggerMessage, Message: "msg_1", Provider: "codex", Settings: baton.Settings{Model: "n"}},
		baton.EventMessageAccepted{Message: "msg_1", Run: "run_1", Text: "<hi>", Author: "ann"},
		baton.EventRunStarting{Run: "run_1"},
		baton.EventAttemptCreated{Attempt: "att_1", Run: "run_1", Ordinal: 1, RootNode: "nod_1", ProviderThread: "pth_1", Reason: baton.AttemptInitial},
		baton.EventRunQueued{Run: "run_2", Ordinal: 2, Trigger: baton.TriggerMessage, Provider: "codex"},
	}
	docs := fold(t, queued...)
	d := wantDoc(t, docs, KindThread, "thr_1", `{"id":"thr_1","title":"t","state":"active","workspace_id":"wsp_1","dir":"/p","provider":"codex",
		"settings":{},"queue_held":false,"stop_epoch":0,"created_at":"2026-03-01T09:00:00Z","updated_at":"2026-03-01T09:00:05Z",
		"active_provider_thread_id":"pth_1","open_runs":{"run_1":{"ordinal":1,"status":"starting","provider":"codex"},"run_2":{"ordinal":2,"status":"queued","provider":"codex"}}}`)
	if want := at.Add(2 * time.Second).UnixMicro(); d.Position != want {
		t.Errorf("the thread's position is %d, want that of its message, %d", d.Position, want)
	}
	d = wantDoc(t, docs, KindRun, "run_1", `{"id":"run_1","thread_id":"thr_1","ordinal":1,"status":"starting","trigger":"message","provider":"codex",
		"settings":{"model":"n"},"message_id":"msg_1","provider_thread_id":"pth_1","created_at":"2026-03-01T09:00:01Z","started_at":"2026-03-01T09:00:03Z"}`)
	if d.Run != "run_1" || d.Position != 1 {
		t.Errorf("the run's place is %s %d", d.Run, d.Position)
	}
	wantDoc(t, docs, KindMessage, "msg_1", `{"id":"msg_1","thread_id":"thr_1","run_id":"run_1","text":"<hi>","author":"ann","created_at":"2026-03-01T09:00:02Z"}`)
	wantDoc(t, docs, KindNode, "nod_1", `{"id":"nod_1","thread_id":"thr_1","run_id":"run_1","attempt_id":"att_1","kind":"root_turn","counts_for_run":true,"provider_thread_id":"pth_1"}`)

	docs = fold(t, append(queued,
		baton.EventAttemptRunning{Attempt: "att_1", Turn: "ptn_1"}, baton.EventRunRunning{Run: "run_1"},
		baton.EventInterruptRequested{Run: "run_1", Stage: "ask", Deadline: at.Add(time.Minute)},
		baton.EventAttemptEnded{Attempt: "att_1", Status: baton.AttemptFailed, Selected: true, Err: baton.Errorf(baton.CodeAgentDied, "died")},
		baton.EventRunFinalizing{Run: "run_1", Outcome: baton.RunFailed},
		baton.EventRunEnded{Run: "run_1", Status: baton.RunFailed, Answer: "itm_1", Usage: baton.Usage{InputTokens: 3}, Err: baton.Errorf(baton.CodeAgentDied, "died")},
		baton.EventRunFinalizing{Run: "run_2", Outcome: baton.RunCancelled, AbsorbedBy: "run_1"}, baton.EventRunEnded{Run: "run_2", Status: baton.RunCancelled},
		baton.EventQueueHeld{Reason: "failed"}, baton.EventStopRequested{StopEpoch: 2}, baton.EventThreadTitled{Title: "u"})...)
	wantDoc(t, docs, KindThread, "thr_1", `{"id":"thr_1","title":"u","state":"active","workspace_id":"wsp_1","dir":"/p","provider":"codex","settings":{},
		"queue_held":true,"queue_held_reason":"failed","stop_epoch":2,"created_at":"2026-03-01T09:00:00Z","updated_at":"2026-03-01T09:00:16Z",
		"active_provider_thread_id":"pth_1","open_runs":{},"last_run":{"id":"run_1","status":"failed","ended_at":"2026-03-01T09:00:11Z"}}`)
	wantDoc(t, docs, KindRun, "run_1", `{"id":"run_1","thread_id":"thr_1","ordinal":1,"status":"failed","trigger":"message","provider":"codex","settings":{"model":"n"},
		"message_id":"msg_1","provider_thread_id":"pth_1","answer_item_id":"itm_1","usage":{"input_tokens":3},"error":{"code":"agent_died","title":"died"},
		"interrupt":{"stage":"ask","deadline":"2026-03-01T09:01:00Z","asked_at":"2026-03-01T09:00:08Z"},
		"created_at":"2026-03-01T09:00:01Z","started_at":"2026-03-01T09:00:03Z","ended_at":"2026-03-01T09:00:11Z"}`)
	wantDoc(t, docs, KindAttempt, "att_1", `{"id":"att_1","thread_id":"thr_1","run_id":"run_1","ordinal":1,"root_node_id":"nod_1","provider_thread_id":"pth_1",
		"provider_turn_id":"ptn_1","reason":"initial","status":"failed","selected":true,"error":{"code":"agent_died","title":"died"},
		"created_at":"2026-03-01T09:00:04Z","started_at":"2026-03-01T09:00:06Z","ended_at":"2026-03-01T09:00:09Z"}`)
}

func TestTimeline(t *testing.T) {
	code := 1
	docs := fold(t,
		baton.EventItemOpened{Item: "itm_1", Run: "run_1", Attempt: "att_1", Node: "nod_2", Parent: "nod_1", Kind: baton.ItemCommand, Position: 4, Open: true,
			Body: baton.ItemBody{Command: "make", Title: "build"}},
		baton.EventItemOpened{Item: "itm_2", Run: "run_1", Node: "nod_1", Kind: baton.ItemNotice, Position: 5, Body: baton.ItemBody{Text: "note"}},
		baton.EventRequestOpened{Request: "req_1", Run: "run_1", Node: "nod_2", Item: "itm_1", Session: "ses_1", Kind: baton.RequestCommand, Title: "make?"},
		baton.EventItemReset{Item: "itm_1", Revision: 1},
		baton.EventItemUpdated{Item: "itm_1", Body: baton.ItemBody{Cwd: "/p"}},
		baton.EventRequestOpened{Request: "req_2", Session: "ses_1", Kind: baton.RequestUserInput, Title: "which?", Questions: []baton.Question{{Key: "k", Text: "q"}}},
		baton.EventRequestResolved{Request: "req_1", Decision: baton.ApproveOnce, By: "ann"},
		baton.EventItemClosed{Item: "itm_1", Node: "nod_2", Status: baton.NodeFailed, Body: baton.ItemBody{Output: "no", ExitCode: &code, Status: baton.NodeFailed}})
	d := wantDoc(t, docs, KindItem, "itm_1", `{"id":"itm_1","thread_id":"thr_1","run_id":"run_1","node_id":"nod_2","kind":"command","position":4,"revision":1,"open":false,
		"body":{"command":"make","title":"build","cwd":"/p","output":"no","exit_code":1,"status":"failed"},"created_at":"2026-03-01T09:00:00Z","closed_at":"2026-03-01T09:00:07Z"}`)
	if d.Position != 4 || d.Run != "run_1" {
		t.Errorf("the item's place is %s %d", d.Run, d.Position)
	}
	wantDoc(t, docs, KindItem, "itm_2", `{"id":"itm_2","thread_id":"thr_1","run_id":"run_1","node_id":"nod_1","kind":"notice","position":5,"revision":0,"open":false,
		"body":{"text":"note"},"created_at":"2026-03-01T09:00:01Z"}`)
	wantDoc(t, docs, KindNode, "nod_2", `{"id":"nod_2","thread_id":"thr_1","run_id":"run_1","parent_id":"nod_1","attempt_id":"att_1","item_id":"itm_1","kind":"tool_call",
		"status":"failed","counts_for_run":false,"title":"build","request_id":"req_1","started_at":"2026-03-01T09:00:00Z","ended_at":"2026-03-01T09:00:07Z"}`)
	if _, ok := docs[Key{KindNode, "nod_1"}]; ok {
		t.Error("an item without a node of its own made one")
	}
	wantDoc(t, docs, KindRequest, "req_1", `{"id":"req_1","thread_id":"thr_1","run_id":"run_1","node_id":"nod_2","item_id":"itm_1","session_id":"ses_1","kind":"command",
		"status":"resolved","title":"make?","decision":"approve","answered_by":"ann","created_at":"2026-03-01T09:00:02Z","ended_at":"2026-03-01T09:00:06Z"}`)
	wantDoc(t, docs, KindThread, "thr_1", `{"updated_at":"2026-03-01T09:00:06Z","pending_requests":{"req_2":{"kind":"user_input","title":"which?"}}}`)
}

func TestProviderSide(t *testing.T) {
	docs := fold(t,
		baton.EventProviderThreadCreated{ProviderThread: "pth_1", Provider: "codex", Driver: "codex", Origin: baton.Origin{Kind: baton.OriginNew}},
		baton.EventSessionOpened{Session: "ses_1", Provider: "codex", Driver: "codex", ProviderThread: "pth_1", Generation: 2, Dir: "/p"},
		baton.EventSessionReady{Session: "ses_1", AgentVersion: "1", Demoted: []string{"steer"}},
		baton.EventProviderThreadBound{ProviderThread: "pth_1", Native: baton.NativeRef{ID: "n", Strength: baton.Strong}},
		baton.EventProviderThreadChanged{ProviderThread: "pth_1", Status: baton.ProviderThreadIdle},
		baton.EventCoverageChanged{ProviderThread: "pth_1", Native: baton.Ordinals(1, 2, 4), HandedOver: baton.Ordinals(3), Handoffs: []baton.HandoffID{"hnd_1"}},
		baton.EventTurnStarted{Turn: "ptn_1", ProviderThread: "pth_1", Session: "ses_1", Run: "run_1", Native: baton.NativeRef{ID: "t"}},
		baton.EventTurnEnded{Turn: "ptn_1", Status: baton.TurnCompleted, Usage: baton.Usage{OutputTokens: 1}, Head: "h"},
		baton.EventDetachedChanged{Session: "ses_1", Names: []string{"sleep"}},
		baton.EventSessionStopping{Session: "ses_1", Reason: "idle", Status: baton.SessionStopped},
		baton.EventSessionEnded{Session: "ses_1", Status: baton.SessionStopped, Reason: "idle"})
	wantDoc(t, docs, KindProviderThread, "pth_1", `{"id":"pth_1","thread_id":"thr_1","provider":"codex","driver":"codex","native_id":"n","native_strength":"strong","status":"idle",
		"divergent":false,"origin":{"kind":"new"},"first_run_ordinal":1,"last_run_ordinal":4,"native":[[1,2],[4,4]],"handed_over":[[3,3]],"handoff_ids":["hnd_1"],
		"chain":0,"created_at":"2026-03-01T09:00:00Z"}`)
	wantDoc(t, docs, KindTurn, "ptn_1", `{"id":"ptn_1","thread_id":"thr_1","run_id":"run_1","provider_thread_id":"pth_1","session_id":"ses_1","status":"completed","native_id":"t",
		"native_head":"h","usage":{"output_tokens":1},"started_at":"2026-03-01T09:00:06Z","ended_at":"2026-03-01T09:00:07Z"}`)
	wantDoc(t, docs, KindSession, "ses_1", `{"id":"ses_1","thread_id":"thr_1","provider":"codex","driver":"codex","provider_thread_id":"pth_1","generation":2,"dir":"/p",
		"status":"stopped","reason":"idle","agent_version":"1","demoted":["steer"],"opened_at":"2026-03-01T09:00:01Z","ready_at":"2026-03-01T09:00:02Z","ended_at":"2026-03-01T09:00:10Z"}`)
}

func TestHandoff(t *testing.T) {
	docs := fold(t,
		baton.EventTransferCreated{Transfer: "trf_1", Type: baton.TransferProviderHandoff, From: "pth_1", TargetRun: "run_9"},
		baton.EventHandoffRequested{Handoff: "hnd_1", Transfer: "trf_1", Run: "run_9", Strategy: baton.StrategyDelta, From: []baton.ProviderThreadID{"pth_1"}, To: "pth_2", Covered: baton.Ordinals(6, 8)},
		baton.EventTransferChanged{Transfer: "trf_1", Status: baton.TransferResolvedPortable, Resolution: "portable", Fidelity: "lower", Handoff: "hnd_1",
			Reasons: []baton.Reason{{Signal: "missing", Decisive: true}}},
		baton.EventHandoffReady{Handoff: "hnd_1", Document: json.RawMessage(`{"runs":[6,null]}`), Text: "<t>", Digest: "sha256:d", Tokens: 5, CreatedBy: "local"},
		baton.EventDeliveryOffered{Delivery: "dlv_1", Kind: baton.DeliverHandoff, Session: "ses_1", ProviderThread: "pth_2", Run: "run_9", Handoff: "hnd_1", Mode: baton.InjectDeveloper},
		baton.EventDeliveryChanged{Delivery: "dlv_1", Status: baton.DeliveryAccepted, Evidence: "answer"},
		baton.EventHandoffChanged{Handoff: "hnd_1", Status: baton.HandoffUsed},
		baton.EventTransferChanged{Transfer: "trf_1", Status: baton.TransferConsumed})
	wantDoc(t, docs, KindHandoff, "hnd_1", `{"id":"hnd_1","transfer_id":"trf_1","thread_id":"thr_1","source_thread_id":"thr_1","run_id":"run_9","strategy":"delta_since_target_last_seen",
		"status":"used","from_provider_thread_ids":["pth_1"],"to_provider_thread_id":"pth_2","covered_runs":{"from":6,"to":8},"covered":[[6,6],[8,8]],"text":"<t>","digest":"sha256:d",
		"estimated_tokens":5,"omitted":{"count":0},"redactions":0,"created_by_provider":"local","document":{"runs":[6,null]},
		"delivery":{"id":"dlv_1","mode":"developer"},"created_at":"2026-03-01T09:00:01Z","updated_at":"2026-03-01T09:00:06Z"}`)
	wantDoc(t, docs, KindDelivery, "dlv_1", `{"id":"dlv_1","thread_id":"thr_1","run_id":"run_9","kind":"handoff","state":"accepted","session_id":"ses_1","provider_thread_id":"pth_2",
		"handoff_id":"hnd_1","mode":"developer","evidence":"answer","offered_at":"2026-03-01T09:00:04Z","updated_at":"2026-03-01T09:00:05Z"}`)
	wantDoc(t, docs, KindTransfer, "trf_1", `{"id":"trf_1","thread_id":"thr_1","run_id":"run_9","type":"provider_handoff","status":"consumed","handoff_id":"hnd_1",
		"source":{"thread_id":"thr_1","provider_thread_id":"pth_1"},"target":{"thread_id":"thr_1","run_id":"run_9"},
		"resolution":{"strategy":"portable","fidelity":"lower","reasons":[{"signal":"missing","decisive":true}]},
		"created_at":"2026-03-01T09:00:00Z","updated_at":"2026-03-01T09:00:07Z"}`)
	wantDoc(t, docs, KindRun, "run_9", `{"handoff_id":"hnd_1","handoffs":{"hnd_1":5}}`)
}
