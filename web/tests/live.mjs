// A run in the browser while it goes, and the button that ends it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { address, assertDrawn, assertNoSidewaysScroll, assertText, dasgd, open, run, screenshots, showAll, start, tests } from "./harness.mjs";

const long = ["train", "--model", "softmax", "--workers", "4", "--slow", "3:3", "--compute", "4ms", "--max-time", "30min", "--watch", "0"];

async function watched(name, ...more) {
  const process = start(...long, ...more, "--out", run(name));
  const [url] = (await process.said(/http:\/\/\S+/)).split(/\s/);
  return { process, url };
}
// The page is there before the run begins.
async function begun(url) {
  while (!/^dasgd_gradients_total [1-9]/m.test(await (await fetch(`${url}metrics`)).text())) await new Promise((done) => setTimeout(done, 50));
}
function auditOf(name) {
  const { lost, duplicated, replicas_identical, stop_reason } = JSON.parse(readFileSync(run(`${name}/summary.json`), "utf8"));
  assert.deepEqual({ lost, duplicated, replicas_identical, stop_reason }, { lost: 0, duplicated: 0, replicas_identical: true, stop_reason: "interrupted" });
}

await tests({
  async "a live run draws its charts again and again, and the stop button ends it with a complete audit"() {
    const { process, url } = await watched("live", "--trace");
    const page = await open(url);
    await page.waitForSelector("#loss .uplot");
    await showAll(page);
    // It goes on: the number of gradients grows.
    const gradients = () => page.textContent(".tile:has(dt:text-is('Gradients')) .value");
    const before = await gradients();
    await page.waitForFunction((old) => [...document.querySelectorAll(".tile")].some((tile) => tile.textContent.startsWith("Gradients") && !tile.textContent.includes(old)), before);
    for (const id of ["loss", "staleness", "histogram", "timeline", "heat", "rates", "inbox"]) await assertDrawn(page, id);
    const over = await page.locator("#loss .u-over").boundingBox();
    await page.mouse.move(over.x + over.width / 2, over.y + over.height / 2);
    await assertText(page, "#loss .tip:not([hidden])", /\d/);
    assert.match(await page.textContent(".pill"), /running/);
    await page.click(".stop");
    await page.waitForFunction(() => document.querySelector(".pill").textContent === "ended");
    assert.match(await page.textContent(".tiles"), /✓ clean/);
    assert.match(await page.textContent("#audit"), /Gradients lost0/);
    assert.equal((await process.ended).status, 130);
    auditOf("live");
    assert.ok(existsSync(run("live/report.html")));
    dasgd("check", run("live/trace.jsonl"));
    page.assertQuiet();
  },
  async "a phone and three pages at once see the same run; the signal ends it as well"() {
    const { process, url } = await watched("phone");
    const pages = await Promise.all([390, 390, 800].map((width) => open(url, { width, dark: width < 500 })));
    for (const page of pages) {
      await page.waitForSelector("#loss .uplot");
      await assertNoSidewaysScroll(page);
    }
    const metrics = await (await fetch(`${url}metrics`)).text();
    assert.match(metrics, /^dasgd_gradients_total \d+$/m);
    if (screenshots) {
      await showAll(pages[0]);
      await pages[0].waitForFunction(() => document.querySelectorAll("#timeline canvas").length > 0);
      await pages[0].screenshot({ path: `${screenshots}/live.png`, clip: { x: 0, y: 0, width: 390, height: 1560 } });
    }
    process.child.kill("SIGINT");
    for (const page of pages) {
      await page.waitForFunction(() => document.querySelector(".pill").textContent === "ended");
      page.assertQuiet();
    }
    assert.equal((await process.ended).status, 130);
    auditOf("phone");
  },
  async "with a token everything needs it, and the page knows it"() {
    const token = "only-for-this-test-0";
    const { process, url } = await watched("token", "--watch-address", "0.0.0.0", "--watch-token", token);
    const base = url.replace("0.0.0.0", "127.0.0.1");
    assert.equal((await fetch(base.split("?")[0])).status, 401);
    assert.equal((await fetch(base.split("?")[0] + "?token=only-for-this-test-1")).status, 401);
    const page = await open(base);
    await page.waitForSelector("#loss .uplot");
    await page.click(".stop");
    await page.waitForFunction(() => document.querySelector(".pill").textContent === "ended");
    assert.equal((await process.ended).status, 130);
    auditOf("token");
    page.assertQuiet();
  },
  async "members of an elastic run are shown as they come, die and leave, in the page and in the report"() {
    const first = start("train", "--model", "softmax", "--compute", "20ms", "--max-time", "30min", "--watch", "0", "--listen", "127.0.0.1:0", "--name", "first", "--out", run("first"));
    const [url] = (await first.said(/http:\/\/\S+/)).split(/\s/);
    const join = (name) => start("join", readFileSync(run("first/address"), "utf8").trim(), "--token-file", run("first/token"), "--name", name, "--out", run(name));
    const page = await open(url);
    await assertText(page, "#members", /first.*here since/);
    const [second, third] = [join("second"), join("third")];
    await assertText(page, "#members", /second.*here since/);
    await assertText(page, "#members", /third.*here since/);
    third.child.kill("SIGKILL");
    await assertText(page, "#members", /third.*dead since/);
    second.child.kill("SIGINT");
    assert.equal((await second.ended).status, 130);
    await assertText(page, "#members", /second.*left since/);
    assert.match(await page.getAttribute("#members .track[aria-label^='third']", "aria-label"), /^third: here from .* to .*, dead from /);
    await assertNoSidewaysScroll(page);
    await page.click(".stop");
    assert.equal((await first.ended).status, 130);
    page.assertQuiet();
    const report = await open(address(run("first/report.html")), { width: 390, dark: true });
    await assertText(report, "#members .card-body .caption", /3 in all, as first sees them: 1 here, 1 dead, 1 left/);
    await assertNoSidewaysScroll(report);
    if (screenshots) {
      await showAll(report);
      await (await report.$("#members")).screenshot({ path: `${screenshots}/members.png` });
    }
    report.assertQuiet();
  },
  async "while a step size is looked for the page shows what is tried, and what its button sends ends that"() {
    const process = start("train", "--model", "cnn", "--data", "fashion-mnist", "--lr", "auto", "--epochs", "1000", "--watch", "0", "--out", run("looking"));
    const [url] = (await process.said(/http:\/\/\S+/)).split(/\s/);
    const token = (await (await fetch(url)).text()).match(/"token":"(\w+)"/)[1];
    const events = (await fetch(`${url}events`)).body.getReader();
    let shown = "";
    while (!/lr auto (measures|tries)/.test(shown)) shown += new TextDecoder().decode((await events.read()).value);
    const headers = { "X-Dasgd-Token": token, Origin: url.replace(/\/$/, "") };
    assert.equal((await fetch(`${url}stop`, { method: "POST", headers })).status, 202);
    assert.equal((await process.ended).status, 130);
    assert.ok(!existsSync(run("looking/summary.json")), "the run had begun");
  },
  async "another page can neither stop the run nor put it into a frame"() {
    const { process, url } = await watched("foreign");
    const other = await open("data:text/html,<title>another page</title>");
    const stopped = await other.evaluate(async (target) => {
      try {
        return (await fetch(`${target}stop`, { method: "POST", headers: { "X-Dasgd-Token": "guess" } })).status;
      } catch {
        return "refused by the browser";
      }
    }, url);
    assert.equal(stopped, "refused by the browser");
    assert.equal((await fetch(`${url}stop`, { method: "POST" })).status, 403);
    assert.equal((await fetch(url)).headers.get("x-frame-options"), "DENY");
    await begun(url);
    process.child.kill("SIGTERM");
    assert.equal((await process.ended).status, 130);
    auditOf("foreign");
  },
});
