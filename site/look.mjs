// Looks at the built site as people do: wide and on a phone, by day and by night; searches it.
//   node site/look.mjs SITE [SCREENSHOT_DIR]
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join, normalize, resolve } from "node:path";

const { chromium } = createRequire(new URL("../web/package.json", import.meta.url))("playwright-core");
const [site, screenshots] = [resolve(process.argv[2]), process.argv[3]];
const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png" };

const server = createServer((request, answer) => {
  try {
    let path = join(site, normalize(decodeURIComponent(new URL(request.url, "http://x").pathname)));
    if (statSync(path).isDirectory()) path = join(path, "index.html");
    answer.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream" }).end(readFileSync(path));
  } catch {
    answer.writeHead(404).end();
  }
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const at = (page) => `http://127.0.0.1:${server.address().port}/${page}`;

const pages = ["index", "train", "embed", "research", "commands/dasgd-train", "docs/theory", "docs/tutorial", "docs/command_line", "python_api", "CHANGELOG"];
const screens = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const [screen, viewport] of Object.entries(screens))
    for (const colorScheme of ["light", "dark"]) {
      const page = await (await browser.newContext({ viewport, colorScheme })).newPage();
      const complaints = [];
      page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
      page.on("requestfailed", (request) => complaints.push(`not there: ${request.url()}`));
      page.on("request", (request) => request.url().startsWith("http") && assert.ok(request.url().startsWith(at("")), `asks ${request.url()}`));
      for (const name of pages) {
        await page.goto(at(`${name}.html`));
        assert.ok((await page.textContent("h1")).length > 2, name);
        assert.equal(await page.getAttribute("body", "data-md-color-scheme"), colorScheme === "dark" ? "slate" : "default", name);
        const sideways = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(sideways <= 0, `${name} on a ${screen} screen scrolls sideways by ${sideways}`);
        for (const picture of await page.locator(".md-content img").all())
          assert.ok(await picture.evaluate((image) => image.decode().then(() => image.naturalWidth > 0)), `${name}: a picture is not drawn`);
        if (screenshots) await page.screenshot({ path: join(screenshots, `${name.replace("/", "-")}-${screen}-${colorScheme}.png`) });
      }
      assert.deepEqual(complaints, []);
      await page.close();
    }
  const page = await (await browser.newContext({ viewport: screens.wide })).newPage();
  await page.goto(at("index.html"));
  await page.click(".md-search__input");
  await page.keyboard.type("staleness");
  await page.waitForSelector(".md-search-result__item", { state: "attached" });
  assert.match(await page.textContent(".md-search-result__list"), /Staleness/);
  await page.goto(at("cpp/index.html"));
  assert.ok((await page.title()).includes("dasgd"));
} finally {
  await browser.close();
  server.close();
}
console.log(`${pages.length} pages on 2 screens in 2 colours, and a search: as they should be`);
