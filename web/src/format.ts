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

export function showSeconds(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  if (size < 1e-6) return `${show(seconds * 1e9)} ns`;
  if (size < 1e-3) return `${show(seconds * 1e6)} µs`;
  if (size < 1) return `${show(seconds * 1e3)} ms`;
  if (size < 120) return `${Number(seconds.toPrecision(4))} s`;
  const whole = Math.round(size);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] > 0 ? parts : parts.slice(1);
  return shown.map((part, k) => (k > 0 ? String(part).padStart(2, "0") : String(part))).join(":");
}
