// Cards that compare the workers of one run: who applies whose gradients, how fast each is, what it does when.
import { Card, thin } from "./card";
import { element } from "./dom";
import { show, showCount, showSeconds } from "./format";
import { LineChart } from "./line_chart";
import { Matrix } from "./matrix";
import { perRun, type Part } from "./part";
import { TimeLine } from "./time_line";
import type { Run, Values } from "./data";

const groupName = (per: number) => (group: number) => (per === 1 ? String(group) : `${group * per}–${(group + 1) * per - 1}`);

export function heatPart(): Part {
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
  const known = m && m.gradients_by_worker.length > 0 ? m.seconds.flatMap((_, k) => (m.gradients_by_worker[0][k] === null ? [] : [k])) : [];
  if (m && known.length >= 8) {
    const every = Math.ceil(known.length / most);
    const at = known.filter((_, k) => k % every === every - 1 || k === known.length - 1);
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

export function ratesPart(): Part {
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

export function timeLinePart(): Part {
  const chart = new TimeLine();
  let shown: Run | null = null;
  const card = new Card("timeline", "Time line of each worker", true, () => ({
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
