// The report of a run with 16 workers, of several runs, of a killed run and of an experiment, in a browser.
import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { address, assertDrawn, assertNoSidewaysScroll, assertText, dasgd, directory, ink, open, run, screenshots, showAll, tests } from "./harness.mjs";

dasgd("train", "--model", "softmax", "--workers", "16", "--topology", "torus:4x4", "--slow", "5:6", "--slow", "11:3", "--lr", "0.01",
  "--compute", "8ms", "--max-time", "5s", "--eval-every", "400ms", "--trace", "--quiet", "--out", run("sixteen"));
dasgd("simulate", "--model", "quadratic", "--workers", "4", "--gradients", "300", "--lr", "0.01", "--trace", "--quiet", "--out", run("four"));
dasgd("simulate", "--model", "quadratic", "--workers", "8", "--topology", "ring", "--gradients", "150", "--lr", "0.01", "--trace", "--quiet", "--out", run("eight"));

const charts = ["loss", "staleness", "histogram", "timeline", "heat", "rates", "inbox"];

dasgd("train", "--model", "softmax", "--workers", "2", "--max-time", "500ms", "--lr", "auto", "--quiet", "--out", run("advised"));

await tests({
  async "every chart of a run with 16 workers is drawn, without a word on the console"() {
    const page = await open(address(run("sixteen/report.html")));
    await showAll(page);
    for (const id of [...charts, "accuracy", "look-ahead", "lambda"]) await assertDrawn(page, id);
    assert.equal(await page.textContent("h1"), "softmax on fashion-mnistcomplete");
    assert.match(await page.textContent(".tiles"), /✓ clean/);
    assert.equal(await page.locator("#timeline .numbers").count(), 1);
    await assertNoSidewaysScroll(page);
    if (screenshots) await page.screenshot({ path: `${screenshots}/report.png`, clip: { x: 0, y: 0, width: 1280, height: 1560 } });
    page.assertQuiet();
  },
  async "what a loop has logged is drawn under its name, whatever that is"() {
    const logged = run("logged");
    dasgd("simulate", "--model", "quadratic", "--gradients", "50", "--lr", "0.01", "--quiet", "--out", logged);
    const line = (k) => JSON.stringify({ seconds: k, gradients: k, own: { "learning rate": 1 / (k + 1), "<b>odd</b>": k } });
    writeFileSync(`${logged}/metrics.jsonl`, [0, 1, 2, 3, 4, 5].map((k) => line(k) + "\n").join(""));
    dasgd("report", logged);
    const page = await open(address(`${logged}/report.html`));
    await showAll(page);
    for (const id of ["own-0", "own-1"]) await assertDrawn(page, id);
    const titles = await page.$$eval("#own-0 h2, #own-1 h2", (all) => all.map((one) => one.textContent));
    assert.deepEqual(titles.sort(), ["<b>odd</b>", "learning rate"]);
    page.assertQuiet();
  },
  async "hovering shows the values"() {
    const page = await open(address(run("sixteen/report.html")));
    await showAll(page);
    const over = await page.locator("#loss .u-over").boundingBox();
    await page.mouse.move(over.x + over.width / 2, over.y + over.height / 2);
    await assertText(page, "#loss .tip:not([hidden])", /s.*sixteen \d/);
    for (const id of ["histogram", "heat", "timeline", "rates"]) {
      const box = await page.locator(`#${id} .chart:not([hidden]) canvas`).boundingBox();
      await page.mouse.move(box.x + 120, box.y + 60);
      await assertText(page, `#${id} .chart:not([hidden]) .tip:not([hidden])`, /\d/);
    }
    page.assertQuiet();
  },
  async "dragging zooms a chart and a button shows all again"() {
    const page = await open(address(run("sixteen/report.html")));
    await showAll(page);
    const over = await page.locator("#staleness .u-over").boundingBox();
    await page.mouse.move(over.x + 50, over.y + 60);
    await page.mouse.down();
    await page.mouse.move(over.x + 150, over.y + 60, { steps: 5 });
    await page.mouse.up();
    await page.click("#staleness .reset:not([hidden])");
    await page.waitForSelector("#staleness .reset", { state: "hidden" });
    page.assertQuiet();
  },
  async "the time line zooms by mouse, buttons and keys"() {
    const page = await open(address(run("sixteen/report.html")));
    await showAll(page);
    const before = await ink(page, "#timeline .chart");
    const box = await page.locator("#timeline canvas").boundingBox();
    await page.mouse.move(box.x + 300, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 320, box.y + 100, { steps: 4 });
    await page.mouse.up();
    const range = await page.textContent("#timeline .range");
    assert.match(range, /to/);
    assert.notDeepEqual(await ink(page, "#timeline .chart"), before);
    await page.click("#timeline [aria-label='Zoom in']");
    assert.notEqual(await page.textContent("#timeline .range"), range);
    await page.focus("#timeline .chart");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Escape");
    assert.equal(await page.textContent("#timeline .range"), "");
    page.assertQuiet();
  },
  async "loss is shown over time, samples and iterations"() {
    const page = await open(address(run("sixteen/report.html")));
    await showAll(page);
    for (const [axis, word] of [["Samples", "samples"], ["Iterations", "iterations"], ["Time", "s"]]) {
      await page.click(`#loss .choice button:text-is("${axis}")`);
      assert.match(await page.getAttribute("#loss .chart", "aria-label"), new RegExp(word));
      await assertDrawn(page, "loss");
    }
    page.assertQuiet();
  },
  async "charts can be walked through by keyboard and read as text"() {
    const page = await open(address(run("four/report.html")));
    await showAll(page);
    await page.focus("#loss .chart");
    await page.keyboard.press("ArrowRight");
    await assertText(page, "#announcer", /\d/);
    await page.keyboard.press("+");
    await page.waitForSelector("#loss .reset:not([hidden])");
    await page.focus("#heat .chart");
    await page.keyboard.press("ArrowRight");
    await assertText(page, "#announcer", /worker 0 applies gradients of 1/);
    for (const chart of await page.locator(".chart:visible").all()) assert.ok((await chart.getAttribute("aria-label")).length > 10);
    await page.click("#histogram .numbers summary");
    await page.waitForFunction(() => document.querySelectorAll("#histogram .numbers tr").length > 2);
    page.assertQuiet();
  },
  async "eta stands against its limits where the summary has them, and nowhere else"() {
    const measured = await open(address(run("four/report.html")));
    assert.match(await measured.textContent("#step-size"), /eta of this run0.01.*certificate of this run.*proved.*eta is (within|above).*published/);
    const advised = await open(address(run("advised/report.html")));
    assert.match(await advised.textContent("#step-size"), /Grounds of the step size.*recommended/);
    const summary = JSON.parse(readFileSync(run("eight/summary.json"), "utf8"));
    for (const key of Object.keys(summary)) if (/eta|certi|publ/.test(key)) delete summary[key];
    writeFileSync(run("eight/summary.json"), JSON.stringify(summary));
    dasgd("report", run("eight"));
    const without = await open(address(run("eight/report.html")));
    assert.equal(await without.isVisible("#step-size"), false);
    measured.assertQuiet();
    advised.assertQuiet();
  },
  async "images stand with what the network says they are, and samples that are none are left out"() {
    const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
    const sample = (label, answer) => ({ picture, label, answer, probability: 0.5 });
    writeFileSync(run("four/samples.json"), JSON.stringify([sample("Bag", "Bag"), sample("Shirt", "<b>Coat</b>")]));
    dasgd("report", run("four"));
    const page = await open(address(run("four/report.html")), { width: 390 });
    await showAll(page);
    assert.match(await page.textContent("#samples"), /1 of 2 are recognised.*Bag.*✗ <b>Coat<\/b>, not Shirt/);
    assert.equal(await page.evaluate(() => [...document.querySelectorAll("#samples img")].every((image) => image.naturalWidth === 1)), true);
    assert.equal(await page.locator("#samples .wrong").count(), 1);
    await assertNoSidewaysScroll(page);
    page.assertQuiet();
    writeFileSync(run("four/samples.json"), "[1]");
    dasgd("report", run("four"));
    const without = await open(address(run("four/report.html")));
    assert.equal(await without.isVisible("#samples"), false);
    assert.match(await without.textContent(".notes"), /samples.json is not a list of samples/);
    rmSync(run("four/samples.json"));
    dasgd("report", run("four"));
  },
  async "a phone shows everything without scrolling sideways, in the dark as well"() {
    const page = await open(address(run("sixteen/report.html")), { width: 390, dark: true });
    await showAll(page);
    for (const id of charts) await assertDrawn(page, id);
    await assertNoSidewaysScroll(page);
    const [red, green, blue] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
    assert.ok(red + green + blue < 120, "the page is not dark");
    page.assertQuiet();
  },
  async "runs are shown side by side, labelled by what differs"() {
    dasgd("report", run("four"), run("eight"), "--out", run("both"));
    const page = await open(address(run("both/report.html")));
    await showAll(page);
    for (const id of charts) await assertDrawn(page, id);
    assert.match(await page.textContent("#loss .legend"), /workers 4.*workers 8/);
    await page.selectOption("#heat select", "1");
    assert.match(await page.textContent("#configuration"), /ring/);
    assert.ok((await page.locator("#configuration mark").count()) > 0);
    page.assertQuiet();
  },
  async "links are shown: a tree as a picture, those of a member as a table"() {
    dasgd("simulate", "--model", "quadratic", "--workers", "7", "--relay", "tree:2", "--gradients", "20", "--lr", "0.001", "--quiet", "--out", run("tree"));
    const page = await open(address(run("tree/report.html")));
    await showAll(page);
    assert.equal(await page.locator("#links circle").count(), 7);
    assert.equal(await page.locator("#links line").count(), 6);
    assert.match(await page.locator("#links g title").first().textContent(), /^worker 0: 20 gradients; \d+ messages, [\d,]+ bytes sent$/);
    const summary = JSON.parse(readFileSync(run("tree/summary.json"), "utf8"));
    summary.links = [{ to: "<b>odd</b>", messages: 4, gradients: 14, gradients_per_message: 3.5, bytes: 2e6, bytes_per_second: 5e5 }];
    writeFileSync(run("tree/summary.json"), JSON.stringify(summary));
    dasgd("report", run("tree"));
    const again = await open(address(run("tree/report.html")));
    await showAll(again);
    assert.match(await again.textContent("#links table"), /<b>odd<\/b>43\.520\.5/);
    again.assertQuiet();
    page.assertQuiet();
  },
  async "a killed run is shown as far as it goes and says so"() {
    dasgd("simulate", "--model", "quadratic", "--workers", "3", "--gradients", "50", "--trace", "--quiet", "--out", run("killed"));
    rmSync(run("killed/summary.json"));
    renameSync(run("killed/trace.jsonl"), run("killed/trace.jsonl.partial"));
    dasgd("report", run("killed"));
    const page = await open(address(run("killed/report.html")));
    await showAll(page);
    assert.match(await page.textContent(".notes"), /unfinished.*not ended properly/);
    assert.match(await page.textContent("h1"), /incomplete/);
    assert.match(await page.textContent("#audit"), /no summary/);
    await assertDrawn(page, "timeline");
    page.assertQuiet();
  },
  async "replicas are said to differ only where digests do"() {
    const path = run("apart");
    dasgd("simulate", "--model", "quadratic", "--workers", "2", "--gradients", "50", "--quiet", "--out", path);
    const summary = JSON.parse(readFileSync(`${path}/summary.json`, "utf8"));
    for (const [digests, shown] of [[[], "not known"], [["a", "a"], "not known"], [["a", "b"], "no"]]) {
      writeFileSync(`${path}/summary.json`, JSON.stringify({ ...summary, replicas_identical: false, digest_of_all: digests }));
      dasgd("report", path);
      const page = await open(address(`${path}/report.html`));
      await showAll(page);
      const line = page.locator("#audit li", { hasText: "Replicas hold the same bits" });
      assert.equal(await line.locator("b").textContent(), shown);
      page.assertQuiet();
    }
  },
  async "an experiment ends with a page of its figures"() {
    dasgd("reproduce", "quadratic", "--quick", "--out", run("paper"));
    const page = await open(address(run("paper/report.html")));
    await page.waitForFunction(() => [...document.images].every((image) => image.complete && image.naturalWidth > 100));
    assert.ok((await page.locator("table tr").count()) > 3);
    await assertNoSidewaysScroll(page);
    page.assertQuiet();
  },
  async "a comparison says its verdict in words, above its table and pictures"() {
    dasgd("compare", "--model", "quadratic", "--workers", "8", "--rivals", "dasgd,minibatch,local-sgd,asgd", "--world", "straggler:10", "--world",
      "thin-nic", "--target-loss", "0.02", "--quick", "--quiet", "--out", run("compare"));
    for (const width of [1280, 390]) {
      const page = await open(address(run("compare/compare.html")), { width });
      await page.waitForFunction(() => [...document.images].length >= 14 && [...document.images].every((image) => image.complete && image.naturalWidth > 100));
      assert.match(await page.textContent(".findings"), /straggler:10: .*thin-nic: .*DASGD loses/s);
      for (const title of ["Who wins where", "Loss in thin-nic", "Time over the step size", "Time and traffic", "Performance profile", "The first rounds"])
        await assertText(page, "main", new RegExp(title));
      if (screenshots) await page.screenshot({ path: `${screenshots}/compare-${width}.png`, fullPage: true });
      assert.equal(await page.locator("table tr").count(), 1 + 8);
      await assertNoSidewaysScroll(page);
      page.assertQuiet();
    }
    const map = await open(address(run("compare/map.svg")), { dark: true });
    assert.equal(await map.$eval("text.c", (text) => getComputedStyle(text).fill), "rgb(0, 0, 0)", "on bright cells in the dark as well");
  },
  async "a million applications make a page under 5 MB that keeps the extremes"() {
    dasgd("simulate", "--model", "quadratic", "--workers", "10", "--gradients", "10000", "--lr", "0.0001", "--compute", "lognormal:1ms:0.7",
      "--pause", "3:2s:400ms", "--trace", "--quiet", "--out", run("million"));
    const size = statSync(run("million/report.html")).size;
    const { S_max } = JSON.parse(readFileSync(run("million/summary.json"), "utf8"));
    assert.ok(size < 5e6, `${size} bytes`);
    const began = performance.now();
    const page = await open(address(run("million/report.html")));
    await page.waitForSelector("#loss .uplot");
    console.log(`        ${(size / 1e6).toFixed(2)} MB, open in ${((performance.now() - began) / 1000).toFixed(2)} s`);
    await showAll(page);
    for (const id of charts) await assertDrawn(page, id);
    assert.match(await page.textContent("#staleness .caption"), new RegExp(`At most ${S_max}`));
    assert.match(await page.textContent("#histogram .caption"), /1,000,000 applications/);
    page.assertQuiet();
  },
  async "a hundred workers fit on a page of 1,400 px, and no label stands on another"() {
    dasgd("simulate", "--model", "quadratic", "--workers", "100", "--gradients", "8", "--lr", "0.01", "--compute", "lognormal:5ms:0.7", "--slow", "47:20",
      "--trace", "--quiet", "--out", run("hundred"));
    const page = await open(address(run("hundred/report.html")), {
      width: 1400,
      before: () => {
        window.labels = [];
        const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
          const width = this.measureText(text).width, upright = this.getTransform().b === 0;
          const from = x - { left: 0, start: 0, center: width / 2, right: width, end: width }[this.textAlign];
          if (upright) window.labels.push({ id: this.canvas.closest(".card")?.id, text, y, from, to: from + width });
          return write.apply(this, arguments);
        };
      },
    });
    await showAll(page);
    for (const id of charts) await assertDrawn(page, id);
    await assertNoSidewaysScroll(page);
    const labels = (await page.evaluate(() => window.labels)).filter(({ id }) => ["heat", "rates", "timeline"].includes(id));
    for (const { id, text, y, from, to } of labels) {
      assert.ok(id === "timeline" || from >= 16, `${text} begins at ${from}, on the title`);
      for (const other of labels.filter((label) => label.id === id && Math.abs(label.y - y) < 1))
        assert.ok(other.text === text || other.to <= from || other.from >= to, `"${text}" and "${other.text}" of ${id}`);
    }
    assert.match(await page.textContent("#rates .caption"), /slowest: worker 47 with/);
    if (screenshots) await page.screenshot({ path: `${screenshots}/hundred.png` });
    page.assertQuiet();
  },
  async "a run with one evaluation stands beside one with many"() {
    const train = ["simulate", "--model", "softmax", "--workers", "2", "--total-gradients", "200", "--quiet"];
    dasgd(...train, "--eval-every", "100ms", "--out", run("often"));
    dasgd(...train, "--eval-every", "20s", "--out", run("once"));
    const evaluations = (name) => readFileSync(run(`${name}/metrics.jsonl`), "utf8").split("\n").filter((line) => line.includes('"accuracy"')).length;
    assert.equal(evaluations("once"), 1);
    assert.ok(evaluations("often") > 20);
    dasgd("report", run("often"), run("once"), "--out", run("evaluated"));
    const page = await open(address(run("evaluated/report.html")));
    await showAll(page);
    assert.match(await page.textContent("#accuracy .legend"), /100ms.*20s/);
    // The second run has a colour of its own, which only its point can have brought there.
    const found = await page.$eval("#accuracy canvas", (canvas) => {
      const [red, green, blue] = [0xd5, 0x5e, 0x00];
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let k = 0; k < data.length; k += 4)
        if (Math.abs(data[k] - red) + Math.abs(data[k + 1] - green) + Math.abs(data[k + 2] - blue) < 24) ++count;
      return count;
    });
    assert.ok(found > 20, `${found} pixels`);
    page.assertQuiet();
    const { S_max } = JSON.parse(readFileSync(run("often/summary.json"), "utf8"));
    await assertText(await open(address(run("often/report.html"))), "#staleness .caption", new RegExp(`of one gradient at most ${S_max}\\.`));
  },
  async "times on a page have one unit"() {
    for (const [name, unit] of [["sixteen", "s"], ["hundred", "ms"]]) {
      const page = await open(address(run(`${name}/report.html`)), {
        before: () => {
          window.written = [];
          const write = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (text) {
            window.written.push(String(text));
            return write.apply(this, arguments);
          };
        },
      });
      await showAll(page);
      const texts = [...(await page.evaluate(() => window.written)), ...(await page.locator(".tile .value").allTextContents())];
      const units = new Set(texts.flatMap((text) => text.match(/^[\d.,e-]+ (h|min|s|ms|µs|ns)$/)?.[1] ?? []));
      assert.deepEqual([...units], [unit], name);
      page.assertQuiet();
    }
  },
  async "runs that differ in much, and have long names, fit all the same"() {
    dasgd("report", run("sixteen"), run("hundred"), run("four"), "--out", run("unlike"));
    for (const width of [1400, 390]) {
      const page = await open(address(run("unlike/report.html")), { width });
      await showAll(page);
      for (const id of charts) await assertDrawn(page, id);
      await assertNoSidewaysScroll(page);
      if (screenshots) await page.screenshot({ path: `${screenshots}/unlike-${width}.png`, fullPage: true });
      page.assertQuiet();
    }
  },
  async "a table that is wider than a phone shows that it scrolls, and to its end"() {
    const page = await open(address(run("both/report.html")), { width: 390 });
    await showAll(page);
    const table = page.locator("main > .card .scroll").first();
    await page.waitForFunction(() => document.querySelector("main > .card .scroll").classList.contains("more-right"));
    await table.evaluate((element) => (element.scrollLeft = element.scrollWidth));
    await page.waitForFunction(() => !document.querySelector("main > .card .scroll").classList.contains("more-right"));
    await assertNoSidewaysScroll(page);
    page.assertQuiet();
  },
  async "a sweep has a page of small multiples, on a phone as well"() {
    dasgd("sweep", "--model", "quadratic", "--gradients", "40", "--vary", "lr=1e-4..1e-2:log:5", "--vary", "workers=2,4,8", "--seeds", "3", "--compute",
      "lognormal:5ms:0.5", "--quiet", "--out", run("sweep"));
    for (const width of [1400, 390]) {
      const page = await open(address(run("sweep/report.html")), { width });
      await page.waitForFunction(() => document.images.length >= 9 && [...document.images].every((image) => image.complete && image.naturalWidth > 100));
      await assertNoSidewaysScroll(page);
      for (const box of await page.$$eval("img", (all) => all.map((image) => image.getBoundingClientRect()).map(({ left, right }) => ({ left, right }))))
        assert.ok(box.left >= 0 && box.right <= width, `${box.left} to ${box.right}`);
      assert.equal(await page.locator("tbody tr").count(), 15);
      assert.match(await page.textContent("h1"), /Sweep of lr, workers/);
      if (screenshots) await page.screenshot({ path: `${screenshots}/sweep-${width}.png`, fullPage: true });
      page.assertQuiet();
    }
  },
  async "the page needs no network"() {
    const html = readFileSync(run("sixteen/report.html"), "utf8");
    assert.doesNotMatch(html, /(src|href)="?https?:/);
    for (const chart of ["loss", "staleness", "histogram", "inbox", "rates", "heat_map", "time_line"])
      assert.ok(existsSync(run(`sixteen/charts/${chart}.svg`)), chart);
    const page = await open(address(`${directory}/sixteen/charts/time_line.svg`));
    page.assertQuiet();
  },
});
