// Cards with curves, of all runs in one chart: loss, accuracy, staleness, inbox depth.
import { Card, choice, thin, type Numbers } from "./card";
import { element } from "./dom";
import { show, showSeconds } from "./format";
import { LineChart, type Line } from "./line_chart";
import type { Part } from "./part";
import { number, type Metrics, type Run, type Spread, type Values } from "./data";

type Against = "seconds" | "samples" | "applications";
const against: { key: Against; name: string; long: string }[] = [
  { key: "seconds", name: "Time", long: "seconds" },
  { key: "samples", name: "Samples", long: "samples" },
  { key: "applications", name: "Iterations", long: "iterations of all workers" },
];

function finite(values: Values): number[] {
  return values.filter((value): value is number => value !== null && Number.isFinite(value));
}

function spread(line: Omit<Line, "y">, value: Spread): Line {
  return { ...line, y: value.mean, low: value.min, high: value.max };
}

/** Only the moments at which there is a value: evaluations are rarer than lines, and some lines hold nothing else. */
function known(line: Line): Line {
  const at = line.y.flatMap((y, i) => (y === null ? [] : [i]));
  const of = (values: Values) => at.map((i) => values[i]);
  return { ...line, x: at.map((i) => line.x[i]), y: of(line.y), low: line.low && of(line.low), high: line.high && of(line.high) };
}

function numbersOf(x: string, lines: () => Line[]): () => Numbers {
  return () => ({
    head: lines().length > 1 ? ["Series", x, "Value"] : [x, "Value"],
    rows: lines().flatMap((line) =>
      thin(line.x.map((at, k) => [at, k] as const)).map(([at, k]) => {
        const range = line.low && line.high && line.low[k] !== line.high[k] ? ` (${show(line.low[k])} to ${show(line.high[k])})` : "";
        const cells = [show(at), show(line.y[k]) + range];
        return lines().length > 1 ? [line.name, ...cells] : cells;
      }),
    ),
  });
}

type Known = "loss" | "accuracy" | "eval_loss" | "prequential_accuracy" | "lambda";

/** A curve by its key, or one of the loop's own by its name. */
export function metricPart(id: string, title: string, key: Known | { own: string }, y: string): Part {
  const valueOf = (m: Metrics | null) => (typeof key === "string" ? m?.[key] : m?.own?.[key.own]);
  let lines: Line[] = [];
  let runs: Run[] = [];
  let chosen = 0;
  let logarithmic: boolean | null = null;
  const chart = new LineChart();
  const card = new Card(id, title, false, numbersOf("At", () => lines));
  card.body.append(chart.root);
  const log = element("button", { type: "button", class: "toggle", "aria-pressed": "false" }, "log");
  log.addEventListener("click", () => {
    logarithmic = log.getAttribute("aria-pressed") !== "true";
    update(runs);
  });
  const axis = choice("Horizontal axis", against.map((a) => a.name), 0, (k) => {
    chosen = k;
    update(runs);
  });
  card.controls.append(...(key === "accuracy" ? [] : [log]), axis);

  function update(given: Run[]): void {
    runs = given;
    const x = against[chosen];
    lines = runs.flatMap((run, k) => {
      const value = valueOf(run.metrics);
      if (!value || finite(value.mean).length === 0) return [];
      return [known(spread({ name: run.label, colour: k, x: run.metrics![x.key] }, value))];
    });
    card.hidden = lines.length === 0;
    if (lines.length === 0) return;
    const values = lines.flatMap((line) => finite(line.y));
    const positive = values.every((value) => value > 0);
    const log10 = key !== "accuracy" && positive && (logarithmic ?? Math.max(...values) > 100 * Math.min(...values));
    log.setAttribute("aria-pressed", String(log10));
    log.hidden = !positive;
    const first = finite(lines[0].y);
    const at = lines[0].x[lines[0].x.length - 1];
    const then = x.key === "seconds" ? showSeconds(at) : `${show(at)} ${x.long}`;
    const sentence =
      lines.length === 1
        ? first.length === 1 ? `${show(first[0])} after ${then}.` : `From ${show(first[0])} to ${show(first[first.length - 1])} over ${then}.`
        : `${lines.length} runs against ${x.long}.`;
    card.describe(key === "loss" ? `${sentence} Mean of the workers' last 30 batches, the last point too; the loss of the final model is in the figures above.` : sentence);
    card.draw(() =>
      chart.update(lines, { label: `${title}. ${sentence}`, x: { name: x.long, seconds: x.key === "seconds" }, y, log: log10, fromZero: false }),
    );
  }
  return { card, update };
}

export function stalenessPart(): Part {
  let lines: Line[] = [];
  const chart = new LineChart();
  const card = new Card("staleness", "Staleness over time", false, numbersOf("Seconds", () => lines));
  card.body.append(chart.root);
  return {
    card,
    update(runs) {
      lines = runs.flatMap((run, k): Line[] => {
        if (run.trace) {
          const t = run.trace.over_time;
          const keep = t.S_mean.flatMap((value, i) => (value === null ? [] : [i]));
          return [{
            name: runs.length > 1 ? run.label : "mean |S|",
            x: keep.map((i) => (i + 0.5) * t.bucket * 1e-9),
            y: keep.map((i) => t.S_mean[i]), low: keep.map((i) => t.S_min[i]), high: keep.map((i) => t.S_max[i]), colour: k,
          }];
        }
        const m = run.metrics;
        if (!m?.S_now) return [];
        const found = [spread({ name: runs.length > 1 ? run.label : "mean |S| now", x: m.seconds, colour: k }, m.S_now)];
        if (runs.length === 1 && m.S_avg) found.push({ name: "S_avg so far", x: m.seconds, y: m.S_avg.mean, colour: 1 });
        return found;
      });
      card.hidden = lines.length === 0;
      if (lines.length === 0) return;
      const most = Math.max(...lines.flatMap((line) => finite(line.high ?? line.y)));
      const single = runs.length === 1 ? number(runs[0].summary?.S_max) : null;
      const sentence = lines.some((line) => line.low)
        ? `Line: mean; band: least to most. At most ${show(most)}.`
        : `Mean over each report, at most ${show(most)}${single === null ? "" : `; of one gradient at most ${show(single)}`}.`;
      card.describe(sentence);
      card.draw(() => chart.update(lines, { label: `Staleness over time. ${sentence}`, x: { name: "seconds", seconds: true }, y: "|S|", log: false, fromZero: true }));
    },
  };
}

/** Gradients of others that a worker's own lacked: as look-ahead expected them, and as names show. */
export function lookAheadPart(): Part {
  let lines: Line[] = [];
  const chart = new LineChart();
  const card = new Card("look-ahead", "Look-ahead: missing gradients", false, numbersOf("Seconds", () => lines));
  card.body.append(chart.root);
  return {
    card,
    update(runs) {
      lines = runs.flatMap((run, k): Line[] => {
        const m = run.metrics;
        if (!m?.missing_true || !m.missing_estimated) return [];
        const alone = runs.length === 1;
        const found = [spread({ name: alone ? "missing" : run.label, x: m.seconds, colour: k }, m.missing_true)];
        if (alone) found.push(spread({ name: "estimated", x: m.seconds, colour: 1 }, m.missing_estimated));
        return found.map(known);
      });
      card.hidden = lines.length === 0;
      if (lines.length === 0) return;
      const last = (line: Line) => show(line.y[line.y.length - 1]);
      const sentence = lines.length === 2 && lines[1].name === "estimated"
        ? `Gradients of others begun before an own one and applied after it, mean so far: ${last(lines[0])}; estimated ${last(lines[1])}.`
        : "Gradients of others begun before an own one and applied after it, mean so far.";
      card.describe(sentence);
      card.draw(() => chart.update(lines, { label: `Missing gradients. ${sentence}`, x: { name: "seconds", seconds: true }, y: "gradients", log: false, fromZero: true }));
    },
  };
}

/** The fullest inbox and the mean over workers; without metrics what the trace knows. */
function inboxLines(run: Run, k: number, alone: boolean): Line[] {
  const m: Metrics | null = run.metrics;
  if (m?.inbox_depth && m.seconds.length >= 3) {
    const found = [spread({ name: alone ? "fullest inbox" : run.label, x: m.seconds, colour: k }, m.inbox_depth)];
    if (alone && m.inbox_by_worker.length > 1)
      found.push({
        name: "mean of all inboxes", x: m.seconds, colour: 1,
        y: m.seconds.map((_, at) => {
          const depths = finite(m.inbox_by_worker.map((inbox) => inbox[at]));
          return depths.length > 0 ? depths.reduce((sum, d) => sum + d, 0) / depths.length : null;
        }),
      });
    return found.map(known);
  }
  const t = run.trace;
  if (!t) return [];
  const n = Math.ceil(t.end / t.over_time.bucket), at = Array.from({ length: n }, (_, i) => i);
  const backlog = (pick: (...values: number[]) => number) => at.map((i) => pick(...t.over_time.backlog.map((group) => group[i] ?? 0)));
  return [{
    name: alone ? "not yet applied" : run.label, colour: k, x: at.map((i) => (i + 1) * t.over_time.bucket * 1e-9),
    y: backlog((...values) => values.reduce((sum, v) => sum + v, 0) / values.length), low: backlog(Math.min), high: backlog(Math.max),
  }];
}

export function inboxPart(): Part {
  let lines: Line[] = [];
  const chart = new LineChart();
  const card = new Card("inbox", "Inbox depth", false, numbersOf("Seconds", () => lines));
  card.body.append(chart.root);
  return {
    card,
    update(runs) {
      lines = runs.flatMap((run, k) => inboxLines(run, k, runs.length === 1));
      card.hidden = lines.length === 0;
      if (lines.length === 0) return;
      const most = Math.max(0, ...lines.flatMap((line) => finite(line.high ?? line.y)));
      const from_trace = lines[0].name === "not yet applied";
      const sentence = `${from_trace ? "Gradients in flight to a worker or in its inbox; band: from the emptiest worker to the fullest." : "Gradients that wait to be applied."} At most ${show(most)}.`;
      card.describe(sentence);
      card.draw(() => chart.update(lines, { label: `Inbox depth. ${sentence}`, x: { name: "seconds", seconds: true }, y: "gradients", log: false, fromZero: true }));
    },
  };
}
