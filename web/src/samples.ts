// Images with what the model says they are.
import { element } from "./dom";
import type { Run, Sample } from "./data";

function figure(sample: Sample): HTMLElement {
  const right = sample.answer === sample.label;
  return element(
    "figure",
    { class: right ? "sample" : "sample wrong" },
    element("img", { src: `data:image/png;base64,${sample.picture}`, alt: `labelled ${sample.label}` }),
    element("figcaption", {}, right ? sample.answer : `✗ ${sample.answer}, not ${sample.label}`),
  );
}

/** The first images that the model did not learn from; null where there are none. */
export function samples(run: Run): HTMLElement | null {
  const all = run.samples ?? [];
  if (all.length === 0) return null;
  const right = all.filter((sample) => sample.answer === sample.label).length;
  return element(
    "div",
    {},
    element("p", { class: "caption" }, `${right} of ${all.length} are recognised. A wrong one shows the answer of the model.`),
    element("div", { class: "samples" }, ...all.map(figure)),
  );
}
