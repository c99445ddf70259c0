// One page for three things: the report of runs, a run while it goes, the figures of an experiment.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Charts } from "./charts";
import { element } from "./dom";
import { auditPassed, longest } from "./facts";
import { suitTimes } from "./format";
import { circumstances, figures, footer, header, notes, subject } from "./head";
import { showFigures } from "./figures";
import { showLive } from "./live";
import { text, type PageData, type ReportData } from "./data";

function showReport(page: HTMLElement, data: ReportData): void {
  const { runs } = data;
  suitTimes(longest(runs));
  const charts = new Charts();
  const one = runs.length === 1 ? runs[0] : null;
  document.title = `${one ? subject(one) : `${runs.length} runs`} · dasgd`;
  const failed = one && auditPassed(one) === false;
  const early = one && one.ended && ["interrupted", "diverged", "failed"].includes(text(one.summary?.stop_reason));
  const pill = one
    ? element("span", { class: `pill ${failed ? "bad" : one.ended && !early ? "good" : "warn"}` }, failed ? "audit failed" : !one.ended ? "incomplete" : early ? text(one.summary?.stop_reason) : "complete")
    : null;
  const note = notes(runs);
  page.replaceChildren(
    header(one ? subject(one) : `${runs.length} runs side by side`, one ? circumstances(one) : runs.map((run) => run.name).join(" · "), pill),
    ...(note ? [note] : []),
    figures(runs),
    charts.root,
    footer(data.version));
  charts.update(runs);
  // Canvases do not see a change of style by themselves.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.update(runs));
}

const page = document.getElementById("page")!;
const data = JSON.parse(document.getElementById("dasgd-data")!.textContent!) as PageData;
if (data.kind === "report") showReport(page, data);
else if (data.kind === "live") showLive(page, data);
else showFigures(page, data);
