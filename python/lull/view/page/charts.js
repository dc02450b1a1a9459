// SPDX-License-Identifier: BSD-3-Clause
// Charts: SVG elements made anew from figures. Colours and sizes are in view.css.
import { figure, time } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const HEIGHT = 96;
const BOTTOM = 82;
const TOP = 12;
const BARS = 60;
const SPANS_S = [15, 30, 60, 120];
const BIN_RATIO = 1.125; // from one bin to the next at most

function make(name, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  return element;
}

function chart(label, height = HEIGHT, width = WIDTH) {
  return make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

/** Add a bin to the bars that it lies over, to each its share. */
function spread(bars, from, to, number) {
  for (let index = Math.max(0, Math.floor(from)); index < Math.min(BARS, to); index++)
    bars[index] += number * (Math.min(to, index + 1) - Math.max(from, index)) / (to - from);
}

/** Bars over a logarithmic axis of time; p50 and p99 are marked. */
export function histogram(bins, latency) {
  const seen = bins.filter(([low, number]) => low > 0 && number > 0);
  const drawing = chart(`latency: p50 ${time(latency.p50)}, p99 ${time(latency.p99)}`);
  if (seen.length === 0) return drawing;
  let first = Math.floor(Math.log10(seen[0][0]));
  let last = Math.ceil(Math.log10(Math.max(seen.at(-1)[0], latency.max ?? 0) * 1.01));
  if (last - first < 2) last = first + 2;
  const x = (us) => WIDTH * (Math.log10(us) - first) / (last - first);
  const bars = new Array(BARS).fill(0);
  seen.forEach(([low, number], index) => {
    const high = Math.min(seen[index + 1]?.[0] ?? Infinity, low * BIN_RATIO);
    spread(bars, BARS * x(low) / WIDTH, BARS * x(high) / WIDTH, number);
  });
  drawing.append(make("line", { class: "axis", x1: 0, x2: WIDTH, y1: BOTTOM, y2: BOTTOM }));
  const most = Math.max(...bars);
  bars.forEach((number, index) => {
    if (number === 0) return;
    const height = Math.max(1, (BOTTOM - TOP) * number / most); // what is rare is seen too
    drawing.append(make("rect", { class: "bar", x: index * WIDTH / BARS + 0.4, y: BOTTOM - height,
      width: WIDTH / BARS - 0.8, height }));
  });
  for (let decade = first; decade <= last; decade++) {
    const place = decade === first ? "start" : decade === last ? "end" : "middle";
    drawing.append(make("text", { x: x(10 ** decade), y: HEIGHT - 3, "text-anchor": place },
      time(10 ** decade)));
  }
  mark(drawing, x(latency.p50), "p50", "end");
  mark(drawing, x(latency.p99), "p99", "start");
  return drawing;
}

function mark(drawing, x, name, anchor) {
  if (!Number.isFinite(x)) return;
  drawing.append(make("line", { class: "mark", x1: x, x2: x, y1: TOP - 9, y2: BOTTOM }),
    make("text", { class: "mark-name", x: x + (anchor === "end" ? -3 : 3), y: TOP - 2,
      "text-anchor": anchor }, name));
}

/** The shortest span that holds all points, or the longest there is. */
function spanOf(points) {
  const lasted = points.length > 0 ? points.at(-1).t - points[0].t : 0;
  return SPANS_S.find((span) => span >= lasted) ?? SPANS_S.at(-1);
}

function polyline(points, name, value, most, height, width, top) {
  const end = points.at(-1).t;
  const span = spanOf(points);
  const places = points.filter((point) => Number.isFinite(value(point))).map((point) => {
    const x = width * (1 - (end - point.t) / span);
    const y = height - (height - top) * Math.min(1, value(point) / most);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return make("polyline", { class: name, points: places.join(" ") });
}

const largest = (points, value) =>
  Math.max(1e-9, ...points.map(value).filter((one) => Number.isFinite(one)));

/** Frames per second and p99 of the last seconds, each on its own scale from nought; the largest of both are written. */
export function timeline(points) {
  const rate = (point) => point.fps;
  const p99 = (point) => point.recent_us?.p99;
  const rates = largest(points, rate);
  const slowest = largest(points, p99);
  const drawing = chart(`at most ${figure(rates)} frames/s, p99 at most ${time(slowest)}`);
  drawing.append(make("line", { class: "axis", x1: 0, x2: WIDTH, y1: BOTTOM, y2: BOTTOM }));
  if (points.length > 0) {
    drawing.append(polyline(points, "p99", p99, slowest, BOTTOM, WIDTH, TOP),
      polyline(points, "rate", rate, 1.25 * rates, BOTTOM, WIDTH, TOP));
  }
  drawing.append(make("text", { x: 0, y: TOP - 2 }, `${figure(1.25 * rates)}/s`),
    make("text", { x: WIDTH, y: TOP - 2, "text-anchor": "end" }, time(slowest)),
    make("text", { x: 0, y: HEIGHT - 3 }, `${spanOf(points)} s ago`),
    make("text", { x: WIDTH, y: HEIGHT - 3, "text-anchor": "end" }, "now"));
  return drawing;
}

/** Small lines without axes, from nought to a common most. */
export function sparkline(points, lines, most) {
  const drawing = chart("CPU and stolen time, up to two minutes", 22, 110);
  drawing.append(make("line", { class: "axis", x1: 0, x2: 110, y1: 21, y2: 21 }));
  if (points.length > 0)
    for (const [name, value] of lines)
      drawing.append(polyline(points, name, value, most, 21, 110, 1));
  return drawing;
}
