// Who took part in an elastic run: a bar for each member, from its coming to the end.
import { element } from "./dom";
import { seconds } from "./facts";
import { showSeconds } from "./format";
import type { Member, Run } from "./data";

const states = ["here", "behind", "cut off", "gone", "dead", "left"];
const most = 40;
const kind = (state: string) => `state ${states.includes(state) ? state.replace(" ", "-") : "left"}`;

function bar(member: Member, end: number): HTMLElement {
  const until = (k: number) => (k + 1 < member.changes.length ? member.changes[k + 1][0] : end);
  const spans = member.changes.map(([from, state], k) => `${state} from ${showSeconds(from)} to ${showSeconds(until(k))}`);
  return element("span", { class: "track", role: "img", "aria-label": `${member.name}: ${spans.join(", ")}` },
    ...member.changes.map(([from, state], k) => {
      const part = element("i", { class: kind(state), title: spans[k] });
      part.style.left = `${(100 * from) / end}%`;
      part.style.width = `${(100 * Math.max(0, until(k) - from)) / end}%`;
      return part;
    }));
}

/** Who is here comes first, then who went last. */
function byImportance(a: Member, b: Member): number {
  const [since, state] = a.changes[a.changes.length - 1], [other, another] = b.changes[b.changes.length - 1];
  return Number(another === "here") - Number(state === "here") || (state === "here" ? since - other : other - since);
}

/** Null where the run was not elastic. */
export function members(run: Run): HTMLElement | null {
  const all = (run.members ?? []).filter((member) => member.changes.length > 0);
  if (all.length === 0) return null;
  const end = Math.max(seconds(run) ?? 0, ...all.map((member) => member.changes[member.changes.length - 1][0]), 1e-3);
  const shown = all.length > most ? [...all].sort(byImportance).slice(0, most) : all;
  const last = (member: Member) => member.changes[member.changes.length - 1];
  const count = states.map((state) => [state, all.filter((member) => last(member)[1] === state).length] as const).filter(([, n]) => n > 0);
  const rows = shown.flatMap((member) => {
    const [since, state] = last(member);
    return [
      element("span", { class: "name" }, member.name),
      bar(member, end),
      element("span", { class: "now" }, element("b", { class: kind(state) }, state), ` since ${showSeconds(since)}`),
    ];
  });
  return element("div", {},
    element("p", { class: "caption" },
      `${all.length} in all, as ${all[0].name} sees them: ${count.map(([state, n]) => `${n} ${state}`).join(", ")}.${all.length > most ? ` ${most} are shown.` : ""}`),
    element("div", { class: "members" }, ...rows));
}
