package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"baton/internal/jsonl"
)

// stampingAgent speaks as much ACP as a session needs. A prompt "N EVERY SEP"
// is answered with N pieces of text, one each EVERY (a duration), each of which
// carries the time of its writing and ends with SEP ("line" for a line break);
// anything else with one piece.
func stampingAgent(in io.Reader, out io.Writer) {
	lines := bufio.NewReader(in)
	reply := func(id json.RawMessage, result any) {
		_, _ = out.Write(jsonl.Line(map[string]any{"jsonrpc": "2.0", "id": id, "result": result}))
	}
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		m, kind := jsonl.Decode(line)
		if kind != jsonl.Request {
			continue
		}
		switch m.Method {
		case "initialize":
			reply(m.ID, map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{}})
		case "session/new":
			reply(m.ID, map[string]any{"sessionId": "s" + strconv.Itoa(os.Getpid())})
		case "session/prompt":
			var p struct {
				SessionID string
				Prompt    []struct{ Text string }
			}
			_ = json.Unmarshal(m.Params, &p)
			stream(out, p.SessionID, p.Prompt[len(p.Prompt)-1].Text)
			reply(m.ID, map[string]any{"stopReason": "end_turn"})
		}
	}
}

func stream(out io.Writer, session, text string) {
	n, every, sep := 1, time.Millisecond, " "
	if f := strings.Fields(text); len(f) == 3 {
		n, _ = strconv.Atoi(f[0])
		every, _ = time.ParseDuration(f[1])
		if f[2] == "line" {
			sep = "\n"
		}
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for range n {
		<-tick.C
		_, _ = out.Write(jsonl.Line(map[string]any{"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{
			"sessionId": session, "update": map[string]any{"sessionUpdate": "agent_message_chunk",
				"content": map[string]any{"type": "text", "text": stamp() + "some words of an answer" + sep}}}}))
	}
}

func stamp() string { return fmt.Sprintf("@%d ", time.Now().UnixNano()) }

var stamped = regexp.MustCompile(`@(\d+) `)

// stamps returns for each stamp in the text when it was made.
func stamps(text string) []time.Time {
	var out []time.Time
	for _, m := range stamped.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		out = append(out, time.Unix(0, n))
	}
	return out
}
