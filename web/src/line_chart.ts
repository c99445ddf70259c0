// Lines with bands over a common x, drawn by uPlot; hover, keyboard and zoom.
import uPlot from "uplot";
import { announce, colour, css, dash, element } from "./dom";
import { show, showSeconds } from "./format";
import type { Values } from "./data";

export interface Line {
  name: string;
  x: number[];
  y: Values;
  /** a band from low to high */
  low?: Values;
  high?: Values;
  colour?: number;
  step?: boolean;
}

export interface LineChartOptions {
  label: string;
  x: { name: string; seconds: boolean };
  y: string;
  log: boolean;
  fromZero: boolean;
}

interface Joined {
  data: uPlot.AlignedData;
  lines: { at: number; line: Line; band: boolean }[];
}

// uPlot wants one x for all: several runs are joined on all their x.
function join(lines: Line[]): Joined {
  const same = lines.every((line) => line.x === lines[0].x);
  const x = same ? lines[0].x : [...new Set(lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  const columns: (number | null | undefined)[][] = [];
  const placed: Joined["lines"] = [];
  for (const line of lines) {
    const at = columns.length + 1;
    const band = Boolean(line.low && line.high);
    const parts = band ? [line.y, line.low!, line.high!] : [line.y];
    if (same) {
      columns.push(...parts);
    } else {
      const place = new Map(line.x.map((value, k) => [value, k]));
      // undefined: no point of this line here, go on; null: a gap
      for (const part of parts)
        columns.push(x.map((value) => (place.has(value) ? part[place.get(value)!] : undefined)));
    }
    placed.push({ at, line, band });
  }
  return { data: [x, ...columns] as uPlot.AlignedData, lines: placed };
}

// Over many decades only their beginnings are marked.
const decades: uPlot.Axis.Filter = (plot, splits) => {
  const [low, high] = [plot.scales.y.min ?? 1, plot.scales.y.max ?? 1];
  if (Math.log10(high / low) <= 4) return splits;
  return splits.map((at) => (Math.abs(Math.log10(at) - Math.round(Math.log10(at))) < 1e-6 ? at : null));
};

export class LineChart {
  readonly root = element("div", { class: "chart", tabindex: 0, role: "img" });
  private readonly legend = element("ul", { class: "legend" });
  private readonly tip = element("div", { class: "tip", hidden: true });
  private readonly place = element("div", { class: "plot" });
  private readonly reset = element("button", { type: "button", class: "reset", hidden: true }, "Show all");
  private plot: uPlot | null = null;
  private shape = "";
  private joined: Joined = { data: [[]], lines: [] };
  private options: LineChartOptions | null = null;
  private shownAt: number | null = null;

  constructor() {
    this.root.append(this.place, this.tip, this.reset, this.legend);
    this.reset.addEventListener("click", () => this.showAll());
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("blur", () => (this.tip.hidden = true));
    new ResizeObserver(() => this.resize()).observe(this.place);
  }

  update(lines: Line[], options: LineChartOptions): void {
    this.options = options;
    this.root.setAttribute("aria-label", options.label);
    this.joined = join(lines);
    const shape = JSON.stringify([options.x, options.y, options.log, lines.map((l) => [l.name, Boolean(l.low)]), css("--ink")]);
    if (this.plot && shape === this.shape) {
      this.plot.setData(this.joined.data, this.reset.hidden);
      if (!this.reset.hidden) this.plot.redraw();
      return;
    }
    this.shape = shape;
    this.build(lines, options);
  }

  private build(lines: Line[], options: LineChartOptions): void {
    this.plot?.destroy();
    this.reset.hidden = true;
    const series: uPlot.Series[] = [{ label: options.x.name }];
    const bands: uPlot.Band[] = [];
    for (const { at, line, band } of this.joined.lines) {
      const k = line.colour ?? this.joined.lines.findIndex((other) => other.line === line);
      series.push({
        label: line.name,
        stroke: colour(k),
        width: 2,
        dash: dash(k),
        points: { show: line.x.length <= 60, size: line.x.length === 1 ? 9 : 5, fill: colour(k) },
        paths: line.step ? uPlot.paths.stepped!({ align: 1 }) : undefined,
      });
      if (!band) continue;
      const edge = { stroke: "transparent", width: 0, points: { show: false } };
      series.push({ label: "least", ...edge }, { label: "most", ...edge });
      bands.push({ series: [at + 2, at + 1], fill: colour(k) + "33" });
    }
    const axis = {
      stroke: css("--quiet"),
      grid: { stroke: css("--grid"), width: 1 },
      ticks: { stroke: css("--grid"), width: 1, size: 4 },
      font: "12px system-ui, sans-serif",
    };
    const marks = options.log ? { filter: decades } : {};
    this.plot = new uPlot(
      {
        width: Math.max(200, this.place.clientWidth),
        height: this.height(),
        series,
        bands,
        legend: { show: false },
        scales: {
          x: { time: false },
          y: {
            distr: options.log ? 3 : 1,
            range: options.log
              ? undefined
              : (_, low, high) => {
                  const from = options.fromZero ? Math.min(0, low ?? 0) : (low ?? 0);
                  const to = high ?? 1;
                  const room = (to - from || Math.abs(to) || 1) * 0.06;
                  return [from === 0 ? 0 : from - room, to + room];
                },
          },
        },
        axes: [
          { ...axis, size: 34, values: (_, ticks, _axis, _space, apart) => ticks.map((t) => (options.x.seconds ? showSeconds(t, apart) : show(t))), space: 80 },
          {
            ...axis,
            grid: { ...axis.grid, ...marks },
            ticks: { ...axis.ticks, ...marks },
            size: (_, values) => Math.max(56, 14 + 7 * Math.max(0, ...(values ?? []).map((v) => v.length))),
            values: (_, ticks) => ticks.map((t) => (t === null ? "" : show(t))),
          },
        ],
        cursor: {
          drag: { x: true, y: false, dist: 6 },
          points: { size: 8 },
          focus: { prox: 24 },
        },
        padding: [10, 10, 0, 0],
        hooks: {
          setCursor: [(plot) => this.hover(plot)],
          setSelect: [(plot) => plot.select.width > 0 && (this.reset.hidden = false)],
        },
      },
      this.joined.data,
      this.place,
    );
    this.plot.over.addEventListener("dblclick", () => this.showAll());
    this.plot.over.addEventListener("mouseleave", () => (this.tip.hidden = true));
    this.legend.hidden = lines.length < 2;
    this.legend.replaceChildren(
      ...this.joined.lines.map(({ line }, n) => {
        const k = line.colour ?? n;
        const swatch = element("i", { "aria-hidden": "true" });
        swatch.style.borderTopColor = colour(k);
        swatch.style.borderTopStyle = dash(k) ? "dashed" : "solid";
        return element("li", {}, swatch, line.name);
      }),
    );
  }

  private height(): number {
    return this.place.clientWidth < 420 ? 210 : 280;
  }
  private resize(): void {
    if (this.plot && this.place.clientWidth > 0 && this.place.clientWidth !== this.plot.width)
      this.plot.setSize({ width: this.place.clientWidth, height: this.height() });
  }

  showAll(): void {
    this.reset.hidden = true;
    if (this.plot) this.plot.setData(this.joined.data, true);
  }

  private rows(at: number): [string, string, number][] {
    const found: [string, string, number][] = [];
    this.joined.lines.forEach(({ at: column, line, band }, n) => {
      const value = this.nearest(column, at);
      if (value === null) return;
      const [index, y] = value;
      const low = band ? this.joined.data[column + 1][index] : null;
      const high = band ? this.joined.data[column + 2][index] : null;
      const range = low !== null && low !== undefined && low !== high ? ` (${show(low)} to ${show(high)})` : "";
      found.push([line.name, show(y) + range, line.colour ?? n]);
    });
    return found;
  }

  // Runs that are joined on one x have their own points: the last one before the cursor counts.
  private nearest(column: number, at: number): [number, number] | null {
    const values = this.joined.data[column];
    for (let k = at; k >= 0 && k > at - 400; --k) {
      const value = values[k];
      if (value !== null && value !== undefined) return [k, value];
    }
    return null;
  }

  private hover(plot: uPlot): void {
    const at = plot.cursor.idx;
    if (at === null || at === undefined || plot.cursor.left === undefined || plot.cursor.left < 0) {
      this.tip.hidden = true;
      this.shownAt = null;
      return;
    }
    this.shownAt = at;
    const x = plot.data[0][at];
    const title = this.options?.x.seconds ? showSeconds(x) : `${show(x)} ${this.options?.x.name ?? ""}`;
    this.tip.replaceChildren(
      element("strong", {}, title),
      ...this.rows(at).map(([name, value, k]) => {
        const swatch = element("i", { "aria-hidden": "true" });
        swatch.style.background = colour(k);
        return element("span", {}, swatch, `${name} `, element("b", {}, value));
      }),
    );
    this.tip.hidden = false;
    const left = plot.cursor.left + plot.over.offsetLeft;
    const right = left > this.root.clientWidth / 2;
    this.tip.style.left = right ? "" : `${left + 14}px`;
    this.tip.style.right = right ? `${this.root.clientWidth - left + 14}px` : "";
  }

  // Arrows walk along the points, + and - zoom, Escape shows all.
  private key(event: KeyboardEvent): void {
    const plot = this.plot;
    if (!plot) return;
    const points = plot.data[0];
    const { min, max } = plot.scales.x;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const step = event.shiftKey ? 10 : 1;
      const from = this.shownAt ?? 0;
      const at = Math.max(0, Math.min(points.length - 1, from + (event.key === "ArrowLeft" ? -step : step)));
      plot.setCursor({ left: plot.valToPos(points[at], "x"), top: 10 });
      this.shownAt = at;
      announce(`${show(points[at])}: ${this.rows(at).map(([name, value]) => `${name} ${value}`).join(", ")}`);
    } else if ((event.key === "+" || event.key === "-") && min != null && max != null) {
      const middle = this.shownAt === null ? (min + max) / 2 : points[this.shownAt];
      const width = (max - min) * (event.key === "+" ? 0.5 : 2);
      const low = Math.max(points[0], middle - width / 2);
      plot.setScale("x", { min: low, max: Math.min(points[points.length - 1], low + width) });
      this.reset.hidden = false;
    } else if (event.key === "Escape") {
      this.showAll();
    } else {
      return;
    }
    event.preventDefault();
  }
}
