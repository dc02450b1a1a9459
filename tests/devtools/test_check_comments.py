# SPDX-License-Identifier: BSD-3-Clause
"""devtools/check-comments and check-examples: a header that says what is not so is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tree_with import run, tree_with

HEADER = """/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Shop: sell things.
 *
 * @code
 * #include <lull/shop.h>
 *
 * int
 * sell(struct lull_shop *shop)
 * {
 *         return lull_shop_sell(shop, 1);
 * }
 * @endcode
 *
 * Threads: any.
 */
#ifndef LULL_SHOP_H
#define LULL_SHOP_H

#define LULL_SHOP_MAX 7

/** What was sold: sold = cash + credit. */
struct lull_shop_counters {
	unsigned long sold, cash, credit;
};
/** A shop. */
struct lull_shop {
	struct lull_shop_counters counters; /**< read by any thread */
};
/**
 * Sell some, at most LULL_SHOP_MAX; lull_shop_close() ends it, counters->sold tells.
 * @param count  how many
 * @return 0 or -EINVAL
 */
int lull_shop_sell(struct lull_shop *shop, int count);
/** Close @p shop. */
void lull_shop_close(struct lull_shop *shop);
/** Shops, ended by NULL. */
extern const struct lull_shop *const lull_shops[];

#endif
"""
PAGE = """# Page

```c
lull_shop_close(0);
```
"""
FILES = {"include/lull/shop.h": HEADER, "include/lull/rest.h": "#include <lull/shop.h>\n"}
SCRIPTS = ["check-comments", "check-examples", "header.py", "tree.py"]


def check(root: Path, name: str, header: str = HEADER, page: str = PAGE) -> tuple[int, str]:
    files = {**FILES, "include/lull/shop.h": header, "README.md": page}
    return run(tree_with(root, SCRIPTS, files), f"devtools/{name}")


def test_comments__that_are_right_pass(tmp_path: Path) -> None:
    assert check(tmp_path, "check-comments") == (
        0,
        "check-comments: comments of public headers, no complaint\n",
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("/** Close @p shop. */\n", "", "lull_shop_close() has no comment"),
        ("/** Shops, ended by NULL. */\n", "", "lull_shops has no comment"),
        (" * @return 0 or -EINVAL\n", "", "lull_shop_sell(): no @return"),
        (" * Threads: any.\n", "", "does not say which threads"),
        ("lull_shop_close() ends it", "lull_shop_shut() ends it", "there is no lull_shop_shut"),
        ("at most LULL_SHOP_MAX", "at most LULL_SHOP_MOST", "there is no LULL_SHOP_MOST"),
        ("/** A shop. */", "/** A struct lull_store. */", "there is no lull_store"),
        ("@param count", "@param number", "lull_shop_sell() has no parameter number"),
        ("counters->sold", "counters->gone", "no struct has a member gone"),
        ("cash + credit.", "cash + cheques.", "lull_shop_counters has no member cheques"),
        (" * @endcode\n", "", "@code and @endcode do not match"),
        (" * @code\n", " *     sell(1);\n *\n * @code\n", "an example outside of @code"),
    ],
)
def test_comments__that_are_wrong_are_refused(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    assert before in HEADER
    status, text = check(tmp_path, "check-comments", HEADER.replace(before, after, 1))
    assert status == 1
    assert said in text


def test_examples__that_compile_pass(tmp_path: Path) -> None:
    assert check(tmp_path, "check-examples") == (0, "check-examples: 2 examples, no complaint\n")


def test_examples__of_headers_must_compile(tmp_path: Path) -> None:
    wrong = HEADER.replace("lull_shop_sell(shop, 1);\n * }", "lull_shop_sell(shop);\n * }")
    status, text = check(tmp_path, "check-examples", wrong)
    assert status == 1
    assert "include/lull/shop.h:7: does not compile" in text
    assert "include/lull/shop.h:12:" in text
    assert "too few arguments" in text


@pytest.mark.parametrize("wrong", ["lull_shop_shut(0);", "int unused;"])
def test_examples__of_pages_must_compile(tmp_path: Path, wrong: str) -> None:
    page = PAGE.replace("lull_shop_close(0);", wrong)
    status, text = check(tmp_path, "check-examples", page=page)
    assert status == 1
    assert "README.md:4: does not compile" in text


def test_examples__are_somewhere(tmp_path: Path) -> None:
    bare = HEADER.replace("@code", "").replace("@endcode", "")
    assert check(tmp_path, "check-examples", bare, "# Page\n")[0] == 1


@pytest.mark.parametrize(("body", "status"), [("return p->x;", 0), ("return p->gone;", 1)])
def test_examples__functions_that_a_patch_adds(tmp_path: Path, body: str, status: int) -> None:
    lines = ["struct pmd {", "    int x;", "};", "", "static int", "f(const struct pmd *p)"]
    lines += ["{", f"    {body}", "}"]
    patch = "@@ -1,1 +1,10 @@\n" + "".join(f"+{line}\n" for line in lines) + " old\n"
    files = {**FILES, "README.md": PAGE, "include/lull/shop.h": HEADER}
    files["examples/openvswitch/0001.patch"] = patch
    found, text = run(tree_with(tmp_path, SCRIPTS, files), "devtools/check-examples")
    assert found == status
    assert ("0001.patch:2: does not compile" in text) == (status == 1)
