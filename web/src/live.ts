// A run while it goes: frames come as server-sent events, each is all there is to show.
import { Charts } from "./charts";
import { announce, element } from "./dom";
import { circumstances, figures, footer, header, notes, subject } from "./head";
import { auditPassed, longest } from "./facts";
import { showSeconds, suitTimes } from "./format";
import type { Frame, LiveData } from "./data";

export function showLive(page: HTMLElement, data: LiveData): void {
  const top = element("div"), summary = element("div");
  const charts = new Charts();
  const pill = element("span", { class: "pill" }, "connecting");
  const stop = element("button", { type: "button", class: "stop" }, "Stop the run");
  const bar = element("progress", { max: 1, "aria-label": "Share of the budget" });
  const left = element("span", { class: "left" });
  const controls = element("div", { class: "live-controls" }, bar, left, stop);
  page.replaceChildren(top, summary, charts.root, footer(data.version));
  let ended = false;
  let latest: Frame | null = null;
  let shown: string | null = null;

  const say = (state: string, kind: string) => {
    if (pill.textContent === state) return;
    pill.textContent = state;
    pill.className = `pill ${kind}`;
    announce(`The run is ${state}`);
  };

  const draw = () => {
    const frame = latest;
    if (!frame) return;
    const run = frame.run;
    suitTimes(longest([run]) + (frame.live.seconds_left ?? 0));
    document.title = `${frame.live.state} · ${subject(run)} · dasgd`;
    if (shown !== circumstances(run)) {
      shown = circumstances(run);
      top.replaceChildren(header(subject(run), shown, pill, controls));
    }
    bar.hidden = frame.live.done === null;
    if (frame.live.done !== null) bar.value = Math.min(1, frame.live.done);
    left.textContent = frame.live.state === "running" && frame.live.seconds_left !== null ? `${showSeconds(frame.live.seconds_left)} left` : "";
    const note = notes([run]);
    summary.replaceChildren(...(note ? [note] : []), figures([run]));
    charts.update([run]);
    if (frame.live.state === "ended") {
      ended = true;
      say(auditPassed(run) === false ? "ended, audit failed" : "ended", auditPassed(run) === false ? "bad" : "good");
      controls.hidden = true;
    } else {
      say(frame.live.state, frame.live.state === "running" ? "live" : "");
      stop.disabled = frame.live.state !== "running";
    }
  };

  stop.addEventListener("click", async () => {
    stop.disabled = true;
    stop.textContent = "Stopping…";
    try {
      const answer = await fetch("stop" + data.query, { method: "POST", headers: { "X-Dasgd-Token": data.token } });
      if (!answer.ok) throw new Error(await answer.text());
      announce("The run stops: gradients in flight are still applied");
    } catch (error) {
      stop.disabled = false;
      stop.textContent = "Stop the run";
      announce(`The run could not be stopped: ${String(error)}`);
    }
  });

  const events = new EventSource("events" + data.query);
  events.addEventListener("frame", (event) => {
    latest = JSON.parse((event as MessageEvent<string>).data) as Frame;
    // A page in the background draws nothing; the end of the run is always shown.
    if (!document.hidden || latest.live.state === "ended") draw();
    if (latest.live.state === "ended") events.close();
  });
  events.addEventListener("error", () => {
    if (!ended) say("no connection", "bad");
  });
  document.addEventListener("visibilitychange", () => !document.hidden && draw());
}
