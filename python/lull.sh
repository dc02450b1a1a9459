#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The lull command as installed: its libraries lie next to it where `make install` put them;
# a package may rely on those of the system instead.
prefix=$(dirname "$(dirname "$(readlink -f "$0")")")
python=$prefix/lib/lull/venv/bin/python
if [ ! -x "$python" ]; then
	python=/usr/bin/python3
	"$python" -c 'import click, elftools, jinja2, matplotlib, pydantic, rich' || {
		echo "lull: a Python library is missing (above); to install all of them:"
		echo "  python3 -m venv $prefix/lib/lull/venv"
		echo "  $prefix/lib/lull/venv/bin/pip install \\"
		echo "    -r $prefix/share/lull/requirements.txt"
		exit 1
	} >&2
fi
PYTHONPATH=$prefix/share/lull/python${PYTHONPATH:+:$PYTHONPATH} exec "$python" -m lull "$@"
