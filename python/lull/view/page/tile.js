// SPDX-License-Identifier: BSD-3-Clause
// Tile: one camera; its picture, what the picture lacks, its figures.
import { histogram, timeline } from "./charts.js";
import { bytes, count, figure, loss, reason, time } from "./words.js";

const SILENT_MS = 2500;
const HOLD_MS = 1500;

export class Tile {
  constructor(stream, drawn, open) {
    this.element = document.getElementById("tile").content.firstElementChild.cloneNode(true);
    this.element.dataset.stream = stream.index;
    this.image = this.element.querySelector("canvas.image");
    this.missing = this.element.querySelector("canvas.missing");
    this.drawn = drawn;
    this.hold = false;
    this.held = 0;
    this.busy = false;
    this.paused = false;
    this.waiting = null;
    this.frames = 0;
    this.alive = performance.now();
    this.show("name", stream.name);
    this.show("protocol", stream.protocol);
    const button = this.element.querySelector(".picture");
    button.setAttribute("aria-label", `${stream.name}: full size`);
    button.addEventListener("click", () => open(this));
  }

  show(key, text) {
    this.element.querySelector(`[data-of="${key}"]`).textContent = text;
  }

  // ---- pictures ----

  /** A picture came. While one is being drawn, or held, only the newest waits. */
  offer(header, body) {
    if (this.waiting) this.drawn();
    this.waiting = { header, body };
    this.next();
  }

  pause(paused) {
    this.paused = paused;
    this.next();
  }

  async next() {
    if (this.busy || this.paused || !this.waiting || performance.now() < this.held) return;
    const { header, body } = this.waiting;
    this.waiting = null;
    this.busy = true;
    try {
      this.draw(header, await createImageBitmap(new Blob([body], { type: "image/jpeg" })));
    } catch {
      this.show("frame", `frame ${count(header.number)}: not a picture`);
    }
    this.busy = false;
    this.drawn();
    this.next();
  }

  draw(header, bitmap) {
    const { width, height } = bitmap;
    for (const canvas of [this.image, this.missing])
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    this.image.getContext("2d").drawImage(bitmap, 0, 0);
    bitmap.close();
    this.element.style.setProperty("--shape", width / height);
    const partial = header.reason !== "complete" || header.missing.length > 0;
    this.drawMissing(header, partial);
    this.partial = partial;
    Object.assign(this.element.dataset, { number: header.number, reason: header.reason });
    this.show("frame", `frame ${count(header.number)}  ·  ${header.width} × ${header.height} `
      + `${header.pixel}  ·  ${reason(header.reason)} after ${time(header.latency_us)}`);
    this.wake();
    if (partial && this.hold) {
      this.held = performance.now() + HOLD_MS;
      setTimeout(() => this.next(), HOLD_MS + 1);
    }
  }

  /** Missing rectangles are in pixels of the picture, the canvas has those of the preview. */
  drawMissing(header, partial) {
    const pen = this.missing.getContext("2d");
    const across = this.missing.width / header.width;
    const down = this.missing.height / header.height;
    const note = this.element.querySelector(".loss");
    pen.clearRect(0, 0, this.missing.width, this.missing.height);
    pen.fillStyle = "rgb(226 38 24 / .55)";
    for (const [x, y, width, height] of header.missing)
      pen.fillRect(x * across, y * down, Math.max(1, width * across), Math.max(1, height * down));
    note.hidden = !partial;
    if (!partial) return;
    note.textContent = loss(header) + (header.missing_more ? " (not all of it drawn)" : "");
    this.show("last_partial", `last partial frame: ${count(header.number)}, ${loss(header)}`);
  }

  // ---- figures ----

  statistics(stream, points, origin) {
    if (stream.frames > this.frames) this.wake();
    this.frames = stream.frames;
    this.show("fps", figure(stream.fps));
    this.show("mbit_s", figure(stream.mbit_s));
    this.show("complete", count(stream.frames - stream.partial));
    this.show("partial", count(stream.partial));
    this.show("duplicates", count(stream.duplicates));
    this.show("late", count(stream.late));
    this.show("lost_name", stream.lost_pkts === undefined ? "missing" : "lost");
    this.show("lost", stream.lost_pkts === undefined ? bytes(stream.missing_bytes)
      : count(stream.lost_pkts));
    this.element.querySelector(".partial").classList.toggle("some", stream.partial > 0);
    const latency = stream.latency_us ?? {};
    this.show("latency", `${origin} p50 ${time(latency.p50)}, p99 ${time(latency.p99)}, max ${time(latency.max)}`);
    if (stream.latency_bins)
      this.element.querySelector(".histogram").replaceChildren(
        histogram(stream.latency_bins, latency));
    this.element.querySelector(".timeline").replaceChildren(timeline(points));
  }

  wake() {
    this.alive = performance.now();
    this.tick();
  }

  /** Is it silent? */
  tick() {
    const note = this.element.querySelector(".silence");
    const silent = performance.now() - this.alive;
    note.hidden = silent < SILENT_MS;
    note.textContent = `no frames for ${Math.floor(silent / 1000)} s`;
    this.element.dataset.state = !note.hidden ? "silent" : this.partial ? "partial" : "live";
  }
}
