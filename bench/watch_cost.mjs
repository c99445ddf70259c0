// What three browsers cost a run that they watch: gradients per second with and without them, in turns, as medians.
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

async function measure(watched) {
  const out = join(work, "run");
  const args = ["-c", ofRun, binary, "train", "--model", "softmax", "--workers", "2", "--lr", "0.01", "--max-time", `${seconds}s`, "--no-report", "--out", out];
  const child = spawn("taskset", watched ? [...args, "--watch", "0"] : args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "", pages = [];
  child.stderr.on("data", (text) => {
    const before = said.match(/http:\S+\n/);
    said += text;
    const url = said.match(/http:\S+/);
    if (watched && url && !before && pages.length === 0)
      pages = browsers.map((browser) => browser.newPage().then((page) => page.goto(url[0].trim()).then(() => page)));
  });
  await new Promise((resolve) => child.on("close", resolve));
  for (const page of await Promise.allSettled(pages)) await page.value?.close();
  const summary = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
  return summary.gradients / summary.wall_seconds;
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const alone = [], watched = [];
await measure(true);  // warm up
for (let round = 0; round < Number(rounds); ++round) {
  const first = round % 2 === 0;
  for (const which of [first, !first]) (which ? watched : alone).push(await measure(which));
}
for (const browser of browsers) await browser.close();
rmSync(work, { recursive: true });
console.log(`alone ${median(alone).toFixed(1)} gradients/s, with three browsers ${median(watched).toFixed(1)}; ratio ${(median(watched) / median(alone)).toFixed(4)}`);
