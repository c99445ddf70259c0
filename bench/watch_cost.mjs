// What three browsers, and three clients that only read the events, cost a run that they watch, in turns, as medians: gradients per second, which needs a quiet
// machine, and gradients per second of processor time of the run, its server included, which does not.
//   node bench/watch_cost.mjs PATH/TO/dasgd [ROUNDS [SECONDS]]
// Browsers have a core of their own, as they have on the machine of a person who watches from elsewhere: what is
// measured is what watching costs the run.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { createRequire } from "node:module";
import { join } from "node:path";

const { chromium } = createRequire(new URL("../web/", import.meta.url))("playwright-core");
const [binary, rounds = "7", seconds = "6"] = process.argv.slice(2);
const cores = cpus().length;
if (cores < 2) throw new Error("two cores are needed: one for the run, one for the browsers");
const ofRun = cores === 2 ? "0" : `0-${cores - 2}`;
const work = mkdtempSync(join(tmpdir(), "dasgd-watch-cost-"));

// A browser is started through taskset by way of a script that playwright takes for the browser.
const { writeFileSync, chmodSync } = await import("node:fs");
const pinned = join(work, "chromium");
writeFileSync(pinned, `#!/bin/sh\nexec taskset -c ${cores - 1} /usr/bin/chromium "$@"\n`);
chmodSync(pinned, 0o755);
const browsers = await Promise.all([1, 2, 3].map(() => chromium.launch({ executablePath: pinned, args: ["--no-sandbox"] })));

/** Reads all events and draws nothing. */
async function read(url) {
  for await (const piece of (await fetch(`${url}events`)).body) void piece;
}

async function measure(kind) {
  const watched = kind !== "alone";
  const out = join(work, "run");
  // The shell's "times" tells the processor time of the run.
  const args = ["-c", '"$@"; times >&2', "sh", "taskset", "-c", ofRun, binary, "train", "--model", "softmax", "--workers", "2", "--lr", "0.01", "--max-time", `${seconds}s`, "--no-report", "--out", out];
  const child = spawn("sh", watched ? [...args, "--watch", "0"] : args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "", pages = [];
  child.stderr.on("data", (text) => {
    const before = said.match(/http:\S+\n/);
    said += text;
    const url = said.match(/http:\S+/);
    if (!watched || !url || before || pages.length > 0) return;
    if (kind === "three readers") pages = [1, 2, 3].map(() => read(url[0].trim()).catch(() => undefined));
    else
      pages = browsers.map((browser) => browser.newPage().then((page) => page.goto(url[0].trim()).then(() => page)));
  });
  await new Promise((resolve) => child.on("close", resolve));
  for (const page of await Promise.allSettled(pages)) await page.value?.close();
  const summary = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
  const [user, system] = said.trim().split("\n").pop().match(/(\d+)m([\d.]+)s/g).map((time) => {
    const [, minutes, seconds] = time.match(/(\d+)m([\d.]+)s/);
    return 60 * Number(minutes) + Number(seconds);
  });
  return { wall: summary.gradients / summary.wall_seconds, processor: summary.gradients / (user + system) };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const kinds = ["alone", "three readers", "three browsers"];
const found = Object.fromEntries(kinds.map((kind) => [kind, []]));
await measure("three browsers");  // warm up
for (let round = 0; round < Number(rounds); ++round)
  for (const kind of round % 2 === 0 ? kinds : [...kinds].reverse()) found[kind].push(await measure(kind));
for (const browser of browsers) await browser.close();
rmSync(work, { recursive: true });
for (const time of ["wall", "processor"]) {
  const rate = Object.fromEntries(kinds.map((kind) => [kind, median(found[kind].map((one) => one[time]))]));
  for (const kind of kinds)
    console.log(`${time} time, ${kind}: ${rate[kind].toFixed(1)} gradients/s, ratio ${(rate[kind] / rate.alone).toFixed(4)}`);
}
