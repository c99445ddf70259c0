// A real browser and the real program. node web/tests/NAME.mjs PATH/TO/dasgd
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";

const binary = process.argv[2];
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

/** Says why a test cannot run, which is a failure: what hides one is no test. */
function cannot(why) {
  console.log(`cannot run: ${why}`);
  process.exit(1);
}
if (!binary || !existsSync(binary)) cannot("the dasgd program is not given");
if (!browserPath) cannot("there is no Chromium; install the package chromium");
const { chromium } = await import("playwright-core").catch(() => cannot("run npm ci in web/ first"));

export const directory = mkdtempSync(join(tmpdir(), "dasgd-web-"));
export const screenshots = process.env.DASGD_SCREENSHOTS;
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));

export const run = (name) => join(directory, name);
export const address = (path) => pathToFileURL(path).href;

export function dasgd(...args) {
  const done = spawnSync(binary, args, { encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

/** The program in the background; `said` resolves when standard error matches. */
export function start(...args) {
  const child = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"] });
  let error = "", output = "";
  const waiting = [];
  child.stdout.on("data", (text) => (output += text));
  child.stderr.on("data", (text) => {
    error += text;
    for (const { pattern, resolve } of waiting) if (pattern.test(error)) resolve(error.match(pattern)[0]);
  });
  const ended = new Promise((resolve) => child.on("close", (status) => resolve({ status, output, error })));
  return {
    child,
    ended,
    said: (pattern) => Promise.race([
      new Promise((resolve) => (pattern.test(error) ? resolve(error.match(pattern)[0]) : waiting.push({ pattern, resolve }))),
      ended.then((end) => assert.fail(`ended before it said ${pattern}: ${end.error}`)),
    ]),
  };
}

/** A page that may say nothing on the console. */
export async function open(url, { width = 1280, dark = false, before = () => {} } = {}) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: dark ? "dark" : "light" });
  page.setDefaultTimeout(120_000);  // only so that nothing hangs
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.addInitScript(before);
  await page.goto(url);
  page.assertQuiet = () => assert.deepEqual(complaints, []);
  return page;
}

/** Makes every card visible, so that every chart is drawn. */
export async function showAll(page) {
  const height = await page.evaluate(() => document.body.scrollHeight);
  await page.setViewportSize({ width: page.viewportSize().width, height: Math.min(12000, height + 400) });
  await page.waitForFunction(() => [...document.querySelectorAll(".card:not([hidden]) canvas")].every((c) => c.width > 1 && c.height > 1));
}

/** How many different colours a chart has, and how much of it is drawn. */
export const ink = (page, selector) =>
  page.$eval(`${selector} canvas`, (canvas) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    let drawn = 0;
    for (let k = 0; k < data.length; k += 4) {
      if (data[k + 3] === 0) continue;
      ++drawn;
      colours.add((data[k] << 16) | (data[k + 1] << 8) | data[k + 2]);
    }
    return { colours: colours.size, share: drawn / (canvas.width * canvas.height) };
  });

/** Waits until the text of `selector` matches: what follows an event may follow it a frame later. */
export async function assertText(page, selector, pattern) {
  await page.waitForFunction(
    ([selector, source]) => new RegExp(source).test(document.querySelector(selector)?.textContent ?? ""), [selector, pattern.source]);
}

export async function assertDrawn(page, id) {
  await page.waitForSelector(`#${id}:not([hidden]) canvas`);
  const { colours, share } = await ink(page, `#${id} .chart:not([hidden])`);
  assert.ok(colours > 3, `${id}: ${colours} colours`);
  assert.ok(share > 0.005, `${id}: only ${share} of it is drawn`);
}

export async function assertNoSidewaysScroll(page) {
  const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(wide <= seen, `the page is ${wide} px wide in a window of ${seen}`);
}

/** Runs the tests one after the other, in their order. */
export async function tests(all) {
  let failed = 0;
  for (const [name, test] of Object.entries(all)) {
    const began = performance.now();
    try {
      await test();
      console.log(`ok      ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      ++failed;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
    for (const context of browser.contexts()) await context.close();  // pages that nobody looks at go on drawing
  }
  await browser.close();
  process.exit(failed > 0 ? 1 : 0);
}
