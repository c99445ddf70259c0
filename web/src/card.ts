// A card of the page: a heading, what it shows in a sentence, controls, the chart, its numbers.
import { element, scrollable, table } from "./dom";

export interface Numbers {
  head: string[];
  rows: string[][];
}

export class Card {
  readonly root: HTMLElement;
  readonly body = element("div", { class: "card-body" });
  readonly controls = element("div", { class: "controls" });
  private readonly caption = element("p", { class: "caption" });
  private visible = false;
  private pending: (() => void) | null = null;

  constructor(id: string, title: string, wide = false, private readonly numbers?: () => Numbers) {
    const heading = `${id}-title`;
    this.root = element(
      "section",
      { class: wide ? "card wide" : "card", id, "aria-labelledby": heading },
      element("header", {}, element("h2", { id: heading }, title), this.controls),
      this.caption,
      this.body,
    );
    if (numbers) this.root.append(this.makeNumbers());
    new IntersectionObserver(
      (entries) => {
        this.visible = entries.some((entry) => entry.isIntersecting);
        if (this.visible) this.flush();
      },
      { rootMargin: "200px" },
    ).observe(this.root);
  }

  set hidden(hidden: boolean) {
    this.root.hidden = hidden;
  }
  describe(sentence: string): void {
    this.caption.textContent = sentence;
  }

  /** Draws now, or when the card comes into sight: what nobody sees costs nothing. */
  draw(action: () => void): void {
    this.pending = action;
    if (this.visible) this.flush();
  }
  /** Draws whatever waits: before printing, for instance. */
  flush(): void {
    const action = this.pending;
    this.pending = null;
    action?.();
  }

  // The text alternative of a chart. It is made when somebody opens it.
  private makeNumbers(): HTMLElement {
    const details = element("details", { class: "numbers" }, element("summary", {}, "Numbers"));
    details.addEventListener("toggle", () => {
      details.querySelector(".scroll")?.remove();
      if (!details.open || !this.numbers) return;
      const { head, rows } = this.numbers();
      details.append(scrollable(table(head, rows)));
    });
    return details;
  }
}

/** At most `most` rows of a long table, the first and the last included. */
export function thin<T>(rows: T[], most = 60): T[] {
  if (rows.length <= most) return rows;
  return Array.from({ length: most }, (_, k) => rows[Math.round((k * (rows.length - 1)) / (most - 1))]);
}

/** A group of buttons of which one is pressed. */
export function choice(label: string, names: string[], chosen: number, onChoice: (k: number) => void): HTMLElement {
  const group = element("div", { class: "choice", role: "group", "aria-label": label });
  names.forEach((name, k) => {
    const button = element("button", { type: "button", "aria-pressed": String(k === chosen) }, name);
    button.addEventListener("click", () => {
      group.querySelectorAll("button").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      onChoice(k);
    });
    group.append(button);
  });
  return group;
}
