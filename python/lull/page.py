# SPDX-License-Identifier: BSD-3-Clause
"""Page: HTML from a template of this package, one file that needs nothing else."""

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def fill(template: str, filters: dict[str, Callable[..., Any]],
         **values: Any) -> str:  # noqa: ANN401 - what a template takes
    """Render a template; a name it does not get is an error."""
    environment = Environment(loader=PackageLoader("lull", "."), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(filters)
    return environment.get_template(template).render(**values)
