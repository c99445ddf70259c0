// A heat map: rows and columns of cells, from pale to strong.
import { Canvas } from "./canvas";
import { announce, css } from "./dom";
import { show } from "./format";
import type { Values } from "./data";

export interface MatrixOptions {
  label: string;
  square: boolean;
  /** the value of the palest cell; smaller ones are as pale */
  from: number;
  rowName: (row: number) => string;
  columnName: (column: number) => string;
  rowTitle: string;
  columnTitle: string;
  /** a few columns to be named below */
  columnTicks: [number, string][];
  describe: (row: number, column: number) => string[];
}

/** Pale to strong in one hue, readable without colour: lightness alone shows the value. */
export function shade(share: number): string {
  const from = css("--heat-low").split(" ").map(Number);
  const to = css("--heat-high").split(" ").map(Number);
  const t = Math.sqrt(Math.max(0, Math.min(1, share)));
  return `rgb(${from.map((low, k) => Math.round(low + (to[k] - low) * t)).join(" ")})`;
}

const top = 8, right = 66, bottom = 40;

export class Matrix {
  private cells: Values[] = [];
  private options: MatrixOptions | null = null;
  private most = 1;
  private left = 46;
  private focus: [number, number] = [0, 0];
  private readonly canvas = new Canvas((context) => this.paint(context));
  readonly root = this.canvas.root;

  constructor() {
    this.canvas.surface.addEventListener("mousemove", (event) => {
      const [row, column] = this.cellAt(event.offsetX, event.offsetY);
      if (row === null) this.canvas.tip.hidden = true;
      else this.point(row, column!, event.offsetX, event.offsetY);
    });
    this.root.addEventListener("keydown", (event) => this.key(event));
  }

  update(cells: Values[], options: MatrixOptions): void {
    this.cells = cells;
    this.options = options;
    this.root.setAttribute("aria-label", options.label);
    this.most = cells.reduce((most, row) => row.reduce((m: number, v) => Math.max(m, v ?? 0), most), 1e-300);
    const width = this.root.clientWidth - this.left - right;
    this.canvas.redraw(
      options.square
        ? Math.min(270, Math.max(160, width)) + top + bottom
        : Math.min(300, Math.max(150, cells.length * 20)) + top + bottom,
    );
  }

  private share(value: number): number {
    const from = this.options?.from ?? 0;
    return this.most > from ? (value - from) / (this.most - from) : 1;
  }

  private area(): [number, number] {
    const height = this.canvas.height - top - bottom;
    const width = this.canvas.width - this.left - right;
    return [this.options?.square ? Math.min(width, height) : width, height];
  }
  private cellAt(x: number, y: number): [number, number] | [null, null] {
    const [width, height] = this.area();
    const columns = this.cells[0]?.length ?? 0;
    const column = Math.floor(((x - this.left) / width) * columns);
    const row = Math.floor(((y - top) / height) * this.cells.length);
    return row >= 0 && row < this.cells.length && column >= 0 && column < columns ? [row, column] : [null, null];
  }

  private point(row: number, column: number, x: number, y: number): void {
    if (!this.options) return;
    this.focus = [row, column];
    const lines = this.options.describe(row, column);
    this.canvas.showTip(x, y, lines[0], lines.slice(1));
  }

  private key(event: KeyboardEvent): void {
    const moves: { [key: string]: [number, number] } = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
    };
    const move = moves[event.key];
    if (!move || !this.options) return;
    event.preventDefault();
    const columns = this.cells[0].length;
    const row = Math.max(0, Math.min(this.cells.length - 1, this.focus[0] + move[0]));
    const column = Math.max(0, Math.min(columns - 1, this.focus[1] + move[1]));
    const [width, height] = this.area();
    this.point(row, column, this.left + ((column + 0.5) / columns) * width, top + ((row + 0.5) / this.cells.length) * height);
    announce(this.options.describe(row, column).join(", "));
  }

  private paint(context: CanvasRenderingContext2D): void {
    const options = this.options;
    if (!options || this.cells.length === 0) return;
    const names = this.cells.map((_, r) => options.rowName(r));
    this.left = Math.max(46, 26 + Math.max(...names.map((name) => context.measureText(name).width)));
    const [width, height] = this.area();
    const columns = this.cells[0].length;
    const cellWidth = width / columns, cellHeight = height / this.cells.length;
    const gap = cellWidth > 8 && cellHeight > 8 ? 1 : 0;
    this.cells.forEach((row, r) =>
      row.forEach((value, c) => {
        if (value === null) return;
        context.fillStyle = shade(this.share(value));
        const x = this.left + c * cellWidth, y = top + r * cellHeight;
        context.fillRect(x, y, cellWidth - gap + (gap ? 0 : 0.5), cellHeight - gap + (gap ? 0 : 0.5));
      }),
    );
    context.fillStyle = css("--quiet");
    context.textBaseline = "middle";
    context.textAlign = "right";
    const every = Math.ceil(14 / cellHeight);
    for (let r = 0; r < this.cells.length; r += every)
      context.fillText(names[r], this.left - 6, top + (r + 0.5) * cellHeight);
    context.textAlign = "center";
    let taken = -Infinity;
    for (const [column, name] of options.columnTicks) {
      const x = this.left + column * cellWidth, half = context.measureText(name).width / 2;
      if (x - half < taken) continue;
      context.fillText(name, x, top + height + 12);
      taken = x + half + 6;
    }
    context.fillText(options.columnTitle, this.left + width / 2, top + height + 30);
    context.save();
    context.translate(10, top + height / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(options.rowTitle, 0, 0);
    context.restore();
    // The scale.
    const barLeft = this.left + width + 14, bar = Math.min(height, 160);
    for (let k = 0; k < 40; ++k) {
      context.fillStyle = shade(1 - k / 39);
      context.fillRect(barLeft, top + (k * bar) / 40, 10, bar / 40 + 0.5);
    }
    context.fillStyle = css("--quiet");
    context.textAlign = "left";
    context.fillText(show(this.most), barLeft + 15, top + 6);
    context.fillText(show(options.from), barLeft + 15, top + bar - 5);
  }
}
