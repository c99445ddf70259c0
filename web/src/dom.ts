// Elements, without innerHTML: nothing that stands in a run can become markup.

type Attributes = { [name: string]: string | number | boolean | undefined };
type Child = Node | string | null | undefined | false;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  for (const child of children) if (child) made.append(child);
  return made;
}

export function announce(message: string): void {
  const announcer = document.getElementById("announcer");
  if (announcer && announcer.textContent !== message) announcer.textContent = message;
}

/** The value of a CSS variable, for canvases. */
export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** One of the distinguishable colours; they begin again after eight. */
export function colour(k: number): string {
  return css(`--series-${(k % 8) + 1}`);
}
/** Colours are not the only difference. */
export function dash(k: number): number[] | undefined {
  return [undefined, [6, 3], [2, 2], [9, 3, 2, 3]][Math.floor(k / 2) % 4];
}

/** What may be wider or longer than its place: it fades out where there is more to see. */
export function scrollable(...children: Child[]): HTMLElement {
  const root = element("div", { class: "scroll", tabindex: 0 }, ...children);
  const look = () => {
    root.classList.toggle("more-right", root.scrollLeft + root.clientWidth < root.scrollWidth - 1);
    root.classList.toggle("more-below", root.scrollTop + root.clientHeight < root.scrollHeight - 1);
  };
  root.addEventListener("scroll", look, { passive: true });
  const watch = new ResizeObserver(look);
  watch.observe(root);
  for (const child of root.children) watch.observe(child);
  return root;
}

/** A table with a head; numbers to the right. */
export function table(head: string[], rows: Child[][], caption?: string): HTMLTableElement {
  return element(
    "table",
    {},
    caption ? element("caption", { class: "visually-hidden" }, caption) : null,
    element("thead", {}, element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name)))),
    element(
      "tbody",
      {},
      ...rows.map((row) =>
        element(
          "tr",
          {},
          ...row.map((cell, k) => (k === 0 ? element("th", { scope: "row" }, cell) : element("td", {}, cell))),
        ),
      ),
    ),
  );
}
