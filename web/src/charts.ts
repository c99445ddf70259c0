// The cards of one or several runs. Reports draw them once, the live view again and again.
import { Card, choice, thin, type Numbers } from "./card";
import { element } from "./dom";
import { audit, configuration, stepSize } from "./facts";
import { show, showCount, showSeconds } from "./format";
import { Histogram } from "./histogram";
import { LineChart, type Line } from "./line_chart";
import { Matrix } from "./matrix";
import { members } from "./members";
import { samples } from "./samples";
import { TimeLine } from "./time_line";
import type { Metrics, Run, Spread, Values } from "./data";

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

/** A chart of one card; `update` gets all runs of the page. */
interface Part {
  card: Card;
  update(runs: Run[]): void;
}

function metricPart(id: string, title: string, key: "loss" | "accuracy", y: string): Part {
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
  card.controls.append(...(key === "loss" ? [log] : []), axis);

  function update(given: Run[]): void {
    runs = given;
    const x = against[chosen];
    lines = runs.flatMap((run, k) => {
      const value = run.metrics?.[key];
      if (!value || finite(value.mean).length === 0) return [];
      return [known(spread({ name: run.label, colour: k, x: run.metrics![x.key] }, value))];
    });
    card.hidden = lines.length === 0;
    if (lines.length === 0) return;
    const values = lines.flatMap((line) => finite(line.y));
    const positive = values.every((value) => value > 0);
    const log10 = key === "loss" && positive && (logarithmic ?? Math.max(...values) > 100 * Math.min(...values));
    log.setAttribute("aria-pressed", String(log10));
    log.hidden = !positive;
    const first = finite(lines[0].y);
    const at = lines[0].x[lines[0].x.length - 1];
    const then = x.key === "seconds" ? showSeconds(at) : `${show(at)} ${x.long}`;
    const sentence =
      lines.length === 1
        ? first.length === 1 ? `${show(first[0])} after ${then}.` : `From ${show(first[0])} to ${show(first[first.length - 1])} over ${then}.`
        : `${lines.length} runs against ${x.long}.`;
    const final = runs.some((run) => run.ended && !run.virtual) ? "; the last point is the final model on all training data" : "";
    card.describe(key === "loss" ? `${sentence} Mean of the workers' last 30 batches${final}.` : sentence);
    card.draw(() =>
      chart.update(lines, { label: `${title}. ${sentence}`, x: { name: x.long, seconds: x.key === "seconds" }, y, log: log10, fromZero: false }),
    );
  }
  return { card, update };
}

function stalenessPart(): Part {
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
      const sentence = `${lines.some((line) => line.low) ? "Line: mean; band: least to most." : "Mean over each report."} At most ${show(most)}.`;
      card.describe(sentence);
      card.draw(() => chart.update(lines, { label: `Staleness over time. ${sentence}`, x: { name: "seconds", seconds: true }, y: "|S|", log: false, fromZero: true }));
    },
  };
}

function histogramPart(): Part {
  let runs: Run[] = [];
  const chart = new Histogram();
  const card = new Card("histogram", "Histogram of staleness", false, () => ({
    head: ["Run", "|S| from", "Applications"],
    rows: runs.flatMap((run) => (run.trace?.histogram.counts ?? []).map((count, k) => [run.label, String(k * run.trace!.histogram.width), showCount(count)])),
  }));
  card.body.append(chart.root);
  return {
    card,
    update(given) {
      runs = given.filter((run) => run.trace);
      card.hidden = runs.length === 0;
      if (runs.length === 0) return;
      const total = runs.reduce((sum, run) => sum + run.trace!.applications, 0);
      const sentence = `${showCount(total)} applications; the scale is logarithmic.`;
      card.describe(sentence);
      card.draw(() => chart.update(runs.map((run) => ({ name: run.label, ...run.trace!.histogram })), `Histogram of staleness. ${sentence}`));
    },
  };
}

/** Adds buttons that choose a run, where there are several. */
function perRun(card: Card, update: (run: Run) => void, has: (run: Run) => boolean): (runs: Run[]) => void {
  let chosen = 0;
  let names = "";
  return (all) => {
    const runs = all.filter(has);
    card.hidden = runs.length === 0;
    if (runs.length === 0) return;
    chosen = Math.min(chosen, runs.length - 1);
    const wanted = runs.map((run) => run.label).join("\n");
    if (runs.length > 1 && names !== wanted) {
      names = wanted;
      card.controls.querySelector(".runs")?.remove();
      const select = element("select", { class: "runs", "aria-label": "Run" }, ...runs.map((run, k) => element("option", { value: k }, run.label)));
      select.addEventListener("change", () => {
        chosen = select.selectedIndex;
        update(runs[chosen]);
      });
      card.controls.prepend(select);
    }
    update(runs[chosen]);
  };
}

const groupName = (per: number) => (group: number) => (per === 1 ? String(group) : `${group * per}–${(group + 1) * per - 1}`);

function heatPart(): Part {
  const chart = new Matrix();
  let shown: Run | null = null;
  const card = new Card("heat", "Who applies whose gradients, how stale", false, () => ({
    head: ["Applied by", "Computed by", "Mean |S|", "Most |S|"],
    rows: (shown?.trace?.heat.mean ?? []).flatMap((row, r) => row.map((value, c) => [String(r), String(c), show(value), show(shown!.trace!.heat.max[r][c])])),
  }));
  card.body.append(chart.root);
  const update = (run: Run) => {
    shown = run;
    const trace = run.trace!, per = trace.workers_per_group, name = groupName(per);
    const size = trace.heat.mean.length, every = Math.ceil(size / 8);
    let most = 0, at = [0, 0];
    trace.heat.mean.forEach((row, r) => row.forEach((value, c) => value !== null && value > most && ((most = value), (at = [r, c]))));
    const foreign = trace.heat.mean.flatMap((row, r) => row.filter((value, c): value is number => value !== null && r !== c));
    const sentence = `Mean |S|; the stalest on average are worker ${name(at[1])}'s gradients at worker ${name(at[0])}: ${show(most)}.`;
    card.describe(most > 0 ? sentence : "Mean |S|; nothing was stale.");
    card.draw(() =>
      chart.update(trace.heat.mean, {
        label: `Heat map of staleness. ${sentence}`,
        square: true,
        from: foreign.length > 0 ? Math.min(...foreign) * 0.9 : 0,
        rowName: name,
        columnName: name,
        rowTitle: "applied by worker",
        columnTitle: "computed by worker",
        columnTicks: Array.from({ length: Math.ceil(size / every) }, (_, k) => [k * every + 0.5, name(k * every)]),
        describe: (r, c) => [`worker ${name(r)} applies gradients of ${name(c)}`, `mean |S| ${show(trace.heat.mean[r][c])}`, `most |S| ${show(trace.heat.max[r][c])}`],
      }),
    );
  };
  return { card, update: perRun(card, update, (run) => run.trace !== null) };
}

/** Gradients per second of every worker in common stretches of time, which begin at 0. */
function ratesOf(run: Run, most: number): { ends: number[]; rates: Values[]; name: (k: number) => string } | null {
  const m = run.metrics;
  const told = m && m.gradients_by_worker.length > 0 ? m.seconds.flatMap((_, k) => (m.gradients_by_worker[0][k] === null ? [] : [k])) : [];
  if (m && told.length >= 8) {
    const every = Math.ceil(told.length / most);
    const at = told.filter((_, k) => k % every === every - 1 || k === told.length - 1);
    const pairs = at.map((k, i) => [i === 0 ? -1 : at[i - 1], k]).filter(([a, b]) => m.seconds[b] > (a < 0 ? 0 : m.seconds[a]));
    const rate = (made: Values) => pairs.map(([a, b]) => {
      const from = a < 0 ? 0 : made[a], to = made[b];
      return from === null || to === null ? null : (to - from) / (m.seconds[b] - (a < 0 ? 0 : m.seconds[a]));
    });
    return { ends: pairs.map(([, b]) => m.seconds[b]), rates: m.gradients_by_worker.map(rate), name: String };
  }
  const t = run.trace;
  if (!t) return null;
  const buckets = Math.ceil(t.end / t.over_time.bucket), per = Math.max(1, Math.ceil(buckets / most));
  const width = per * t.over_time.bucket * 1e-9;
  const rates = t.over_time.computed.map((made) =>
    Array.from({ length: Math.ceil(buckets / per) }, (_, k) => made.slice(k * per, (k + 1) * per).reduce((sum, n) => sum + n, 0) / width));
  return { ends: rates[0].map((_, k) => (k + 1) * width), rates, name: groupName(t.workers_per_group) };
}

function ratesPart(): Part {
  const lines = new LineChart(), matrix = new Matrix();
  let shown: ReturnType<typeof ratesOf> = null;
  const card = new Card("rates", "Gradients per second, worker by worker", false, () => ({
    head: ["Worker", "Seconds", "Gradients per second"],
    rows: (shown?.rates ?? []).flatMap((rates, w) => thin(rates.map((rate, k) => [shown!.name(w), show(shown!.ends[k]), show(rate)]), 12)),
  }));
  card.body.append(lines.root, matrix.root);
  const update = (run: Run) => {
    const few = (run.trace?.workers ?? run.metrics?.gradients_by_worker.length ?? 0) <= 6;
    shown = ratesOf(run, few ? 240 : 80);
    const found = shown;
    if (!found) return;
    // On average until its last gradient: a worker that has used up its budget is not slow.
    const mean = found.rates.map((rates) => {
      let made = 0, until = 0;
      rates.forEach((rate, k) => {
        if (!rate) return;
        made += rate * (found.ends[k] - (found.ends[k - 1] ?? 0));
        until = found.ends[k];
      });
      return made / (until || 1);
    });
    const fast = mean.indexOf(Math.max(...mean)), slow = mean.indexOf(Math.min(...mean));
    const sentence = fast === slow ? `${show(mean[fast])}/s each, until the last gradient.` : `Fastest: worker ${found.name(fast)} with ${show(mean[fast])}/s until its last gradient; slowest: worker ${found.name(slow)} with ${show(mean[slow])}/s.`;
    card.describe(sentence);
    lines.root.hidden = !few;
    matrix.root.hidden = few;
    card.draw(() => {
      if (few) {
        lines.update(found.rates.map((y, w) => ({ name: `worker ${w}`, x: found.ends, y })), { label: `Gradients per second by worker. ${sentence}`, x: { name: "seconds", seconds: true }, y: "gradients/s", log: false, fromZero: true });
        return;
      }
      const columns = found.ends.length;
      matrix.update(found.rates, {
        label: `Gradients per second by worker. ${sentence}`,
        square: false,
        from: 0,
        rowName: found.name,
        columnName: (c) => showSeconds(found.ends[c]),
        rowTitle: "worker",
        columnTitle: "time",
        columnTicks: [0.1, 0.5, 0.9].map((share) => [columns * share, showSeconds(found.ends[Math.floor(columns * share)])]),
        describe: (r, c) => [`worker ${found.name(r)} at ${showSeconds(found.ends[c])}`, `${show(found.rates[r][c])} gradients/s`],
      });
    });
  };
  return { card, update: perRun(card, update, (run) => ratesOf(run, 10) !== null) };
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

function inboxPart(): Part {
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
      const sentence = `${from_trace ? "Gradients on their way to a worker or in its inbox; band: from the emptiest worker to the fullest." : "Gradients that wait to be applied."} At most ${show(most)}.`;
      card.describe(sentence);
      card.draw(() => chart.update(lines, { label: `Inbox depth. ${sentence}`, x: { name: "seconds", seconds: true }, y: "gradients", log: false, fromZero: true }));
    },
  };
}

function timeLinePart(): Part {
  const chart = new TimeLine();
  let shown: Run | null = null;
  const card = new Card("timeline", "Time line of every worker", true, () => ({
    head: ["Worker", "Gradients or groups of them", "Seconds of computing", "Foreign gradients applied"],
    rows: (shown?.trace?.time_lines.rows ?? []).map((row) => {
      const size = shown!.trace!.time_lines.resolution > 0 ? 3 : 2;
      let busy = 0, applied = 0;
      for (let k = size - 1; k < row.bars.length; k += size) busy += row.bars[k];
      for (let k = 1; k < row.ticks.length; k += 2) applied += row.ticks[k];
      return [String(row.worker), showCount(row.bars.length / size), show(busy * 1e-9), showCount(applied)];
    }),
  }));
  card.controls.append(chart.controls);
  const key = (name: string, kind: string) => element("li", {}, element("i", { class: `key ${kind}`, "aria-hidden": "true" }), name);
  card.body.append(chart.root, element("ul", { class: "legend" }, key("computing", "compute"), key("applying foreign gradients", "apply"), key("idle", "idle")));
  const update = (run: Run) => {
    shown = run;
    const trace = run.trace!;
    const per = trace.time_lines.workers_per_line;
    card.draw(() => {
      chart.update(trace, `Time line of ${trace.time_lines.rows.length} workers over ${showSeconds(trace.end * 1e-9)}: when each computes, applies foreign gradients or is idle.`);
      card.describe(`Drag over it or use the buttons to zoom.${per > 1 ? ` One worker of ${per} is shown.` : ""}${chart.describeResolution()}`);
    });
  };
  return { card, update: perRun(card, update, (run) => run.trace !== null) };
}

function factPart(id: string, title: string, make: (run: Run) => HTMLElement | null, wide = false): Part {
  const card = new Card(id, title, wide);
  return { card, update: perRun(card, (run) => card.body.replaceChildren(make(run) ?? ""), (run) => make(run) !== null) };
}

function configPart(): Part {
  const card = new Card("configuration", "Configuration", false);
  return {
    card,
    update(runs) {
      card.root.classList.toggle("wide", runs.length > 2);
      card.body.replaceChildren(configuration(runs));
    },
  };
}

export class Charts {
  readonly root = element("div", { class: "grid" });
  private readonly parts: Part[] = [
    metricPart("loss", "Loss", "loss", "loss"),
    metricPart("accuracy", "Accuracy", "accuracy", "accuracy"),
    stalenessPart(),
    histogramPart(),
    factPart("members", "Members", members, true),
    timeLinePart(),
    heatPart(),
    ratesPart(),
    inboxPart(),
    factPart("samples", "Images and answers", samples, true),
    factPart("step-size", "Step size against its limits", (run) => stepSize(run)),
    factPart("audit", "Audit", (run) => (run.summary || !run.ended ? audit(run) : null)),
    configPart(),
  ];

  constructor() {
    this.root.append(...this.parts.map((part) => part.card.root));
    window.addEventListener("beforeprint", () => this.parts.forEach((part) => part.card.flush()));
  }

  update(runs: Run[]): void {
    for (const part of this.parts) part.update(runs);
  }
}

