// Small line charts of what the frames carry, over the last seconds or over a whole run.

import { add } from "sesshoku/viewer";

export const CHARTS = [
  { title: "contact force", unit: "N", series: { "sum of normal forces": (h) => h.force } },
  { title: "energy", unit: "J", series: { kinetic: (h) => h.kinetic, potential: (h) => h.potential,
    total: (h) => h.kinetic + h.potential } },
  { title: "penetration", unit: "m", series: { deepest: (h) => h.penetration } },
  { title: "step time", unit: "s", live: true, series: { "one step": (h) => h.step } },
  { title: "residuals", unit: "", log: true, series: { "law, m/s": (h) => h.residual, "momentum, N s": (h) => h.momentum,
    "cone, N": (h) => h.cone } },
];
const COLORS = ["--hue0", "--hue1", "--hue2"];
const MOST = 1200;
const PREFIXES = [[1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

// 0.0000107 m as "10.7 µm"
export function measured(value, unit) {
  const size = Math.abs(value);
  if (!(size >= 1e-10)) return Number.isFinite(value) ? `0 ${unit}` : "";
  const [scale, prefix] = PREFIXES.find(([least]) => size >= 0.9995 * least) || PREFIXES[PREFIXES.length - 1];
  if (size >= 1e9) return `${value.toExponential(1)} ${unit}`;
  return `${Number((value / scale).toPrecision(3))} ${prefix}${unit}`;
}

export class Charts {
  // span: seconds shown (live), or null for all
  constructor(parent, { span = 8, live = true } = {}) {
    this.span = span;
    this.times = [];
    this.charts = CHARTS.filter((chart) => live || !chart.live).map((chart) => new Chart(parent, chart));
  }

  clear() {
    this.times = [];
    for (const chart of this.charts) chart.values = chart.values.map(() => []);
  }

  add(head) {
    const last = this.times[this.times.length - 1];
    if (head.time === last) return;
    if (head.time < last) this.clear(); // went back to the start
    this.times.push(head.time);
    const cut = this.span && this.times.length > MOST ? this.times.length - MOST : 0;
    if (cut) this.times.splice(0, cut);
    for (const chart of this.charts) {
      chart.functions.forEach((f, i) => {
        chart.values[i].push(f(head));
        if (cut) chart.values[i].splice(0, cut);
      });
    }
  }

  draw(cursor = null) {
    const end = this.times[this.times.length - 1] || 0;
    const begin = this.span ? Math.max(this.times[0] || 0, end - this.span) : this.times[0] || 0;
    for (const chart of this.charts) chart.draw(this.times, begin, Math.max(end, begin + 1e-6), cursor);
  }
}

class Chart {
  constructor(parent, { title, unit, series, log = false }) {
    this.unit = unit;
    this.log = log;
    this.names = Object.keys(series);
    this.functions = Object.values(series);
    this.values = this.names.map(() => []);
    const box = add(parent, "div", "chart");
    const head = add(box, "div", "chart-head");
    add(head, "span", "chart-title", title);
    this.now = add(head, "span", "chart-now");
    this.canvas = add(box, "canvas");
    const legend = add(box, "div", "chart-legend");
    if (this.names.length > 1) {
      this.names.forEach((name, i) => { add(legend, "span", "", name).style.color = `var(${COLORS[i]})`; });
    }
  }

  draw(times, begin, end, cursor) {
    const { canvas } = this;
    const ratio = devicePixelRatio;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!width) return;
    if (canvas.width !== Math.round(width * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(canvas);
    const first = times.findIndex((t) => t >= begin);
    if (first < 0) return;
    const [low, high] = this.#limits(first);
    const across = (t) => 2 + (t - begin) / (end - begin) * (width - 4);
    const up = (y) => height - 3 - (y - low) / (high - low) * (height - 6);
    context.strokeStyle = style.getPropertyValue("--line");
    context.lineWidth = 1;
    for (const y of [low, 0.5 * (low + high), high]) {
      context.beginPath();
      context.moveTo(0, up(y));
      context.lineTo(width, up(y));
      context.stroke();
    }
    this.values.forEach((values, i) => {
      context.strokeStyle = style.getPropertyValue(COLORS[i]);
      context.lineWidth = 1.5;
      context.beginPath();
      let down = false;
      for (let n = first; n < times.length; n++) {
        const y = this.log ? Math.log10(values[n]) : values[n];
        if (!Number.isFinite(y)) { down = false; continue; }
        if (down) context.lineTo(across(times[n]), up(y));
        else context.moveTo(across(times[n]), up(y));
        down = true;
      }
      context.stroke();
    });
    let shown = times.length - 1;
    if (cursor !== null) {
      shown = Math.max(0, times.findLastIndex((t) => t <= cursor + 1e-9));
      context.strokeStyle = style.getPropertyValue("--ink");
      context.beginPath();
      context.moveTo(across(cursor), 0);
      context.lineTo(across(cursor), height);
      context.stroke();
    }
    this.#write(context, style, this.#say(high), 3, 11);
    this.#write(context, style, this.#say(low), 3, height - 5);
    const range = `${Number(begin.toFixed(1))} to ${Number(end.toFixed(1))} s`;
    context.textAlign = "right";
    this.#write(context, style, range, width - 3, height - 5);
    context.textAlign = "left";
    const value = this.values[this.log ? 0 : this.values.length - 1][shown];
    this.now.textContent = this.log ? `${value ? value.toExponential(1) : 0} m/s` : measured(value, this.unit);
  }

  // Small text that stays legible over lines.
  #write(context, style, text, x, y) {
    context.font = "10px system-ui, sans-serif";
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = style.getPropertyValue("--card");
    context.strokeText(text, x, y);
    context.fillStyle = style.getPropertyValue("--soft");
    context.fillText(text, x, y);
  }

  #limits(first) {
    let low = Infinity;
    let high = -Infinity;
    for (const values of this.values) {
      for (let n = first; n < values.length; n++) {
        const y = this.log ? Math.log10(values[n]) : values[n];
        if (Number.isFinite(y)) { low = Math.min(low, y); high = Math.max(high, y); }
      }
    }
    if (low > high) return this.log ? [-12, 0] : [0, 1];
    if (this.log) return [Math.max(Math.floor(low), Math.ceil(high) - 12), Math.max(Math.ceil(high), Math.floor(low) + 1)];
    if (low > 0 && low < 0.5 * high) low = 0;
    if (high - low < 1e-9 + 0.02 * Math.abs(high)) { const room = Math.max(0.02 * Math.abs(high), 1e-9); low -= room; high += room; }
    return [low, high];
  }

  #say(y) {
    if (this.log) return `1e${Math.round(y)}`;
    return measured(y, this.unit);
  }
}
