// SPDX-License-Identifier: BSD-3-Clause
// View: what comes over the WebSocket goes to the tiles; what the user does goes back.
import { count, origin, percent } from "./words.js";
import { sparkline } from "./charts.js";
import { Link } from "./link.js";
import { Tile } from "./tile.js";

const HISTORY = 240;
const part = (id) => document.getElementById(id);
const tiles = new Map();
const states = {};
const errors = [];
let history = [];

const link = new Link({ open: showLink, close: showLink, text: onText, image: onImage });

function onText(message) {
  const handlers = { hello, statistics, history: past, settings, error: refuse,
    receiver: changeState, sender: changeState };
  handlers[message.type]?.(message);
}

function onImage(header, body) {
  tiles.get(header.stream)?.offer(header, body);
}

function hello(message) {
  part("receiver").querySelector('[data-of="backend"]').textContent = message.backend;
  part("tiles").replaceChildren();
  tiles.clear();
  history = [];
  for (const stream of message.streams) {
    const tile = new Tile(stream, () => link.send({ drawn: stream.index }), openFull);
    tiles.set(stream.index, tile);
    part("tiles").append(tile.element);
  }
  const narrow = tiles.size > 3 ? 310 : tiles.size > 2 ? 400 : 560;
  part("tiles").style.setProperty("--tile", `${narrow}px`);
  showHold();
}

function past(message) {
  history = message.points;
  if (history.length > 0) drawStatistics(history.at(-1));
}

function statistics(message) {
  history.push(message);
  history.splice(0, history.length - HISTORY);
  drawStatistics(message);
}

function drawStatistics(message) {
  const show = (key, text) => {
    part("receiver").querySelector(`[data-of="${key}"]`).textContent = text;
  };
  show("pkts_s", count(message.pkts_s));
  show("missed", count(message.missed));
  show("cpu_percent", percent(message.cpu_percent));
  show("steal_percent", percent(message.steal_percent));
  part("cpu").replaceChildren(sparkline(history, [
    ["rate", (point) => point.cpu_percent], ["steal", (point) => point.steal_percent]], 100));
  for (const stream of message.streams) {
    const points = history.map((point) => ({ t: point.t,
      ...point.streams.find((one) => one.index === stream.index) }));
    tiles.get(stream.index)?.statistics(stream, points, origin(message.latency_from));
  }
}

function changeState(message) {
  states[message.type] = message;
  part("sender").textContent = states.sender?.state === "live" ? states.sender.text : "";
  showLink();
}

function refuse(message) {
  errors.push(message.text);
  errors.splice(0, errors.length - 3);
  showNotices();
  setTimeout(() => { errors.shift(); showNotices(); }, 8000);
}

function showLink() {
  const receiver = states.receiver?.state ?? "waiting";
  const state = !link.connected ? "waiting" : receiver;
  const words = { live: link.paused ? "paused" : "live", waiting: "waiting for lull-cam",
    ended: "lull-cam has ended", failed: "lull-cam has failed" };
  part("link").dataset.state = link.paused ? "paused" : state;
  part("link").textContent = link.connected ? words[state] : "not connected, trying again";
  document.title = state === "live" ? "lull view" : `lull view: ${part("link").textContent}`;
  showNotices();
}

function showNotices() {
  const texts = Object.values(states).filter((one) => ["ended", "failed"].includes(one.state))
    .map((one) => one.text);
  if (!link.connected) texts.push("lull view does not answer: is it still running?");
  part("notices").replaceChildren(...[...texts, ...errors].map((text) => {
    const line = document.createElement("p");
    line.textContent = text;
    return line;
  }));
}

// ---- what the user does ----

function settings(message) {
  for (const name of ["width", "rate", "quality"]) {
    const select = part("settings").elements[name];
    if (![...select.options].some((option) => Number(option.value) === message[name]))
      select.add(new Option(message[name]));
    select.value = message[name];
  }
}

function showHold() {
  for (const tile of tiles.values()) tile.hold = part("settings").elements.hold.checked;
}

function pause() {
  link.paused = !link.paused;
  part("pause").setAttribute("aria-pressed", link.paused);
  for (const tile of tiles.values()) tile.pause(link.paused);
  showLink();
}

function openFull(tile) {
  const full = !tile.element.classList.contains("full");
  for (const one of tiles.values()) one.element.classList.remove("full");
  tile.element.classList.toggle("full", full);
  document.body.classList.toggle("one", full);
  tile.element.scrollIntoView();
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("select, input")) return;
  const full = [...tiles.values()].find((tile) => tile.element.classList.contains("full"));
  const chosen = /^[1-9]$/.test(event.key) ? [...tiles.values()][event.key - 1] : undefined;
  if (event.key === "Escape" && full) openFull(full);
  else if (event.key === "p" || event.key === "P") pause();
  else if (chosen && chosen !== full) openFull(chosen);
}

function turnTheme() {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", document.documentElement.dataset.theme);
}

part("settings").addEventListener("change", (event) => {
  if (event.target.name === "hold") showHold();
  else link.send({ [event.target.name]: Number(event.target.value) });
});
part("settings").addEventListener("submit", (event) => event.preventDefault());
part("pause").addEventListener("click", pause);
part("theme").addEventListener("click", turnTheme);
document.addEventListener("keydown", onKey);
document.addEventListener("visibilitychange", () => {
  for (const tile of tiles.values()) tile.pause(link.paused || document.hidden);
});
if (localStorage.getItem("theme")) document.documentElement.dataset.theme = localStorage.getItem("theme");
setInterval(() => { for (const tile of tiles.values()) tile.tick(); }, 500);
showLink();
