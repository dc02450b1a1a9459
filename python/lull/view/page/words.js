// SPDX-License-Identifier: BSD-3-Clause
// Words: figures as people read them.

const REASONS = { complete: "complete", deadline: "deadline passed",
  superseded: "overtaken by newer frames", restart: "camera began anew",
  flush: "the end was asked for" };

const ORIGINS = { nic: "NIC stamp:", kernel: "kernel stamp:", bound: "at most",
  read: "from reading:" };

const known = (value) => typeof value === "number" && Number.isFinite(value);

export function count(value) {
  return known(value) ? Math.round(value).toLocaleString("en-US") : "–";
}

export function percent(value) {
  return known(value) ? `${value < 10 ? value.toFixed(1) : value.toFixed(0)} %` : "–";
}

/** Three figures, as fine as they go. */
export function figure(value) {
  if (!known(value)) return "–";
  return value >= 1000 ? count(value) : value >= 99.95 ? value.toFixed(0) : value >= 9.995
    ? value.toFixed(1) : value.toFixed(2);
}

export function time(us) {
  if (!known(us)) return "–";
  if (us < 999.5) return `${short(us)} us`;
  return us < 999_500 ? `${short(us / 1000)} ms` : `${short(us / 1e6)} s`;
}

const short = (value) => (value >= 10 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, ""));

export function bytes(value) {
  if (!known(value)) return "–";
  return value < 10_000 ? count(value) : value < 10_000_000 ? `${count(value / 1e3)} kB`
    : `${count(value / 1e6)} MB`;
}

/** Where a latency begins. */
export function origin(name) {
  return ORIGINS[name] ?? "";
}

export function reason(name) {
  return REASONS[name] ?? name;
}

/** What a partial frame lacks: "4.2 % missing: deadline passed". */
export function loss(header) {
  const share = header.bytes > 0 ? 1 - header.bytes_there / header.bytes : 0;
  const much = share > 0 && share < 0.001 ? "less than 0.1" : (100 * share).toFixed(1);
  const damage = header.damaged ? "; the camera says that the content is wrong" : "";
  return `${much} % missing: ${reason(header.reason)}${damage}`;
}
