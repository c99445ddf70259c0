// How good the model is: figures of the parts, every class, who was taken for whom, the worst errors.
import { element, scrollable, table } from "./dom";
import { number, text, type Json, type Run, type Wrong } from "./data";
import { show, showCount } from "./format";
import { shade } from "./matrix";

type Object = { [key: string]: Json };
const mostClasses = 60, mostInMatrix = 25;

function isObject(value: Json | undefined): value is Object {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The parts with figures, the one that judged first. */
function partsOf(run: Run): [string, Object][] {
  const parts = run.summary?.parts;
  if (!isObject(parts)) return [];
  const order = ["validation", "test", "train"];
  return order.flatMap((name) => (isObject(parts[name]) ? [[name, parts[name] as Object] as [string, Object]] : []));
}

const percent = (value: Json | undefined) => (number(value) === null ? "–" : `${(100 * number(value)!).toFixed(1)} %`);

function figuresOf(parts: [string, Object][]): HTMLElement {
  const columns: [string, string, (value: Json) => string][] = [
    ["samples", "Samples", (v) => showCount(number(v))], ["loss", "Loss", (v) => show(number(v))], ["accuracy", "Accuracy", percent],
    ["mse", "Mean squared error", (v) => show(number(v))], ["r2", "R²", (v) => show(number(v))],
  ];
  const used = columns.filter(([key]) => parts.some(([, part]) => number(part[key]) !== null));
  return scrollable(table(["Part", ...used.map(([, name]) => name)], parts.map(([name, part]) => [name, ...used.map(([key, , how]) => (number(part[key]) === null ? "–" : how(part[key])))]), "Figures of the parts"));
}

function classesOf(part: Object): Object[] {
  return Array.isArray(part.classes) ? part.classes.filter(isObject) : [];
}

function classTable(part: Object): HTMLElement {
  const classes = classesOf(part), shown = classes.slice(0, mostClasses);
  return element("div", {},
    element("h3", {}, "Classes"),
    scrollable(table(["Class", "Samples", "Precision", "Recall"], shown.map((one) => [text(one.class), showCount(number(one.samples)), percent(one.precision), percent(one.recall)]), "Precision and recall of each class")),
    classes.length > shown.length && element("p", { class: "caption" }, `and ${classes.length - shown.length} more classes in summary.json`));
}

function confusion(part: Object): HTMLElement | null {
  const rows = Array.isArray(part.confusion) ? (part.confusion as Json[][]) : [];
  if (rows.length === 0 || rows.length > mostInMatrix) return null;
  const names = classesOf(part).map((one) => text(one.class));
  const most = Math.max(1, ...rows.flat().map((value) => number(value) ?? 0));
  const cell = (value: number, right: boolean) => {
    const made = element("td", { class: right ? "right" : value > 0 ? "mistake" : "" }, value > 0 ? showCount(value) : "·");
    if (value > 0) {
      const share = value / most;
      made.style.background = shade(share);
      made.style.color = share > 0.25 ? "var(--heat-ink-high)" : "var(--heat-ink-low)";
    }
    return made;
  };
  return element("div", {},
    element("h3", {}, "Confusion matrix"),
    element("p", { class: "caption" }, "A row for each label, a column for each answer; correct answers are on the diagonal."),
    scrollable(element("table", { class: "confusion" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Label"), ...names.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, ...rows.map((row, r) => element("tr", {}, element("th", { scope: "row" }, names[r]), ...row.map((value, c) => cell(number(value) ?? 0, r === c))))))));
}

function wrongRow(one: Wrong, columns: string[]): string[] {
  const sure = one.confidence === undefined ? show(one.error ?? null) : `${percent(one.confidence)}; of ${one.label}: ${percent(one.probability ?? null)}`;
  const shown = (answer: string) => (one.confidence === undefined ? show(Number(answer)) : answer);
  return [String(one.row), shown(one.label), shown(one.answer), sure, ...columns.map((name) => one.values?.[name] ?? "")];
}

function worst(run: Run): HTMLElement | null {
  const found = run.worst;
  if (!found || found.samples.length === 0) return null;
  const seen = found.looked_at < found.of ? `of ${showCount(found.looked_at)} of ${showCount(found.of)} samples` : `of all ${showCount(found.of)} samples`;
  const caption = element("p", { class: "caption" }, `The worst errors of the model: ${seen} of the ${found.part} part.`);
  const pictures = found.samples.filter((one) => one.picture);
  if (pictures.length > 0)
    return element("div", {}, element("h3", {}, "Worst errors"), caption,
      element("div", { class: "samples" }, ...pictures.map((one) =>
        element("figure", { class: "sample wrong" },
          element("img", { src: `data:image/png;base64,${one.picture}`, alt: `labelled ${one.label}` }),
          element("figcaption", {}, `${one.answer} (${percent(one.confidence ?? null)}), not ${one.label} (${percent(one.probability ?? null)})`, one.file ? element("small", {}, one.file) : null)))));
  const columns = [...new Set(found.samples.flatMap((one) => Object.keys(one.values ?? {})))];
  const last = found.samples[0].confidence === undefined ? "Error" : "Probability";
  return element("div", {}, element("h3", {}, "Worst errors"), caption,
    scrollable(table(["Row (from 0)", "Label", "Answer", last, ...columns], found.samples.map((one) => wrongRow(one, columns)), "Worst errors")));
}

/** Null where a run judges nothing, and before its end. */
export function results(run: Run): HTMLElement | null {
  const parts = partsOf(run);
  if (parts.length === 0 || !parts.some(([, part]) => number(part.samples) !== null)) return null;
  const judged = parts.find(([, part]) => classesOf(part).length > 0);
  return element("div", { class: "results" },
    figuresOf(parts),
    judged && element("div", { class: "results-pair" }, classTable(judged[1]), confusion(judged[1])),
    worst(run));
}
