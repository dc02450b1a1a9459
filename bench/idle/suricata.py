# SPDX-License-Identifier: BSD-3-Clause
"""Suricata with DPDK: one interface, one worker, no rules; it takes packets in and sends none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from program import FORWARDER, Place, Program

PROGRAM = Path("/usr/bin/suricata")
MBUFS = 8191
# EAL takes each key of eal-params as an option: of one letter with one dash, else with two.
CONFIGURATION = """%YAML 1.1
---
default-log-dir: {folder}
default-rule-path: {folder}
rule-files: []
unix-command: {{enabled: no}}
stats: {{enabled: no}}
outputs: []
logging:
  default-log-level: notice
  outputs:
    - console: {{enabled: yes}}
runmode: workers
threading:
  set-cpu-affinity: yes
  cpu-affinity:
    - management-cpu-set: {{cpu: [{other_cpu}]}}
    - worker-cpu-set: {{cpu: [{cpu}], mode: exclusive}}
dpdk:
  eal-params:
    proc-type: primary
    lcores: "0@{other_cpu}"
    no-huge: ""
    no-shconf: ""
    no-pci: ""
    m: "{memory_mb}"
    vdev: "{vdev}"
{plugin}
  interfaces:
    - interface: {interface}
      threads: 1
      promisc: false
      multicast: false
      checksum-checks: false
      checksum-checks-offload: false
      mtu: 1500
      rss-hash-functions: "0x0"
      mempool-size: {mbufs}
      mempool-cache-size: 250
      rx-descriptors: {ring_pkts}
      tx-descriptors: {ring_pkts}
      copy-mode: none
      copy-iface: none
"""


@dataclass(frozen=True)
class Settings:
    """How it shall capture."""

    cpu: int  # of its worker
    other_cpu: int
    memory_mb: int
    ring_pkts: int
    plugin: Path | None


def start(place: Place, vdev: str, settings: Settings) -> Program:
    """It captures from one virtual device."""
    configuration = CONFIGURATION.format(
        folder=place.directory,
        cpu=settings.cpu,
        other_cpu=settings.other_cpu,
        memory_mb=settings.memory_mb,
        ring_pkts=settings.ring_pkts,
        mbufs=MBUFS,
        vdev=vdev,
        interface=vdev.partition(",")[0],
        plugin=f'    d: "{settings.plugin}"' if settings.plugin else "",
    )
    path = place.path("suricata.yaml")
    path.write_text(configuration, encoding="utf-8")
    command = [str(PROGRAM), "-c", str(path), "--dpdk", "-l", str(place.directory)]
    return place.start(FORWARDER, "suricata", place.inside(*command))
