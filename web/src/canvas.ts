// A canvas that is sharp on every screen and as wide as its place.
import { element } from "./dom";

export class Canvas {
  readonly root = element("div", { class: "chart canvas", tabindex: 0, role: "img" });
  readonly tip = element("div", { class: "tip", hidden: true });
  private readonly canvas = element("canvas");
  width = 0;
  height = 0;

  constructor(private readonly paint: (context: CanvasRenderingContext2D) => void) {
    this.root.append(this.canvas, this.tip);
    new ResizeObserver(() => {
      if (this.root.clientWidth > 0 && this.root.clientWidth !== this.width) this.redraw();
    }).observe(this.root);
    this.canvas.addEventListener("mouseleave", () => (this.tip.hidden = true));
    this.root.addEventListener("blur", () => (this.tip.hidden = true));
  }

  get surface(): HTMLCanvasElement {
    return this.canvas;
  }

  redraw(height = this.height): void {
    this.width = this.root.clientWidth;
    this.height = height;
    if (this.width === 0 || height === 0) return;
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d")!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, this.width, height);
    context.font = "12px system-ui, sans-serif";
    this.paint(context);
  }

  showTip(x: number, y: number, title: string, lines: string[]): void {
    this.tip.replaceChildren(element("strong", {}, title), ...lines.map((line) => element("span", {}, line)));
    this.tip.hidden = false;
    const right = x > this.width / 2;
    this.tip.style.left = right ? "" : `${x + 14}px`;
    this.tip.style.right = right ? `${this.width - x + 14}px` : "";
    this.tip.style.top = `${Math.max(0, Math.min(y, this.height - 60))}px`;
  }
}

/** Ticks at round values. */
export function ticks(low: number, high: number, most: number): number[] {
  const raw = (high - low) / Math.max(1, most) || 1;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = size * ([1, 2, 5, 10].find((m) => m * size >= raw) ?? 10);
  const found: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12); ++k) found.push(k * step);
  return found;
}
