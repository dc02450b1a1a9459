# SPDX-License-Identifier: BSD-3-Clause
"""lull doctor: what lull-flow was built with."""

from pathlib import Path

import pytest

from lull.doctor.doctor import check_flow_program


@pytest.mark.parametrize(("content", "status", "words"), [
    (b"\0libndpi.so.4\0librdkafka.so.1\0", "ok", "with nDPI and Kafka"),
    (b"\0librdkafka.so.1\0", "note", "without libndpi-dev (protocols are not identified)"),
    (b"\0libndpi.so.4\0", "note", "without librdkafka-dev (no export to Kafka)"),
    (None, "note", "not built")])
def test_libraries(content: bytes | None, status: str, words: str, tmp_path: Path,
                   monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LULL_BUILD", str(tmp_path))
    if content is not None:
        program = tmp_path / "apps" / "lull-flow" / "lull-flow"
        program.parent.mkdir(parents=True)
        program.write_bytes(content)
        program.chmod(0o755)
    check = check_flow_program()
    assert check.status == status
    assert words in check.found
    assert bool(check.remedy) == (status != "ok")
