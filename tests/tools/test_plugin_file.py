# SPDX-License-Identifier: BSD-3-Clause
"""Where the plugin is looked for, and where EAL would not take it from."""

from pathlib import Path

import pytest

from lull.errors import LullError
from lull.wrap import plugin_file


def test_found_below_lull_build(plugin: Path) -> None:
    assert plugin_file.find(23) == (plugin, "")
    plugin.unlink()
    with pytest.raises(LullError, match=f"{plugin} is missing: build it, or unset LULL_BUILD"):
        plugin_file.find(23)


def test_found_in_checkout_then_installed(plugin: Path, safe: Path, tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LULL_BUILD")
    prefix = safe / "usr"
    monkeypatch.setattr(plugin_file, "CHECKOUT", tmp_path)
    monkeypatch.setattr(plugin_file, "INSTALLED", (prefix,))
    with pytest.raises(LullError, match=r"neither built nor installed: .*make install"):
        plugin_file.find(23)
    installed = prefix / "lib" / "lull" / "dpdk-23" / plugin_file.NAME
    installed.parent.mkdir(parents=True)
    plugin.rename(installed)
    assert plugin_file.find(23) == (installed, "")
    built = tmp_path / "build" / "plugin" / "dpdk-23" / plugin_file.NAME
    built.parent.mkdir(parents=True)
    built.write_bytes(b"\x7fELF")
    tmp_path.chmod(0o777)
    path, remark = plugin_file.find(23)
    assert path == installed
    assert f"{built} lies below" in remark
    assert remark.endswith(f"taking {installed} instead")
    # Installed, the package is in PREFIX/share/lull/python.
    monkeypatch.setattr(plugin_file, "CHECKOUT", prefix / "share" / "lull")
    monkeypatch.setattr(plugin_file, "INSTALLED", ())
    assert plugin_file.find(23) == (installed, "")
    installed.unlink()
    with pytest.raises(LullError, match="in the sources of lull"):
        plugin_file.find(23)


def test_world_writable(plugin: Path, safe: Path) -> None:
    assert plugin_file.refusal(plugin) == ""
    link = safe / "link.so"
    link.symlink_to(plugin)
    plugin.parent.chmod(0o777)
    for path in (plugin, link):
        with pytest.raises(LullError) as caught:
            plugin_file.choose(path, Path(), {})
        assert str(caught.value).startswith(
            f"{plugin} lies below {plugin.parent}, which is world-writable, and DPDK loads no such "
            f"plugin: 'chmod o-w {plugin.parent}', or install it (")
    plugin.parent.chmod(0o755)
    plugin.chmod(0o646)
    with pytest.raises(LullError, match=f"^{plugin} is world-writable.*'chmod o-w {plugin}'"):
        plugin_file.find(23)
    # A directory of many users is not to be mended, it is the wrong place.
    plugin.chmod(0o644)
    safe.chmod(0o1777)
    with pytest.raises(LullError, match="or copy it to a safe place") as caught:
        plugin_file.find(23)
    assert "chmod" not in str(caught.value)
