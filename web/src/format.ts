// Numbers and times as people read them.

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Four significant digits, thousands separated. */
export function show(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e7 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
  if (size >= 1000) return plain.format(value);
  return String(Number(value.toPrecision(4)));
}

export function showCount(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : plain.format(value);
}

const units: [number, string][] = [[3600, "h"], [60, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
let [unit, unitName]: [number, string] = [1, "s"];

/** From now on all times are shown in the unit that suits the longest: one unit on a page. */
export function suitTimes(longest: number): void {
  [unit, unitName] = units.find(([size]) => longest >= (size >= 60 ? 10 * size : size)) ?? [1, "s"];
}

/** A time; of an axis, with the digits that distinguish ticks so many seconds apart. */
export function showSeconds(seconds: number | null | undefined, apart?: number): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (apart === undefined) return `${show(seconds / unit)} ${unitName}`;
  const digits = Math.min(12, Math.max(0, Math.ceil(-Math.log10(apart / unit) - 1e-9)));
  return `${(seconds / unit).toFixed(digits)} ${unitName}`;
}
