// What the page is given: the JSON that src/dasgd/report/page.cpp writes.

export type Values = (number | null)[];

/** A value over time; min and max where several lines were put together. */
export interface Spread {
  mean: Values;
  min?: Values;
  max?: Values;
}

export interface Metrics {
  seconds: number[];
  gradients: number[];
  applications: number[];
  samples: number[];
  loss?: Spread;
  accuracy?: Spread;
  prequential_accuracy?: Spread;
  eval_loss?: Spread;
  gradients_per_second?: Spread;
  S_now?: Spread;
  S_avg?: Spread;
  S_max?: Spread;
  inbox_depth?: Spread;
  folded?: Spread;
  waited_seconds?: Spread;
  /** of look-ahead, means of all workers so far */
  lambda?: Spread;
  missing_estimated?: Spread;
  missing_true?: Spread;
  /** what the run's own loop has logged, by name */
  own?: { [name: string]: Spread };
  gradients_by_worker: Values[];
  inbox_by_worker: Values[];
}

export interface TimeLineRow {
  worker: number;
  /** gap, length and, where bars were merged, computing time; in nanoseconds */
  bars: number[];
  /** gap, count */
  ticks: number[];
}

export interface Trace {
  applications: number;
  gradients: number;
  workers: number;
  workers_per_group: number;
  end: number;
  over_time: {
    bucket: number;
    S_min: Values;
    S_mean: Values;
    S_max: Values;
    /** per group: gradients of one worker in each bucket */
    computed: number[][];
    /** per group: gradients that exist and that a worker has not applied yet */
    backlog: number[][];
  };
  histogram: { width: number; counts: number[] };
  heat: { mean: Values[]; max: Values[] };
  time_lines: { resolution: number; since: number; workers_per_line: number; rows: TimeLineRow[] };
}

export interface Limit {
  name: string;
  eta: number | null;
  status?: string;
}

export interface Sample {
  /** a PNG, as base64 */
  picture: string;
  label: string;
  answer: string;
  /** of the label */
  probability: number;
}

/** A sample with which the model is wrong. */
export interface Wrong {
  row: number;
  file?: string;
  label: string;
  answer: string;
  /** of the label, and of the answer */
  probability?: number;
  confidence?: number;
  /** where answers are numbers */
  error?: number;
  picture?: string;
  values?: { [column: string]: string };
}
export interface Worst {
  part: string;
  looked_at: number;
  of: number;
  samples: Wrong[];
}

/** A member of an elastic run, and since when it was how. */
export interface Member {
  name: string;
  changes: [number, string][];
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Run {
  name: string;
  label: string;
  path: string;
  notes: string[];
  /** why it ended, in words */
  stopped: string;
  ended: boolean;
  virtual: boolean;
  config: { [key: string]: Json };
  summary: { [key: string]: Json } | null;
  /** the grounds of --lr auto */
  advice: { [key: string]: Json } | null;
  /** a few images with what the model says they are */
  samples: Sample[] | null;
  worst?: Worst | null;
  /** null where the run was not elastic */
  members: Member[] | null;
  limits: Limit[];
  metrics: Metrics | null;
  trace: Trace | null;
}

export interface LiveState {
  /** "preparing", "running", "draining" or "ended" */
  state: string;
  seconds: number;
  done: number | null;
  seconds_left: number | null;
}

export interface ReportData {
  kind: "report";
  version: string;
  runs: Run[];
}
export interface FiguresData {
  kind: "figures";
  version: string;
  title: string;
  subtitle: string;
  /** linear: the same panels without logarithmic axes, where there are such */
  figures: { title: string; caption: string; panels: string[]; linear?: string[] }[];
  /** what was compared: names and values */
  facts?: [string, string][];
  table: { [key: string]: Json }[] | null;
  findings: string[];
}
export interface LiveData {
  kind: "live";
  version: string;
  /** stops the run, in a header that no other page can send */
  token: string;
  /** to be repeated in the address of the events, where the page needs a token itself */
  query: string;
}
export type PageData = ReportData | FiguresData | LiveData;

export interface Frame {
  live: LiveState;
  run: Run;
}

export function number(value: Json | undefined): number | null {
  return typeof value === "number" ? value : null;
}
export function text(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(text).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
