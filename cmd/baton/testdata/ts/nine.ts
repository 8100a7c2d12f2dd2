// The example of nine runs, by a client that knows of Baton what its description
// says: node nine.js LINK DIRECTORY. It ends with an error where something is not
// as it has to be.
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

declare const process: { argv: string[] };

type Message = paths["/api/streams"]["get"]["responses"]["200"]["content"]["text/event-stream"][number];

const [link, dir] = process.argv.slice(2);
if (!link || !dir) throw new Error("usage: nine.js LINK DIRECTORY");
const origin = new URL(link).origin;

const entered = await fetch(link, { redirect: "manual" });
const cookie = entered.headers.get("set-cookie")?.split(";")[0];
if (entered.status !== 303 || !cookie) throw new Error(`the link is answered with ${entered.status}`);
const headers = { Cookie: cookie, Origin: origin };
const api = createClient<paths>({ baseUrl: origin, headers });

/** The data of an answer that must be a good one. */
function good<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

function same(what: string, got: unknown, want: unknown): void {
  if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

/** What the server sends of a thread, until the reader stops. */
async function* messages(thread: string): AsyncGenerator<Message> {
  const answer = await fetch(`${origin}/api/streams?thread=${thread}`, { headers });
  if (!answer.ok || !answer.body) throw new Error(`the stream is answered with ${answer.status}`);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of answer.body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const fields = new Map(part.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
      const data = fields.get("data");
      if (data) yield { event: fields.get("event"), data: JSON.parse(data) } as Message;
    }
  }
  throw new Error("the stream has ended");
}

const thread = good(await api.POST("/api/threads", { body: { title: "nine runs", dir } })).id;
const stream = messages(thread);

async function say(ordinal: number, provider: string): Promise<void> {
  const path = { thread };
  const text = `fact-${ordinal} [[say noted ${ordinal}]]`;
  const reply = good(await api.POST("/api/threads/{thread}/messages", { params: { path }, body: { text, provider } }));
  same("ordinal", reply.ordinal, ordinal);
  for (;;) {
    const next = await stream.next();
    if (next.done) throw new Error("no more events");
    if (next.value.event === "event" && next.value.data.type === "run.ended") break;
  }
  const shown = good(await api.GET("/api/threads/{thread}", { params: { path } }));
  const run = shown.runs?.find((r) => r.ordinal === ordinal);
  same(`run ${ordinal}`, [run?.status, run?.provider, run?.answer], ["completed", provider, `noted ${ordinal}`]);
}

for (let n = 1; n <= 9; n++) await say(n, n >= 6 && n <= 8 ? "beta" : "alpha");

const coverage = good(await api.GET("/api/threads/{thread}/coverage", { params: { path: { thread } } }));
same(
  "coverage",
  coverage.provider_threads?.map((p) => [p.provider, p.native, p.handed_over]),
  [
    ["alpha", [[1, 5], [9, 9]], [[6, 8]]],
    ["beta", [[6, 8]], [[1, 5]]],
  ],
);
const handoffs = good(await api.GET("/api/threads/{thread}/handoffs", { params: { path: { thread } } })).items ?? [];
const spans: unknown[] = [];
for (const h of handoffs) {
  const whole = good(await api.GET("/api/handoffs/{handoff}", { params: { path: { handoff: h.id } } }));
  spans.push([whole.covered_runs?.from, whole.covered_runs?.to]);
  for (let n = 1; n <= 9; n++) {
    const told = whole.text?.includes(`fact-${n} `) ?? false;
    const due = n >= (whole.covered_runs?.from ?? 0) && n <= (whole.covered_runs?.to ?? 0);
    same(`fact ${n} in the handoff of ${whole.covered_runs?.from} to ${whole.covered_runs?.to}`, told, due);
  }
}
same("handoffs", spans.sort(), [[1, 5], [6, 8]]);

// A problem has a code, and its type is known.
const refused = await api.GET("/api/threads/{thread}", { params: { path: { thread: "thr_nothing" } } });
same("problem", [refused.response.status, refused.error?.code], [404, "not_found"]);
console.log("nine runs");
await stream.return(undefined);
