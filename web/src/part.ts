// What the cards of the page have in common.
import type { Card } from "./card";
import { element } from "./dom";
import type { Run } from "./data";

/** A chart of one card; `update` gets all runs of the page. */
export interface Part {
  card: Card;
  update(runs: Run[]): void;
}

/** Shows one run at a time, with a choice among them where there are several. */
export function perRun(card: Card, update: (run: Run) => void, has: (run: Run) => boolean): (runs: Run[]) => void {
  let chosen = 0;
  let names = "";
  return (all) => {
    const runs = all.filter(has);
    card.hidden = runs.length === 0;
    if (runs.length === 0) return;
    chosen = Math.min(chosen, runs.length - 1);
    const wanted = runs.map((run) => run.label).join("\n");
    if (runs.length > 1 && names !== wanted) {
      names = wanted;
      card.controls.querySelector(".runs")?.remove();
      const select = element("select", { class: "runs", "aria-label": "Run" }, ...runs.map((run, k) => element("option", { value: k }, run.label)));
      select.addEventListener("change", () => {
        chosen = select.selectedIndex;
        update(runs[chosen]);
      });
      card.controls.prepend(select);
    }
    update(runs[chosen]);
  };
}
