// What every worker did when: computing, applying, idle. Zooms.
import { Canvas, ticks } from "./canvas";
import { announce, css, element } from "./dom";
import { showSeconds } from "./format";
import type { Trace } from "./data";

interface Row {
  worker: number;
  start: Float64Array;
  end: Float64Array;
  busy: Float64Array;
  tick: Float64Array;
  count: Float64Array;
}

function decode(trace: Trace): Row[] {
  const merged = trace.time_lines.resolution > 0;
  return trace.time_lines.rows.map((row) => {
    const size = merged ? 3 : 2;
    const n = row.bars.length / size, m = row.ticks.length / 2;
    const made: Row = {
      worker: row.worker,
      start: new Float64Array(n), end: new Float64Array(n), busy: new Float64Array(n),
      tick: new Float64Array(m), count: new Float64Array(m),
    };
    for (let k = 0, at = 0; k < n; ++k) {
      made.start[k] = at + row.bars[size * k];
      at = made.end[k] = made.start[k] + row.bars[size * k + 1];
      made.busy[k] = merged ? row.bars[size * k + 2] : row.bars[size * k + 1];
    }
    for (let k = 0, at = 0; k < m; ++k) {
      at = made.tick[k] = at + row.ticks[2 * k];
      made.count[k] = row.ticks[2 * k + 1];
    }
    return made;
  });
}

/** The first index whose value is at least `value`. */
function firstFrom(values: Float64Array, value: number): number {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const left = 46, top = 6, right = 10, bottom = 26;

export class TimeLine {
  private rows: Row[] = [];
  private begin = 0;
  private end = 1;
  private from = 0;
  private to = 1;
  private zoomed = false;
  private resolution = 0;
  private dragFrom: number | null = null;
  private dragTo = 0;
  private readonly canvas = new Canvas((context) => this.paint(context));
  private readonly range = element("span", { class: "range" });
  readonly controls = element("div", { class: "choice", role: "group", "aria-label": "Zoom" });
  readonly root = element("div", {}, this.canvas.root);

  constructor() {
    const button = (label: string, title: string, action: () => void) => {
      const made = element("button", { type: "button", title, "aria-label": title }, label);
      made.addEventListener("click", action);
      this.controls.append(made);
    };
    button("◀", "Earlier", () => this.pan(-0.5));
    button("▶", "Later", () => this.pan(0.5));
    button("+", "Zoom in", () => this.zoom(0.5));
    button("−", "Zoom out", () => this.zoom(2));
    button("All", "Show the whole run", () => this.showAll());
    this.controls.prepend(this.range);
    const surface = this.canvas.surface;
    surface.style.touchAction = "pan-y";
    surface.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      surface.setPointerCapture(event.pointerId);
      this.dragFrom = this.dragTo = event.offsetX;
    });
    surface.addEventListener("pointermove", (event) => {
      if (this.dragFrom === null) return this.hover(event.offsetX, event.offsetY);
      this.dragTo = event.offsetX;
      this.canvas.tip.hidden = true;
      this.canvas.redraw();
    });
    surface.addEventListener("pointerup", () => this.drop());
    surface.addEventListener("pointercancel", () => {
      this.dragFrom = null;
      this.canvas.redraw();
    });
    surface.addEventListener("dblclick", () => this.showAll());
    surface.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;  // scrolling the page comes first
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.time(event.offsetX));
      },
      { passive: false },
    );
    this.canvas.root.addEventListener("keydown", (event) => this.key(event));
  }

  update(trace: Trace, label: string): void {
    this.rows = decode(trace);
    this.resolution = trace.time_lines.resolution;
    this.end = Math.max(1, trace.end);
    this.begin = Math.min(trace.time_lines.since, this.end - 1);  // a live view has only the latest
    if (!this.zoomed || this.from < this.begin) {
      this.from = this.begin;
      this.to = this.zoomed ? Math.max(this.to, this.begin + 100) : this.end;
    }
    this.canvas.root.setAttribute("aria-label", label);
    this.canvas.redraw(Math.max(70, Math.min(22 * this.rows.length, Math.max(440, 5 * this.rows.length))) + top + bottom);
  }

  private get width(): number {
    return this.canvas.width - left - right;
  }
  private time(x: number): number {
    return this.from + ((x - left) / this.width) * (this.to - this.from);
  }
  private x(time: number): number {
    return left + ((time - this.from) / (this.to - this.from)) * this.width;
  }

  private show(from: number, to: number): void {
    const least = 100;  // nanoseconds
    const width = Math.min(this.end - this.begin, Math.max(least, to - from));
    this.from = Math.max(this.begin, Math.min(from, this.end - width));
    this.to = this.from + width;
    this.zoomed = width < this.end - this.begin;
    this.canvas.redraw();
    announce(`From ${showSeconds(this.from * 1e-9)} to ${showSeconds(this.to * 1e-9)}`);
  }
  private zoom(factor: number, around = (this.from + this.to) / 2): void {
    this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }
  private pan(share: number): void {
    const by = (this.to - this.from) * share;
    const from = Math.max(this.begin, Math.min(this.end - (this.to - this.from), this.from + by));
    this.show(from, from + this.to - this.from);
  }
  private showAll(): void {
    this.show(this.begin, this.end);
  }
  private drop(): void {
    if (this.dragFrom === null) return;
    const [a, b] = [Math.min(this.dragFrom, this.dragTo), Math.max(this.dragFrom, this.dragTo)];
    this.dragFrom = null;
    if (b - a > 5) this.show(this.time(a), this.time(b));
    else this.canvas.redraw();
  }
  private key(event: KeyboardEvent): void {
    const actions: { [key: string]: () => void } = {
      ArrowLeft: () => this.pan(-0.25),
      ArrowRight: () => this.pan(0.25),
      "+": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      Escape: () => this.showAll(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  private hover(x: number, y: number): void {
    const height = (this.canvas.height - top - bottom) / this.rows.length;
    const row = this.rows[Math.floor((y - top) / height)];
    if (!row || x < left || x > left + this.width) {
      this.canvas.tip.hidden = true;
      return;
    }
    const time = this.time(x);
    const pixel = (this.to - this.from) / this.width;
    const lines: string[] = [];
    const bar = firstFrom(row.end, time);
    if (bar < row.start.length && row.start[bar] - pixel <= time) {
      const length = row.end[bar] - row.start[bar];
      lines.push(
        row.busy[bar] < length
          ? `computing ${Math.round((100 * row.busy[bar]) / length)} % of ${showSeconds(length * 1e-9)}`
          : `computing for ${showSeconds(length * 1e-9)}`,
      );
    }
    let applied = 0;
    for (let k = firstFrom(row.tick, time - 2 * pixel); k < row.tick.length && row.tick[k] <= time + 2 * pixel; ++k)
      applied += row.count[k];
    if (applied > 0) lines.push(`applied ${applied} foreign gradient${applied > 1 ? "s" : ""} here`);
    if (lines.length === 0) lines.push("idle");
    this.canvas.showTip(x, y, `worker ${row.worker} at ${showSeconds(time * 1e-9)}`, lines);
  }

  private paint(context: CanvasRenderingContext2D): void {
    const height = (this.canvas.height - top - bottom) / Math.max(1, this.rows.length);
    const pad = height > 10 ? 2 : height > 4 ? 1 : 0;
    this.range.textContent = this.zoomed
      ? `${showSeconds(this.from * 1e-9, (this.to - this.from) * 1e-11)} to ${showSeconds(this.to * 1e-9, (this.to - this.from) * 1e-11)}`
      : "";
    const compute = css("--compute"), apply = css("--apply");
    this.rows.forEach((row, r) => {
      const y = top + r * height;
      context.fillStyle = css("--idle");
      context.fillRect(left, y + pad, this.width, height - 2 * pad);
      context.fillStyle = compute;
      // Bars narrower than two pixels add up to a share of each pixel: no gap is hidden, none invented.
      const covered = new Float32Array(Math.ceil(this.width) + 1);
      for (let k = firstFrom(row.end, this.from); k < row.start.length && row.start[k] < this.to; ++k) {
        const a = Math.max(left, this.x(row.start[k])), b = Math.min(left + this.width, this.x(row.end[k]));
        const length = row.end[k] - row.start[k];
        const share = length > 0 ? Math.max(0.15, row.busy[k] / length) : 1;
        if (b - a < 2) {
          for (let pixel = Math.floor(a - left); pixel < b - left; ++pixel)
            covered[pixel] += share * (Math.min(b - left, pixel + 1) - Math.max(a - left, pixel));
          continue;
        }
        context.globalAlpha = share;
        // A hair's breadth between two gradients, where there is room for it.
        context.fillRect(a, y + pad, Math.max(0.4, b - a - (b - a > 6 ? 1 : 0)), (height - 2 * pad) * 0.7);
      }
      covered.forEach((share, pixel) => {
        if (share === 0) return;
        context.globalAlpha = Math.min(1, Math.max(0.15, share));
        context.fillRect(left + pixel, y + pad, 1, (height - 2 * pad) * 0.7);
      });
      context.globalAlpha = 1;
      context.fillStyle = apply;
      let last = -1;
      for (let k = firstFrom(row.tick, this.from); k < row.tick.length && row.tick[k] <= this.to; ++k) {
        const x = this.x(row.tick[k]);
        if (x - last < 0.5) continue;
        last = x;
        context.fillRect(x, y + pad + (height - 2 * pad) * 0.7, 1, (height - 2 * pad) * 0.3);
      }
    });
    context.fillStyle = css("--quiet");
    context.textBaseline = "middle";
    context.textAlign = "right";
    const every = Math.ceil(13 / height);
    this.rows.forEach((row, r) => {
      if (r % every === 0) context.fillText(String(row.worker), left - 8, top + (r + 0.5) * height);
    });
    context.textAlign = "center";
    const marks = ticks(this.from * 1e-9, this.to * 1e-9, Math.max(2, this.width / 110));
    const apart = marks.length > 1 ? marks[1] - marks[0] : undefined;
    for (const second of marks) {
      const x = this.x(second * 1e9);
      context.fillStyle = css("--quiet");
      context.fillRect(Math.round(x), this.canvas.height - bottom, 1, 4);
      const name = showSeconds(second, apart);
      context.fillText(name, Math.min(x, this.canvas.width - context.measureText(name).width / 2), this.canvas.height - bottom + 14);
    }
    if (this.dragFrom !== null) {
      context.fillStyle = css("--select");
      context.fillRect(Math.min(this.dragFrom, this.dragTo), top, Math.abs(this.dragTo - this.dragFrom), this.canvas.height - top - bottom);
    }
  }

  describeResolution(): string {
    return this.resolution > 0 ? ` Breaks shorter than ${showSeconds(this.resolution * 1e-9)} are drawn as paler bars.` : "";
  }
}
