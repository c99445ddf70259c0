// What a run says in words and single numbers: tiles, audit, step size, configuration.
import { element, scrollable, table } from "./dom";
import { number, text, type Json, type Run } from "./data";
import { show, showCount, showSeconds } from "./format";

/** The length of the longest run, for the unit of all times. */
export function longest(runs: Run[]): number {
  return Math.max(0, ...runs.map((run) => seconds(run) ?? 0));
}

export function seconds(run: Run): number | null {
  const summary = run.summary;
  const at = number(summary?.virtual_seconds) ?? number(summary?.wall_seconds);
  return at ?? run.metrics?.seconds[run.metrics.seconds.length - 1] ?? (run.trace ? run.trace.end * 1e-9 : null);
}

function last(values: (number | null)[] | undefined): number | null {
  for (let k = (values?.length ?? 0) - 1; k >= 0; --k) if (values![k] !== null) return values![k];
  return null;
}

/** The audit in one word; null while there is none. */
export function auditPassed(run: Run): boolean | null {
  const s = run.summary;
  if (!s || !("lost" in s)) return null;
  return s.lost === 0 && s.duplicated === 0 && s.replicas_identical !== false;
}

/** Seconds in which workers with a sample and nothing to apply did not compute; null where nobody says. */
function waitedBy(run: Run): number | null {
  const waited = run.summary?.waited_seconds;
  return Array.isArray(waited) ? waited.reduce<number>((sum, w) => sum + (number(w) ?? 0), 0) : null;
}

interface Tile {
  name: string;
  value: string;
  more: string;
  state?: string;
}

/** What the final loss is over: of a stream only the rows that are kept. */
function learnedFrom(summary: { [key: string]: Json }): string {
  const kept = number((summary.parts as { train?: { samples?: Json } } | undefined)?.train?.samples);
  return summary.arrivals && kept !== null ? `${showCount(kept)} training samples` : "all training data";
}

function tilesOf(run: Run): Tile[] {
  const s = run.summary, m = run.metrics;
  const time = seconds(run);
  const gradients = number(s?.gradients) ?? last(m?.gradients) ?? run.trace?.gradients ?? null;
  const samples = number(s?.samples) ?? last(m?.samples);
  const rate = last(m?.gradients_per_second?.mean);
  // A run that was resumed has seconds of its last leg only; samples per second know that.
  const pace = number(s?.samples_per_second), perGradient = gradients && samples ? samples / gradients : null;
  const overall = pace && perGradient ? pace / perGradient : gradients !== null && time ? gradients / time : null;
  const accuracy = number(s?.accuracy) ?? last(m?.accuracy?.mean);
  const S = number(s?.S_avg) ?? last(m?.S_avg?.mean);
  const most = number(s?.S_max) ?? last(m?.S_max?.mean);
  const passed = auditPassed(run);
  const waited = waitedBy(run) ?? last(m?.waited_seconds?.mean);
  const folded = number(s?.folded) ?? last(m?.folded?.mean);
  const tiles: Tile[] = [
    { name: "Loss", value: show(number(s?.loss) ?? last(m?.loss?.mean)), more: s ? `final model, ${learnedFrom(s)}` : "mean of the last batches" },
  ];
  if (accuracy !== null) tiles.push({ name: "Accuracy", value: show(accuracy), more: s ? `final model, ${text(s.evaluated_part) || "held out"}` : "latest" });
  const arrivals = s?.arrivals;
  if (arrivals && typeof arrivals === "object" && !Array.isArray(arrivals)) {
    const answered = number(arrivals.prequential_accuracy);
    if (answered !== null) tiles.push({ name: "Before learning", value: show(answered), more: "accuracy of the last 1,000 samples, or fewer" });
    tiles.push({ name: "Arrived", value: showCount(number(arrivals.arrived)), more: `${show(number(arrivals.arrived_per_second))} per second; learned ${arrivals.learned_by ? `by ${text(arrivals.learned_by)} ` : ""}${show(number(arrivals.learned_per_second))}` });
  }
  tiles.push(
    { name: "Gradients", value: showCount(gradients), more: `${show(s ? overall : rate)} per second` },
    { name: "Samples", value: samples === null ? "–" : showCount(samples), more: `${show(number(s?.samples_per_second) ?? (samples !== null && time ? samples / time : null))} per second` },
    { name: "Staleness", value: show(S), more: `average; at most ${showCount(most)}` },
    ...(waited === null ? [] : [{ name: "Waited", value: showSeconds(waited), more: `all workers; ${showCount(folded)} gradients folded` }]),
    { name: run.virtual ? "Virtual time" : "Time", value: showSeconds(time), more: s ? run.stopped : "so far" },
    passed === null
      ? { name: "Audit", value: "–", more: "at the end of the run" }
      : passed
        ? { name: "Audit", value: "✓ clean", more: "nothing lost, replicas identical", state: "good" }
        : { name: "Audit", value: "✗ failed", more: "see below", state: "bad" },
  );
  return tiles;
}

export function tiles(run: Run): HTMLElement {
  return element(
    "dl",
    { class: "tiles" },
    ...tilesOf(run).map((tile) =>
      element("div", { class: `tile ${tile.state ?? ""}` }, element("dt", {}, tile.name), element("dd", { class: "value" }, tile.value), element("dd", { class: "more" }, tile.more)),
    ),
  );
}

/** Several runs: a row of figures for each. */
export function comparison(runs: Run[]): HTMLElement {
  const names = [...new Set(runs.flatMap((run) => tilesOf(run).map((tile) => tile.name)))];
  return scrollable(
    table(
      ["Run", ...names],
      runs.map((run, k) => {
        const swatch = element("i", { class: `swatch series-${(k % 8) + 1}`, "aria-hidden": "true" });
        const found = tilesOf(run);
        return [
          element("span", { class: "run-name" }, swatch, run.label),
          ...names.map((name) => found.find((tile) => tile.name === name)?.value ?? "–"),
        ];
      }),
      "The runs in figures",
    ),
  );
}

/** Earlier releases did not write which digests they had compared. */
function replicas(s: { [key: string]: Json }): string {
  if (s.replicas_identical === undefined || s.replicas_identical === null) return "not compared";
  if (s.replicas_identical) return "yes";
  return Array.isArray(s.digest_of_all) && new Set(s.digest_of_all).size <= 1 ? "not known" : "no";
}

export function audit(run: Run): HTMLElement {
  const s = run.summary;
  if (!s) return element("p", { class: "empty" }, "There is no summary: the run has not ended, so nothing has been audited.");
  const check = (good: boolean | null, what: string, value: string) =>
    element("li", { class: good === null ? "" : good ? "good" : "bad" },
      element("span", { class: "mark", "aria-label": good === null ? "note" : good ? "passed" : "failed" }, good === null ? "·" : good ? "✓" : "✗"),
      element("span", {}, what), element("b", {}, value));
  const items = [
    check(s.lost === 0, "Gradients lost", text(s.lost)),
    check(s.duplicated === 0, "Applied twice", text(s.duplicated)),
    check((s.replicas_identical as boolean | undefined) ?? null, "Replicas hold the same bits", replicas(s)),
  ];
  const noncausal = number(s.noncausal_applications);
  if (noncausal !== null) items.push(check(null, "Applications out of causal order", showCount(noncausal)));
  const folded = number(s.folded);
  if (folded) items.push(check(null, "Applied as part of a bundle", showCount(folded)));
  const dropped = number(s.copies_dropped);
  if (dropped !== null) items.push(check(null, "Copies the relay dropped", showCount(dropped)));
  for (const [key, name] of [["S_hat_avg", "Loose staleness, average"], ["S_hat_max", "Loose staleness, at most"], ["S_mean_square", "Mean square staleness"], ["W", "Certificate weight W"], ["missing_true", "Gradients missing where one was computed"], ["missing_estimated", "Estimated by look-ahead"], ["gap", "Distance of look-ahead from the model, relative"]])
    if (number(s[key]) !== null) items.push(check(null, name, show(number(s[key]))));
  return element("div", {},
    element("ul", { class: "audit" }, ...items),
    element("p", { class: "digest" }, text(s.replica_digest)));
}

function facts(value: Json): HTMLElement {
  if (Array.isArray(value)) return element("ul", {}, ...value.map((item) => element("li", {}, typeof item === "object" ? facts(item) : text(item))));
  if (value === null || typeof value !== "object") return element("p", {}, typeof value === "number" ? show(value) : text(value));
  return element("dl", { class: "facts" },
    ...Object.entries(value).flatMap(([key, item]) => [
      element("dt", {}, key.replace(/_/g, " ")),
      element("dd", {}, item !== null && typeof item === "object" ? facts(item) : typeof item === "number" ? show(item) : text(item)),
    ]));
}

/** What a proved step size rests on, held against the run; null where none was proved. */
function assumptionsOf(run: Run): Json {
  const assumptions = run.summary?.assumptions;
  if (!assumptions || typeof assumptions !== "object" || Array.isArray(assumptions) || !Array.isArray(assumptions.list)) return null;
  const found: { [key: string]: Json } = {};
  for (const item of assumptions.list) {
    if (item === null || typeof item !== "object" || Array.isArray(item)) continue;
    const limit = number(item.at_most) === null ? "" : `at most ${show(number(item.at_most))}, found ${number(item.found) === null ? "nothing" : show(number(item.found))}: `;
    const verdict = item.held === true ? "held" : item.held === false ? "did NOT hold" : "unknown";
    found[text(item.name)] = `${limit}${verdict} (${text(item.how)})`;
  }
  return found;
}

/** What a run says about why its step size is what it is. */
function groundsOf(run: Run): [string, Json][] {
  const found: [string, Json][] = [];
  const advice = run.advice;
  if (advice) {
    const limits = Array.isArray(advice.limits) ? advice.limits : [];
    const why: { [key: string]: Json } = { recommended: advice.recommended_eta ?? null, grounds: advice.grounds ?? null };
    for (const limit of limits)
      if (limit !== null && typeof limit === "object" && !Array.isArray(limit))
        why[text(limit.name)] = `${show(number(limit.eta))}, ${text(limit.status)}: ${text(limit.grounds)}`;
    found.push(["Grounds of the step size, before the run", why]);
  }
  const assumed = assumptionsOf(run);
  if (assumed) found.push(["What the proof assumed, and whether it held", assumed]);
  for (const [key, title] of [["step_size", "Grounds of the step size"], ["certificate", "Certificate"], ["certificate_measured", "The certificate's inequality, measured"], ["published_measured", "The published inequality, measured"]]) {
    const value = run.summary?.[key];
    if (value !== undefined && value !== null) found.push([title, value]);
  }
  return found;
}

/** Eta and its limits on one logarithmic axis, and the grounds. Null where a run says nothing. */
export function stepSize(run: Run): HTMLElement | null {
  const eta = number(run.config.lr);
  const limits = run.limits.filter((limit) => limit.eta !== null && limit.eta > 0);
  const grounds = groundsOf(run);
  if (eta === null || (limits.length === 0 && grounds.length === 0)) return null;
  const values = [eta, ...limits.map((limit) => limit.eta!)];
  const low = Math.log10(Math.min(...values)) - 0.15, high = Math.log10(Math.max(...values)) + 0.15;
  const place = (value: number) => `${((Math.log10(value) - low) / (high - low)) * 100}%`;
  const line = (name: string, value: number, note: string, kind: string) => {
    const dot = element("i", { class: kind });
    dot.style.left = place(value);
    const rule = element("i", { class: "eta-rule" });
    rule.style.left = place(eta);
    return element("li", {},
      element("span", { class: "name" }, name, note ? element("small", {}, note) : null),
      element("span", { class: "axis", "aria-hidden": "true" }, rule, dot),
      element("b", {}, show(value)));
  };
  return element("div", {},
    element("ul", { class: "limits" },
      line("eta of this run", eta, "", "dot own"),
      ...limits.map((limit) =>
        line(limit.name.replace(/_/g, " "), limit.eta!, [limit.status, eta <= limit.eta! ? "eta is within" : "eta is above"].filter(Boolean).join("; "), eta <= limit.eta! ? "dot within" : "dot above"))),
    ...grounds.map(([title, value]) => element("div", {}, element("h3", {}, title), facts(value))));
}

export function configuration(runs: Run[]): HTMLElement {
  const keys = [...new Set(runs.flatMap((run) => Object.keys(run.config)))];
  if (keys.length === 0) return element("p", { class: "empty" }, "There is no config.toml.");
  const rows = keys.map((key) => {
    const values = runs.map((run) => text(run.config[key]));
    const differs = values.some((value) => value !== values[0]);
    return [key, ...values.map((value) => (differs ? element("mark", {}, value || "–") : value || "–"))];
  });
  return scrollable(table(["Setting", ...(runs.length > 1 ? runs.map((run) => run.label) : ["Value"])], rows, "Resolved settings"));
}
