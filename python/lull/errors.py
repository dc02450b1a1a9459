# SPDX-License-Identifier: BSD-3-Clause
"""Error: one line that names the thing that is wrong and the way out."""


class LullError(Exception):
    """Shown to the user as it is, without a traceback; `status` is the exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(" ".join(message.split()))
        self.status = status


class Interrupted(BaseException):
    """A signal asks the command to end; not an Exception so that nothing swallows it."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(f"signal {signal_number}")
        self.status = 128 + signal_number


class ReaderGone(Exception):  # noqa: N818 - nothing went wrong
    """Whoever read our output has had enough of it."""
