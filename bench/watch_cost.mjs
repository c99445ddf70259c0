// What watching costs a run: gradients per second, which needs a quiet machine, and gradients per second of processor
// time of the run, its server included. In turns, as medians.
//   node bench/watch_cost.mjs PATH/TO/dasgd [ROUNDS [SECONDS]]
// The run has one core and the viewers another. Three browsers that draw slow down whatever else runs on a small machine,
// so a run that three browsers watch is held against one that nobody watches while they draw the same frames from
// elsewhere; and a run whose events three clients read without drawing, against one alone.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";

const { chromium } = createRequire(new URL("../web/", import.meta.url))("playwright-core");
const [binary, rounds = "7", seconds = "10"] = process.argv.slice(2);
const cores = cpus().length;
if (cores < 2) throw new Error("two cores are needed: one for the run, one for the browsers");
const ofRun = "0", ofViewers = String(cores - 1);
if (spawnSync("taskset", ["-apc", ofViewers, String(process.pid)]).status !== 0) throw new Error("taskset does not work here");
const work = mkdtempSync(join(tmpdir(), "dasgd-watch-cost-"));

// A browser is started through taskset by way of a script that playwright takes for the browser.
const pinned = join(work, "chromium");
writeFileSync(pinned, `#!/bin/sh\nexec taskset -c ${ofViewers} /usr/bin/chromium "$@"\n`);
chmodSync(pinned, 0o755);
const browsers = await Promise.all([1, 2, 3].map(() => chromium.launch({ executablePath: pinned, args: ["--no-sandbox"] })));
const openIn = (url) => browsers.map((browser) => browser.newPage().then((page) => page.goto(url).then(() => page)));

/** Reads all events, draws nothing, and returns them when the run has ended. */
async function read(url) {
  const decoder = new TextDecoder();
  let events = "";
  try {
    for await (const piece of (await fetch(`${url}events`)).body) events += decoder.decode(piece, { stream: true });
  } catch {
    // the run has ended in the middle of a frame
  }
  return events;
}

/** Shows a recorded run as it was shown, a frame a second. */
function replay(page, events) {
  const frames = events.split("\n\n").filter((event) => event.startsWith("event: frame"));
  if (!page || frames.length < Number(seconds) / 2) throw new Error(`only ${frames.length} frames could be recorded`);
  const server = createServer((request, answer) => {
    if (!request.url.startsWith("/events")) return answer.setHeader("Content-Type", "text/html").end(page);
    answer.setHeader("Content-Type", "text/event-stream");
    let next = 0;
    const send = () => answer.write(`${frames[Math.min(next++, frames.length - 1)]}\n\n`);
    send();
    const timer = setInterval(send, 1000);
    answer.on("close", () => clearInterval(timer));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** A run; `viewers` are let in once it says where it can be watched, or at once where it cannot. */
async function measure(watched, viewers) {
  const out = join(work, "run");
  // The shell's "times" gives the processor time of the run.
  const args = ["-c", '"$@"; times >&2', "sh", "taskset", "-c", ofRun, binary, "train", "--model", "softmax", "--workers", "2", "--lr", "0.01", "--max-time", `${seconds}s`, "--no-report", "--out", out];
  const child = spawn("sh", watched ? [...args, "--watch", "0"] : args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "", seen = watched ? null : Promise.allSettled(viewers(""));
  child.stderr.on("data", (text) => {
    said += text;
    const url = said.match(/http:\S+(?=\s)/);
    if (url) seen ??= Promise.allSettled(viewers(url[0]));
  });
  await new Promise((resolve) => child.on("close", resolve));
  const views = await seen;
  for (const view of views) await view.value?.close?.();
  const failed = views.find((view) => view.status === "rejected");
  if (failed) throw failed.reason;
  const summary = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
  const [user, system] = said.trim().split("\n").pop().match(/(\d+)m([\d.]+)s/g).map((time) => {
    const [, minutes, rest] = time.match(/(\d+)m([\d.]+)s/);
    return 60 * Number(minutes) + Number(rest);
  });
  return { wall: summary.gradients / summary.wall_seconds, processor: summary.gradients / (user + system) };
}

const readThree = (url) => [1, 2, 3].map(() => read(url));
const names = ["alone", "three readers", "browsers elsewhere", "three browsers"];
const found = Object.fromEntries(names.map((kind) => [kind, []]));
try {
  let page = "", events = "";
  await measure(true, (url) => [
    fetch(url).then(async (answer) => void (page = await answer.text())),
    read(url).then((all) => void (events = all)),
  ]);
  const elsewhere = await replay(page, events);
  const replayed = `http://127.0.0.1:${elsewhere.address().port}/`;
  const measured = {
    "alone": () => measure(false, () => []),
    "three readers": () => measure(true, readThree),
    "browsers elsewhere": () => measure(false, () => openIn(replayed)),
    "three browsers": () => measure(true, openIn),
  };
  await measured["three browsers"]();  // warm up
  for (let round = 0; round < Number(rounds); ++round)
    for (const kind of round % 2 === 0 ? names : [...names].reverse()) found[kind].push(await measured[kind]());
  elsewhere.close();
} finally {
  for (const browser of browsers) await browser.close();
  rmSync(work, { recursive: true });
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
for (const time of ["wall", "processor"]) {
  const rate = (kind) => median(found[kind].map((one) => one[time]));
  for (const kind of names) console.log(`${time} time, ${kind}: ${rate(kind).toFixed(1)} gradients/s`);
  for (const [with_, without] of [["three readers", "alone"], ["three browsers", "browsers elsewhere"]])
    console.log(`${time} time, ${with_} / ${without}: ${(rate(with_) / rate(without)).toFixed(4)}`);
}
