// The cards of one or several runs. Reports draw them once, the live view again and again.
import { Card } from "./card";
import { inboxPart, lookAheadPart, metricPart, stalenessPart } from "./curves";
import { element } from "./dom";
import { audit, configuration, stepSize } from "./facts";
import { showCount } from "./format";
import { Histogram } from "./histogram";
import { links } from "./links";
import { members } from "./members";
import { perRun, type Part } from "./part";
import { results } from "./results";
import { samples } from "./samples";
import { heatPart, ratesPart, timeLinePart } from "./workers";
import type { Run } from "./data";

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
  private readonly staleness = stalenessPart();
  private readonly parts: Part[] = [
    factPart("results", "Results", results, true),
    metricPart("loss", "Loss", "loss", "loss"),
    metricPart("eval-loss", "Validation loss", "eval_loss", "loss on the evaluated part"),
    metricPart("accuracy", "Accuracy", "accuracy", "accuracy"),
    metricPart("prequential", "Accuracy before learning", "prequential_accuracy", "accuracy of the last 1,000 or fewer"),
    this.staleness,
    histogramPart(),
    lookAheadPart(),
    metricPart("lambda", "Look-ahead: lambda", "lambda", "lambda, mean of all workers"),
    factPart("members", "Members", members, true),
    factPart("links", "Links", links, true),
    timeLinePart(),
    heatPart(),
    ratesPart(),
    inboxPart(),
    factPart("samples", "Images and answers", samples, true),
  ];
  // By the names that loops have logged, as they come.
  private readonly own = new Map<string, Part>();
  // What most readers do not ask for.
  private readonly grounds: Part[] = [
    factPart("step-size", "Step size against its limits", (run) => stepSize(run)),
    factPart("audit", "Audit", (run) => (run.summary || !run.ended ? audit(run) : null)),
    configPart(),
  ];

  constructor() {
    const fold = element("details", { class: "fold wide" },
      element("summary", {}, "Certificates, audit and configuration"),
      element("div", { class: "grid" }, ...this.grounds.map((part) => part.card.root)));
    this.root.append(...this.parts.map((part) => part.card.root), fold);
    window.addEventListener("beforeprint", () => {
      fold.open = true;
      [...this.parts, ...this.own.values()].forEach((part) => part.card.flush());
    });
  }

  update(runs: Run[]): void {
    for (const name of runs.flatMap((run) => Object.keys(run.metrics?.own ?? {}))) {
      if (this.own.has(name)) continue;
      const part = metricPart(`own-${this.own.size}`, name, { own: name }, name);
      this.own.set(name, part);
      this.staleness.card.root.before(part.card.root);
    }
    for (const part of [...this.parts, ...this.own.values(), ...this.grounds]) part.update(runs);
  }
}

