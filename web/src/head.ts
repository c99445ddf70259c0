// The top of the page: which run this is, how it went, what to know about it.
import { comparison, tiles } from "./facts";
import { element } from "./dom";
import { show } from "./format";
import { number, text, type Run } from "./data";

export function subject(run: Run): string {
  const model = text(run.config.model);
  if (!model) return run.name;
  const file = run.config.data ? text(run.config.data).split(",")[0].split("/").pop() : "";  // X.npy of X.npy,y.npy
  return model + (file ? ` on ${file}` : "");
}

export function circumstances(run: Run): string {
  const c = run.config;
  const workers = c.workers ?? run.summary?.workers ?? run.trace?.workers;
  return [
    run.virtual ? "virtual time" : "",
    workers !== undefined && workers !== null ? `${text(workers)} worker${workers === 1 ? "" : "s"}` : "",
    c["topology.kind"] ? `${text(c["topology.kind"])} graph` : "",
    c.lr !== undefined ? `eta ${number(c.lr) === null ? text(c.lr) : show(number(c.lr))}` : "",
    c.batch ? `batch ${text(c.batch)}` : "",
    Array.isArray(c["pace.slow"]) ? `slow ${c["pace.slow"].map(text).join(", ")}` : "",
    c.seed !== undefined ? `seed ${text(c.seed)}` : "",
  ].filter(Boolean).join(" · ");
}

export function header(title: string, under: string, pill: HTMLElement | null, ...more: (HTMLElement | null)[]): HTMLElement {
  return element("header", { class: "top" },
    element("div", { class: "brand", "aria-hidden": "true" }, "dasgd"),
    element("div", { class: "title" }, element("h1", {}, title, pill), element("p", {}, under)),
    ...more.filter((item): item is HTMLElement => item !== null));
}

export function notes(runs: Run[]): HTMLElement | null {
  const all = runs.flatMap((run) => run.notes.map((note) => (runs.length > 1 ? `${run.label}: ${note}` : note)));
  if (all.length === 0) return null;
  return element("aside", { class: "notes", role: "note" }, ...all.map((note) => element("p", {}, note)));
}

export function figures(runs: Run[]): HTMLElement {
  return runs.length === 1 ? tiles(runs[0]) : element("section", { class: "card wide", "aria-label": "The runs in figures" }, comparison(runs));
}

export function footer(version: string): HTMLElement {
  return element("footer", {}, `dasgd ${version}`);
}
