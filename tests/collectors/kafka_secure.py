# SPDX-License-Identifier: BSD-3-Clause
"""Records to a Kafka broker over TLS and SASL, and to one that is not whom we trust, or we not.

    kafka_secure.py PROGRAM CAPTURE SENDER

The program reads the capture, which it cannot without a broker; the sender goes on without one, and
counts. The broker is kafka_broker.py.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from kafka_broker import Broker
from verdict import check

TIMEOUT_S = 60
USER, PASSWORD, WRONG = "probe", "correct horse", "battery staple"


class Trial:
    def __init__(self, scratch: Path, program: str, capture: str, sender: str) -> None:
        self.sender = sender
        self.command = [program, "--pcap", capture, "--identify=no", "--workers=1"]
        self.scratch = scratch
        self.own, self.other = self.certificate("own"), self.certificate("other")
        done = subprocess.run([*self.command, "--records", "-"], capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=True)
        self.records = sorted(done.stdout.splitlines())

    def certificate(self, name: str) -> str:
        """With its key, for 127.0.0.1."""
        path = self.scratch / f"{name}.pem"
        key = self.scratch / f"{name}.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=broker",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", path],
                       check=True, capture_output=True, timeout=TIMEOUT_S)
        path.write_text(path.read_text(encoding="ascii") + key.read_text(encoding="ascii"),
                        encoding="ascii")
        return str(path)

    def send(self, command: list[str], broker: Broker,
             properties: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
        secrets = self.scratch / f"secrets-{broker.port}"
        secrets.write_text("".join(f"{line}\n" for line in properties), encoding="ascii")
        done = subprocess.run([*command, "--kafka", f"127.0.0.1:{broker.port}/flows",
                               "--kafka-properties", str(secrets)], capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)
        for password in (PASSWORD, WRONG):
            check(password not in done.stderr + done.stdout, "no password is told", done.stderr)
        return done

    def arrives(self, broker: Broker, *properties: str) -> None:
        done = self.send(self.command, broker, properties)
        check(done.returncode == 0, f"ends well with {properties[:2]}", done.stderr)
        check(sorted(value.decode() for value in broker.values) == self.records,
              "each record once, unchanged", (len(broker.values), len(self.records)))

    def fails(self, broker: Broker, sentence: str, *properties: str) -> None:
        done = self.send(self.command, broker, properties)
        check(done.returncode == 1, f"ends with 1 with {properties[:2]}", done)
        check(sentence.lower() in done.stderr.lower(), f"says {sentence}", done.stderr)
        done = self.send([self.sender, "10", "live"], broker, properties)
        counted = {name: int(value) for name, value in
                   (line.split() for line in done.stdout.splitlines())}
        check(done.returncode == 1 and counted["drops"] == counted["taken"] == 10, "all are lost",
              counted)
        check(counted["error_denied"] > 0, "and it is counted why", counted)
        check(not broker.values, "nothing went there", broker.values[:1])


def sasl(mechanism: str, password: str = PASSWORD) -> list[str]:
    return [f"sasl.mechanism={mechanism}", f"sasl.username={USER}", f"sasl.password={password}"]


def over_tls(trial: Trial) -> None:
    with Broker("flows", trial.own) as broker:
        trial.arrives(broker, "security.protocol=ssl", f"ssl.ca.location={trial.own}")
        check(broker.encrypted > 0, "encrypted")
    with Broker("flows", trial.own) as broker:
        trial.fails(broker, "certificate", "security.protocol=ssl",
                    f"ssl.ca.location={trial.other}")


def by_password(trial: Trial, mechanism: str) -> None:
    trust = ["security.protocol=sasl_ssl", f"ssl.ca.location={trial.own}"]
    with Broker("flows", trial.own, mechanism, USER, PASSWORD) as broker:
        trial.arrives(broker, *trust, *sasl(mechanism))
        check(set(broker.mechanisms) == {mechanism}, "as asked for", broker.mechanisms)
    with Broker("flows", trial.own, mechanism, USER, PASSWORD) as broker:
        trial.fails(broker, "authentication", *trust, *sasl(mechanism, WRONG))


def by_plain(trial: Trial) -> None:
    by_password(trial, "PLAIN")


def by_scram(trial: Trial) -> None:
    by_password(trial, "SCRAM-SHA-256")


def without_what_the_broker_wants(trial: Trial) -> None:
    with Broker("flows", None, "PLAIN", USER, PASSWORD) as broker:
        trial.arrives(broker, "security.protocol=sasl_plaintext", *sasl("PLAIN"))
    with Broker("flows", None, "PLAIN", USER, PASSWORD) as broker:
        trial.fails(broker, "mechanism", "security.protocol=sasl_plaintext",
                    *sasl("SCRAM-SHA-256"))


TESTS = (over_tls, by_plain, by_scram, without_what_the_broker_wants)


def main() -> None:
    # Who does not get through tries for some seconds.
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(len(TESTS)) as pool:
        trial = Trial(Path(scratch), *sys.argv[1:])
        runs = {test.__name__: pool.submit(test, trial) for test in TESTS}
        for name, run in runs.items():
            run.result()
            print(f"{name}: ok", flush=True)


main()
