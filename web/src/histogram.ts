// How often each staleness occurred, one colour per run; counts on a logarithmic scale.
import { Canvas, ticks } from "./canvas";
import { announce, colour, css, element } from "./dom";
import { show, showCount } from "./format";

export interface Bins {
  name: string;
  width: number;
  counts: number[];
}

const left = 56, top = 10, right = 10, bottom = 38;

export class Histogram {
  private bins: Bins[] = [];
  private most = 1;
  private end = 1;
  private at = 0;
  private readonly legend = element("ul", { class: "legend" });
  private readonly canvas = new Canvas((context) => this.paint(context));
  readonly root = element("div", {}, this.canvas.root, this.legend);

  constructor() {
    this.canvas.surface.addEventListener("mousemove", (event) => {
      const width = this.canvas.width - left - right;
      this.point(((event.offsetX - left) / width) * this.end, event.offsetX, event.offsetY);
    });
    this.canvas.root.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      event.preventDefault();
      const step = this.bins[0]?.width ?? 1;
      this.at = Math.max(0, Math.min(this.end - 1, this.at + (event.key === "ArrowLeft" ? -step : step)));
      const x = left + ((this.at + 0.5) / this.end) * (this.canvas.width - left - right);
      announce(this.point(this.at, x, 20));
    });
  }

  update(bins: Bins[], label: string): void {
    this.bins = bins;
    this.canvas.root.setAttribute("aria-label", label);
    this.most = Math.max(1, ...bins.flatMap((b) => b.counts));
    this.end = Math.max(1, ...bins.map((b) => b.counts.length * b.width));
    this.legend.hidden = bins.length < 2;
    this.legend.replaceChildren(
      ...bins.map((b, k) => {
        const swatch = element("i");
        swatch.style.borderTopColor = colour(k);
        return element("li", {}, swatch, b.name);
      }),
    );
    this.canvas.redraw(this.canvas.root.clientWidth < 420 ? 210 : 290);
  }

  private y(count: number): number {
    const height = this.canvas.height - top - bottom;
    return top + height * (1 - Math.log(count / 0.7) / Math.log(this.most / 0.7));
  }

  private point(S: number, x: number, y: number): string {
    if (S < 0 || S >= this.end) {
      this.canvas.tip.hidden = true;
      return "";
    }
    this.at = S;
    const range = (b: Bins) => {
      const k = Math.floor(S / b.width);
      return b.width === 1 ? `|S| = ${k}` : `|S| from ${k * b.width} to ${(k + 1) * b.width - 1}`;
    };
    const lines = this.bins.map((b) => {
      const count = b.counts[Math.floor(S / b.width)] ?? 0;
      const share = count / b.counts.reduce((sum, c) => sum + c, 0);
      return `${this.bins.length > 1 ? b.name + ": " : ""}${showCount(count)} applications, ${show(100 * share)} %`;
    });
    this.canvas.showTip(x, y, range(this.bins[0]), lines);
    return [range(this.bins[0]), ...lines].join(", ");
  }

  private paint(context: CanvasRenderingContext2D): void {
    const width = this.canvas.width - left - right, floor = this.canvas.height - bottom;
    context.textBaseline = "middle";
    for (let count = 1; count <= this.most; count *= 10) {
      context.fillStyle = css("--grid");
      context.fillRect(left, Math.round(this.y(count)), width, 1);
      context.fillStyle = css("--quiet");
      context.textAlign = "right";
      context.fillText(show(count), left - 8, this.y(count));
    }
    context.textAlign = "center";
    for (const S of ticks(0, this.end, Math.max(2, width / 70)))
      if (Number.isInteger(S)) context.fillText(show(S), left + ((S + 0.5) / this.end) * width, floor + 12);
    context.fillText("staleness |S|", left + width / 2, floor + 29);
    this.bins.forEach((b, run) => {
      const barWidth = (b.width / this.end) * width;
      const share = this.bins.length > 1 ? barWidth / this.bins.length : barWidth;
      context.fillStyle = colour(run);
      b.counts.forEach((count, k) => {
        if (count === 0) return;
        const y = this.y(count);
        const x = left + k * barWidth + run * share;
        context.fillRect(x, y, Math.max(0.5, share - Math.min(1, share / 4)), floor - y);
      });
    });
  }
}
