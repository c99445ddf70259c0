// The figures of an experiment, and its table.
import { choice } from "./card";
import { element, scrollable, table } from "./dom";
import { footer, header } from "./head";
import { show } from "./format";
import { text, type FiguresData, type Json } from "./data";

function cell(value: Json): string {
  if (typeof value === "number") return show(value);
  if (value !== null && typeof value === "object" && !Array.isArray(value) && "mean" in value)
    return `${show(value.mean as number)} ± ${show(value.deviation as number)}`;
  return text(value);
}

// {"workers": [{"seconds": 1}]} as {"worker 0 seconds": 1}: a row of a table.
function flatten(row: { [key: string]: Json }): { [key: string]: Json } {
  const flat: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(row)) {
    if (!Array.isArray(value)) flat[key] = value;
    else value.forEach((item, k) => {
      if (item !== null && typeof item === "object" && !Array.isArray(item))
        for (const [inner, v] of Object.entries(item)) flat[`${inner} ${k}`] = v;
      else flat[`${key} ${k}`] = item;
    });
  }
  return flat;
}

// As images: their styles stay their own, and nothing in them can run.
function panels(figure: FiguresData["figures"][number], shown: string[]): HTMLElement {
  const images = shown.map((svg) => element("img", { src: `data:image/svg+xml,${encodeURIComponent(svg)}`, alt: figure.title }));
  return images.length === 1 ? scrollable(...images) : element("div", { class: "multiples" }, ...images);
}

function card(figure: FiguresData["figures"][number]): HTMLElement {
  const linear = figure.linear ?? [];
  const body = element("div", {}, panels(figure, figure.panels));
  const axes = linear.length === 0 ? null : choice("Axes", ["log", "linear"], 0, (k) => body.replaceChildren(panels(figure, k === 0 ? figure.panels : linear)));
  return element("section", { class: "card wide" },
    element("header", {}, element("h2", {}, figure.title), axes && element("div", { class: "controls" }, axes)),
    figure.caption !== "" && element("p", { class: "caption" }, figure.caption),
    body);
}

function facts(data: FiguresData): HTMLElement | null {
  if (!data.facts || data.facts.length === 0) return null;
  return element("dl", { class: "compared" }, ...data.facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

export function showFigures(page: HTMLElement, data: FiguresData): void {
  document.title = `${data.title} · dasgd`;
  const rows = (data.table ?? []).map(flatten);
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = table(columns.map((name) => name.replace(/_/g, " ")), rows.map((row) => columns.map((name) => cell(row[name] ?? null))));
  // Sentences, which paper has no room for.
  const long = columns.indexOf("proved") + 1;
  if (long > 0) cells.querySelectorAll(`tr > :nth-child(${long})`).forEach((one) => one.classList.add("screen-only"));
  page.replaceChildren(
    header(data.title, data.subtitle, null),
    facts(data) ?? "",
    element("div", { class: "grid" },
      data.findings.length > 0 &&
        element("section", { class: "card wide findings" },
          element("header", {}, element("h2", {}, "Verdict")),
          ...data.findings.map((finding) => element("p", {}, finding))),
      ...data.figures.map(card),
      rows.length > 0 &&
        element("section", { class: "card wide" },
          element("header", {}, element("h2", {}, "Table")),
          scrollable(cells))),
    footer(data.version));
}
