// Over which links gradients went: the tree, drawn; the links of a member, as a table.
import { element, scrollable, table } from "./dom";
import { number, text, type Json, type Run } from "./data";
import { show, showCount } from "./format";

const most = 200;  // workers that are drawn
const across = 26, down = 56;

/** For each worker the one nearer to the root; null where links are no tree. */
export function parents(run: Run): (number | null)[] | null {
  const workers = number(run.summary?.workers) ?? number(run.config.workers);
  const found = [run.summary?.relay, run.config["topology.kind"]].map((kind) => /^tree:(\d+)$/.exec(text(kind))).find((match) => match);
  const children = found ? Number(found[1]) : text(run.config["topology.kind"]) === "star" ? Infinity : 0;
  if (!workers || workers < 2 || children < 1) return null;
  return Array.from({ length: workers }, (_, i) => (i === 0 ? null : children === Infinity ? 0 : Math.floor((i - 1) / children)));
}

function svg(tag: string, attributes: { [name: string]: string | number }, ...children: (Node | string)[]): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** Where each worker stands: leaves side by side, the others above the middle of theirs. */
function places(up: (number | null)[]): [number, number][] {
  const below = up.map(() => [] as number[]);
  up.forEach((parent, i) => parent !== null && below[parent].push(i));
  const at: [number, number][] = up.map(() => [0, 0]);
  let next = 0;
  const place = (i: number, depth: number): void => {
    below[i].forEach((child) => place(child, depth + 1));
    const last = below[i].length - 1;
    at[i] = [last < 0 ? next++ : (at[below[i][0]][0] + at[below[i][last]][0]) / 2, depth];
  };
  place(0, 0);
  return at;
}

function drawn(run: Run, up: (number | null)[]): HTMLElement {
  const at = places(up);
  const x = (i: number) => (at[i][0] + 0.5) * across, y = (i: number) => at[i][1] * down + 16;
  const width = (Math.max(...at.map(([column]) => column)) + 1) * across, height = Math.max(...at.map(([, row]) => row)) * down + 32;
  const of = (values: Json | undefined, i: number) => (Array.isArray(values) ? showCount(number(values[i])) : "–");
  const line = (parent: number | null, i: number) => parent === null ? [] : [svg("line", { x1: x(parent), y1: y(parent), x2: x(i), y2: y(i), stroke: "currentColor", "stroke-opacity": 0.4 })];
  const node = (_: number | null, i: number) => svg("g", {},
    svg("title", {}, `worker ${i}: ${of(run.summary?.gradients_by_worker, i)} gradients; ${of(run.summary?.messages_sent, i)} messages, ${of(run.summary?.bytes_sent, i)} bytes sent`),
    svg("circle", { cx: x(i), cy: y(i), r: 11, fill: "var(--series-1)" }),
    svg("text", { x: x(i), y: y(i) + 4, "text-anchor": "middle", "font-size": 11, fill: "#fff" }, String(i)));
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `A tree of ${up.length} workers` }, ...up.flatMap(line), ...up.map(node));
  return scrollable(picture);
}

function listed(links: { [key: string]: Json }[]): HTMLElement {
  return scrollable(table(["To", "Messages", "Gradients per message", "MB", "MB/s"],
    links.map((link) => [text(link.to), showCount(number(link.messages)), show(number(link.gradients_per_message)), show((number(link.bytes) ?? 0) / 1e6), show((number(link.bytes_per_second) ?? 0) / 1e6)])));
}

/** Null where all workers share memory or send to all others, and nothing is known of single links. */
export function links(run: Run): HTMLElement | null {
  const up = parents(run);
  const known = Array.isArray(run.summary?.links) ? (run.summary.links as { [key: string]: Json }[]) : [];
  if (!up && known.length === 0) return null;
  return element("div", {},
    up && element("p", { class: "caption" }, up.length > most ? `A tree of ${up.length} workers; worker 0 is its root.` : "Gradients go along the lines; a worker passes on the sum of what comes."),
    up && up.length <= most && drawn(run, up),
    known.length > 0 && listed(known));
}
