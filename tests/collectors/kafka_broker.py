# SPDX-License-Identifier: BSD-3-Clause
"""A Kafka broker with one topic of one partition, behind TLS and SASL, as far as a producer goes.

It takes connections, each in a thread of its own, asks for the mechanism that it was made with, and
keeps the values of all messages. PLAIN is RFC 4616, SCRAM RFC 5802; what the broker says follows
Kafka's protocol guide.
"""

import base64
import hashlib
import hmac
import os
import socket
import ssl
import struct
import threading
from contextlib import suppress

PRODUCE, FETCH, METADATA, HANDSHAKE, VERSIONS, PRODUCER_ID, AUTHENTICATE = 0, 1, 3, 17, 18, 22, 36
SPOKEN = {PRODUCE: 3, FETCH: 4, METADATA: 1, HANDSHAKE: 1, VERSIONS: 0, PRODUCER_ID: 0,
          AUTHENTICATE: 0}
UNSUPPORTED_VERSION, UNSUPPORTED_MECHANISM, AUTHENTICATION_FAILED = 35, 33, 58
ITERATIONS = 4096


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


class Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self, form: str) -> int:
        value: int = struct.unpack_from(">" + form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def take(self, count: int) -> bytes:
        self.at += max(count, 0)
        return self.data[self.at - max(count, 0):self.at]

    def text(self) -> str:
        return self.take(self.number("h")).decode()

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.number("B")
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value >> 1 ^ -(value & 1)


class Scram:
    """The server's side of SCRAM-SHA-256."""

    def __init__(self, user: str, password: str) -> None:
        self.user, self.salt = user, os.urandom(16)
        self.salted = hashlib.pbkdf2_hmac("sha256", password.encode(), self.salt, ITERATIONS)
        self.said = ""

    def answer(self, data: bytes) -> bytes | None:
        """None: it is somebody else."""
        if not self.said:
            bare = data.decode().split(",", 2)[2]
            fields = dict(part.split("=", 1) for part in bare.split(","))
            self.nonce = fields["r"] + "server"
            first = (f"r={self.nonce},s={base64.b64encode(self.salt).decode()},i={ITERATIONS}")
            self.said = f"{bare},{first}"
            return first.encode() if fields["n"] == self.user else None
        final, proof = data.decode().rsplit(",p=", 1)
        said = f"{self.said},{final}".encode()
        key = hmac.digest(self.salted, b"Client Key", "sha256")
        stored = hashlib.sha256(key).digest()
        mask = hmac.digest(stored, said, "sha256")
        shown = bytes(a ^ b for a, b in zip(base64.b64decode(proof), mask, strict=True))
        # librdkafka 2.0 puts its own nonce in front once more, which brokers pass over.
        if hashlib.sha256(shown).digest() != stored or not final.endswith(self.nonce):
            return None
        server = hmac.digest(self.salted, b"Server Key", "sha256")
        return b"v=" + base64.b64encode(hmac.digest(server, said, "sha256"))


class Broker:
    """@p certificate None: no TLS. @p mechanism "": no SASL."""

    def __init__(self, topic: str, certificate: str | None, mechanism: str = "",
                 user: str = "", password: str = "") -> None:
        self.topic, self.mechanism, self.user, self.password = topic, mechanism, user, password
        self.values: list[bytes] = []
        self.mechanisms: list[str] = []  # asked for
        self.encrypted = 0  # connections
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def __enter__(self) -> "Broker":
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.close()

    def listen(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        # Peers end as they like; what does not arrive the test notices.
        with suppress(OSError, EOFError, ssl.SSLError, struct.error), connection:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
                self.encrypted += 1
            self.talk(connection)

    @staticmethod
    def receive(connection: socket.socket, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = connection.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def talk(self, connection: socket.socket) -> None:
        scram = Scram(self.user, self.password)
        known = not self.mechanism
        while True:
            size = struct.unpack(">i", self.receive(connection, 4))[0]
            reader = Reader(self.receive(connection, size))
            what, version, number = reader.number("h"), reader.number("h"), reader.number("i")
            reader.text()  # who asks
            if what == AUTHENTICATE:
                answer, known = self.authenticate(reader, scram)
            elif what in (VERSIONS, HANDSHAKE) or known:
                answer = self.answer(what, version, reader)
            else:
                return
            connection.sendall(struct.pack(">ii", 4 + len(answer), number) + answer)

    def authenticate(self, reader: Reader, scram: Scram) -> tuple[bytes, bool]:
        data = reader.take(reader.number("i"))
        if self.mechanism == "PLAIN":
            right = data == f"\0{self.user}\0{self.password}".encode()
            said: bytes | None = b"" if right else None
        else:
            said = scram.answer(data)
        if said is None:
            return struct.pack(">h", AUTHENTICATION_FAILED) + text("wrong user or password") \
                + struct.pack(">i", 0), False
        return struct.pack(">hhi", 0, -1, len(said)) + said, not said.startswith(b"r=")

    def answer(self, what: int, version: int, reader: Reader) -> bytes:
        if what == VERSIONS:
            spoken = b"".join(struct.pack(">hhh", key, 0, most) for key, most in SPOKEN.items())
            wrong = UNSUPPORTED_VERSION if version > SPOKEN[VERSIONS] else 0
            return struct.pack(">hi", wrong, len(SPOKEN)) + spoken
        if what == HANDSHAKE:
            self.mechanisms.append(reader.text())
            wrong = 0 if self.mechanisms[-1] == self.mechanism else UNSUPPORTED_MECHANISM
            return struct.pack(">hi", wrong, 1) + text(self.mechanism)
        if what == METADATA:
            # The broker, which also is the controller; the topic and its partition.
            return (struct.pack(">ii", 1, 1) + text("127.0.0.1") + struct.pack(">ih", self.port, -1)
                    + struct.pack(">iih", 1, 1, 0) + text(self.topic)
                    + struct.pack(">bihiiiiii", 0, 1, 0, 0, 1, 1, 1, 1, 1))
        if what == PRODUCER_ID:
            return struct.pack(">ihqh", 0, 0, 1, 0)
        if what == PRODUCE:
            return self.produce(reader)
        raise EOFError

    def produce(self, reader: Reader) -> bytes:
        reader.text()  # of a transaction, none
        reader.take(2 + 4 + 4)  # acknowledgements, time, topics: one
        reader.text()
        reader.take(4 + 4)  # partitions: one
        self.keep(Reader(reader.take(reader.number("i"))))
        return (struct.pack(">i", 1) + text(self.topic)
                + struct.pack(">iihqqi", 1, 0, 0, len(self.values), -1, 0))

    def keep(self, batch: Reader) -> None:
        batch.take(57)
        for _ in range(batch.number("i")):
            record = Reader(batch.take(batch.varint()))
            record.take(1)  # attributes
            record.varint()  # time
            record.varint()  # offset
            record.take(record.varint())  # key
            self.values.append(record.take(record.varint()))
