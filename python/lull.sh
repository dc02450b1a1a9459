#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The lull command as installed: it uses the Python libraries of the system, or those of
# PREFIX/lib/lull/venv if someone made one there.
prefix=$(dirname "$(dirname "$(readlink -f "$0")")")
python=$prefix/lib/lull/venv/bin/python
if [ ! -x "$python" ]; then
	python=/usr/bin/python3
	"$python" -c 'import aiohttp, click, elftools, jinja2, matplotlib, rich' || {
		echo "lull: a Python library is missing (above); as root run:"
		echo "  apt-get install python3-aiohttp python3-click python3-jinja2 \\"
		echo "    python3-matplotlib python3-pyelftools python3-rich"
		echo "or, where those are too old or not wanted:"
		echo "  python3 -m venv $prefix/lib/lull/venv"
		echo "  $prefix/lib/lull/venv/bin/pip install \\"
		echo "    -r $prefix/share/lull/requirements.txt"
		exit 1
	} >&2
fi
PYTHONPATH=$prefix/share/lull/python${PYTHONPATH:+:$PYTHONPATH} exec "$python" -m lull "$@"
