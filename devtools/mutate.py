# SPDX-License-Identifier: BSD-3-Clause
"""All mutants of a C file in one text, chosen at run time by number.

A mutant is one small mistake: `<` for `<=`, a condition that always holds, a statement left out.
Written side by side (`lull_mutant(7) ? a <= b : a < b`) they need one build instead of thousands.
The grammar comes from tree-sitter; what stands in a place that must be constant (sizes of arrays,
case labels, static data) stays as it is.

With LULL_MUTANT_SEEN a test notes the mutants that would have changed something at their own place:
another value, another branch. One that never does cannot fail the test. Where the other form
cannot be tried safely (it calls, it divides, it follows a pointer) having been there counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import tree_sitter
import tree_sitter_c

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))

OPERATORS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "+": ("-",),
    "-": ("+",),
    "*": ("+",),
    "/": ("*",),
    "%": ("+",),
    "&": ("|",),
    "|": ("&",),
    "^": ("|",),
    "<<": (">>",),
    ">>": ("<<",),
}
ASSIGNED = {"+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "|=": "&=", "&=": "|=", "<<=": ">>=",
            ">>=": "<<=", "^=": "|="}  # fmt: skip
CONSTANT = {"sizeof_expression", "alignof_expression", "offsetof_expression", "string_literal",
            "concatenated_string", "char_literal", "type_descriptor", "comment",
            "parameter_list", "attribute_specifier", "gnu_asm_expression"}  # fmt: skip
ASSERTED = re.compile(r"^(LULL_ASSERT\w*|assert|static_assert|_Static_assert|LULL_BUILD_\w*)$")
HEAD = """\
#ifndef LULL_MUTANT_HEAD
#define LULL_MUTANT_HEAD
extern int lull_mutant_active;
extern unsigned char *lull_mutant_seen;
static inline int lull_mutant_is(int number);
static inline int
lull_mutant_is(int number)
{
	return __builtin_expect(lull_mutant_active == number, 0);
}
static inline void lull_mutant_tell(int number);
static inline void
lull_mutant_tell(int number)
{
	lull_mutant_seen[number] = 1;
}
static inline int lull_mutant(int number);
static inline int
lull_mutant(int number)
{
	if (__builtin_expect(lull_mutant_seen != 0, 0))
		lull_mutant_tell(number);
	return lull_mutant_is(number);
}
#endif
"""
MACRO = re.compile(r"^LULL_[A-Z_]+$")
IMPURE = {"assignment_expression", "update_expression", "compound_statement"}
UNSAFE = re.compile(r"->|[*/%\[]")


@dataclass
class Mutant:
    """One mistake: where it is, and what it makes of what."""

    number: int
    file: str
    line: int
    function: str
    before: str
    after: str
    again: int  # how many of the same text stand before it in this function
    classic: bool = False  # from devtools/mutants-classic.txt

    def where(self) -> str:
        """What names it as long as the code stays: lines move, texts do not."""
        place = f"{self.file}:{self.function}: {self.before} -> {self.after}"
        return f"{place} ({self.again + 1})" if self.again else place


@dataclass
class Writer:
    """Writes one file with its mutants; `refused` are numbers that did not compile.

    `classic` are mistakes to make besides: function, text, what stands in its place.
    """

    file: str
    source: bytes
    numbers: Iterator[int]
    refused: set[int] = field(default_factory=set)
    classic: list[tuple[str, str, str]] = field(default_factory=list)
    mutants: list[Mutant] = field(default_factory=list)
    function: str = ""

    def text(self, node: tree_sitter.Node) -> str:
        """The node as it stands in the file."""
        return self.source[node.start_byte : node.end_byte].decode()

    def add(self, node: tree_sitter.Node, after: str, before: str | None = None) -> int | None:
        """The number of a new mutant, or None when it is known not to compile."""
        number = next(self.numbers)
        if number in self.refused:
            return None
        flat = " ".join((before or self.text(node)).split())
        after = " ".join(after.split())
        again = sum((other.function, other.before, other.after) == (self.function, flat, after)
                    for other in self.mutants)  # fmt: skip
        line = node.start_point[0] + 1
        self.mutants.append(
            Mutant(number, self.file, line, self.function, flat, after, again)
        )
        return number

    def write(self) -> str:
        """The whole file."""
        root = PARSER.parse(self.source).root_node
        return HEAD + self.children(root, self.outside)

    def children(
        self,
        node: tree_sitter.Node,
        each: Callable[[tree_sitter.Node], str],
        other: Callable[[tree_sitter.Node], bool] = lambda child: True,
    ) -> str:
        """The node with `each` of its children, and what stands between them."""
        parts: list[str] = []
        at = node.start_byte
        for child in node.children:
            parts.append(self.source[at : child.start_byte].decode())
            parts.append(each(child) if other(child) else self.text(child))
            at = child.end_byte
        parts.append(self.source[at : node.end_byte].decode())
        return "".join(parts)

    def outside(self, node: tree_sitter.Node) -> str:
        """What is not in a function: only functions are changed."""
        if node.type == "function_definition":
            declarator = node.child_by_field_name("declarator")
            while declarator is not None and declarator.type != "identifier":
                declarator = declarator.child_by_field_name("declarator")
            self.function = self.text(declarator) if declarator is not None else ""
            body = node.child_by_field_name("body")
            return self.children(node, self.inside, lambda child: child == body)
        if node.type in ("translation_unit", "preproc_ifdef", "preproc_if", "preproc_else"):
            return self.children(node, self.outside)
        return self.text(node)

    def inside(self, node: tree_sitter.Node) -> str:
        """A node within a function."""
        write = getattr(self, f"write_{node.type}", None)
        if node.type in CONSTANT or not node.is_named:
            return self.text(node)
        text: str = write(node) if write else self.children(node, self.inside)
        flat = " ".join(self.text(node).split())
        for function, before, after in self.classic:
            if (function, before) == (self.function, flat):
                text = self.replaced(node, after, text)
        return text

    def replaced(self, node: tree_sitter.Node, after: str, text: str) -> str:
        """A statement or an expression with a classic mistake in its place."""
        number = self.add(node, after)
        if number is None:
            return text
        self.mutants[-1].classic = True
        if node.type.endswith("_statement"):
            after = "" if after == "nothing" else after
            mark = f"/*M{number}*/"
            return f"{{ if (lull_mutant({number}))\n{mark} {{ {after} }} else {{ {text} }} }}"
        return f"(lull_mutant({number}) ?\n/*M{number}*/ ({after})\n: ({text}))"

    def pure(self, node: tree_sitter.Node) -> bool:
        """Reckoned twice it gives the same and changes nothing."""
        if node.type in IMPURE:
            return False
        if node.type == "call_expression":
            function = node.child_by_field_name("function")
            if function is None or not MACRO.match(self.text(function)):
                return False
        return all(self.pure(child) for child in node.children)

    def safe(self, node: tree_sitter.Node) -> bool:
        """Its other forms can be reckoned beside it: they reach for nothing that it does not."""
        lazy = node.type == "conditional_expression" or any(
            child.type in ("&&", "||") for child in node.children
        )
        return self.pure(node) and not (lazy and UNSAFE.search(self.text(node)))

    def choice(self, node: tree_sitter.Node, others: list[str]) -> str:
        """An expression with other forms of itself, each on a line of its own."""
        text = self.children(node, self.inside)
        safe = self.safe(node)
        for other in others:
            number = self.add(node, other)
            if number is None:
                continue
            if safe:
                text = compared(number, text, other)
            else:
                text = f"(lull_mutant({number}) ?\n/*M{number}*/ ({other})\n: ({text}))"
        return text

    def write_binary_expression(self, node: tree_sitter.Node) -> str:
        """Another operator."""
        left, sign, right = node.children[0], node.children[-2], node.children[-1]
        others = OPERATORS.get(sign.type, ())
        if self.is_same_at_the_edge(node):
            others = others[1:]
        return self.choice(
            node, [f"{self.text(left)} {other} {self.text(right)}" for other in others]
        )

    def is_same_at_the_edge(self, node: tree_sitter.Node) -> bool:
        """`a > b` of `a > b ? a - b : 0`: with `>=` it is 0 as well."""
        choice = node.parent
        if choice is None or choice.type != "conditional_expression":
            return False
        left, right = self.text(node.children[0]), self.text(node.children[-1])
        return (node.children[1].type == ">" and choice.children[0] == node
                and self.text(choice.children[-1]) == "0"
                and " ".join(self.text(choice.children[2]).split()) == f"{left} - {right}")

    def write_unary_expression(self, node: tree_sitter.Node) -> str:
        """Without its sign."""
        return self.choice(node, [self.text(node.children[-1])])

    def write_number_literal(self, node: tree_sitter.Node) -> str:
        """One more."""
        return self.choice(node, [f"{self.text(node)} + 1"])

    def write_true(self, node: tree_sitter.Node) -> str:
        """The other truth."""
        return self.choice(node, ["false"])

    def write_false(self, node: tree_sitter.Node) -> str:
        """The other truth."""
        return self.choice(node, ["true"])

    def write_conditional_expression(self, node: tree_sitter.Node) -> str:
        """Always the one, always the other."""
        return self.choice(node, [self.text(node.children[2]), self.text(node.children[-1])])

    def write_call_expression(self, node: tree_sitter.Node) -> str:
        """What asserts is no code to break; of other calls the arguments are."""
        function = node.child_by_field_name("function")
        if function is not None and ASSERTED.match(self.text(function)):
            return self.text(node)
        return self.children(node, self.inside, lambda child: child.type == "argument_list")

    def write_declaration(self, node: tree_sitter.Node) -> str:
        """Of a local variable only what it begins with, and only where that may vary."""
        if any(self.text(child) in ("static", "extern") for child in node.children):
            return self.text(node)
        return self.children(
            node, self.initialized, lambda child: child.type == "init_declarator"
        )

    def initialized(self, node: tree_sitter.Node) -> str:
        """`name = value`."""
        value = node.child_by_field_name("value")
        return self.children(node, self.inside, lambda child: child == value)

    def write_initializer_pair(self, node: tree_sitter.Node) -> str:
        """`.name = value`."""
        value = node.child_by_field_name("value")
        return self.children(node, self.inside, lambda child: child == value)

    def write_case_statement(self, node: tree_sitter.Node) -> str:
        """The label stays."""
        value = node.child_by_field_name("value")
        return self.children(node, self.inside, lambda child: child != value)

    def write_if_statement(self, node: tree_sitter.Node) -> str:
        """A condition that always holds, and one that never does."""
        condition = node.child_by_field_name("condition")

        def each(child: tree_sitter.Node) -> str:
            if child != condition:
                return self.inside(child)
            inner = self.children(child, self.inside)
            pure = self.pure(child)
            for other in ("true", "false"):
                number = self.add(child, f"if ({other})", f"if {self.text(child)}")
                if number is None:
                    continue
                if pure:
                    inner = f"({compared(number, f'!!({inner})', other)})"
                else:
                    inner = f"(lull_mutant({number}) ?\n/*M{number}*/ {other}\n: {inner})"
            return inner

        return self.children(node, each)

    def left_out(self, node: tree_sitter.Node, text: str) -> str:
        """A statement that may be missing."""
        number = self.add(node, "nothing")
        if number is None:
            return text
        target = self.kept(node)
        if target is not None:
            return (
                f"{{ __typeof__({target}) lull_old = {target}; if (!lull_mutant_is({number}))\n"
                f"/*M{number}*/ {{ {text} }} if (lull_mutant_seen != 0 && "
                f"__builtin_memcmp(&lull_old, &({target}), sizeof(lull_old)) != 0) "
                f"lull_mutant_tell({number}); }}"
            )
        return f"{{ if (!lull_mutant({number}))\n/*M{number}*/ {{ {text} }} }}"

    def kept(self, node: tree_sitter.Node) -> str | None:
        """The place of an assignment that outlives the function and calls nothing, if it is one."""
        inner = node.named_children[0] if node.named_children else None
        if inner is None or inner.type != "assignment_expression":
            return None
        left, right = inner.children[0], inner.children[-1]
        target = self.text(left)
        return target if "->" in target and self.pure(left) and self.pure(right) else None

    def write_expression_statement(self, node: tree_sitter.Node) -> str:
        """Left out, or added to another thing."""
        if not node.named_children:
            return self.text(node)
        inner = node.named_children[0]
        if inner.type == "call_expression":
            function = inner.child_by_field_name("function")
            if function is not None and ASSERTED.match(self.text(function)):
                return self.text(node)
        text = self.children(node, self.inside)
        if inner.type == "cast_expression" and self.text(inner).startswith("(void)"):
            return self.text(node)
        other = self.reverse(inner)
        if other is not None:
            number = self.add(node, other)
            if number is not None:
                mark = f"/*M{number}*/"
                text = f"{{ if (lull_mutant({number}))\n{mark} {other};\nelse {{ {text} }} }}"
        return self.left_out(node, text)

    def reverse(self, node: tree_sitter.Node) -> str | None:
        """`a -= b` for `a += b`, `a--` for `a++`."""
        if node.type == "assignment_expression":
            left, sign, right = node.children[0], node.children[1], node.children[2]
            if sign.type in ASSIGNED:
                return f"{self.text(left)} {ASSIGNED[sign.type]} {self.text(right)}"
        if node.type == "update_expression":
            text = self.text(node)
            return text.replace("++", "--") if "++" in text else text.replace("--", "++")
        return None

    def write_assignment_expression(self, node: tree_sitter.Node) -> str:
        """What is assigned varies, and which element of an array; not the target itself."""
        left = node.children[0]
        if left.type in ("subscript_expression", "field_expression", "pointer_expression"):
            return self.children(node, self.inside, lambda child: child.is_named)
        return self.children(node, self.inside, lambda child: child != left)

    def write_update_expression(self, node: tree_sitter.Node) -> str:
        """As a part of an expression it stays."""
        return self.text(node)

    def write_break_statement(self, node: tree_sitter.Node) -> str:
        """Left out."""
        return self.left_out(node, self.text(node))

    def write_continue_statement(self, node: tree_sitter.Node) -> str:
        """Left out."""
        return self.left_out(node, self.text(node))

    def write_return_statement(self, node: tree_sitter.Node) -> str:
        """Without a value: left out where it is not the last line; else 0 in its place."""
        if not node.named_children:
            return self.left_out(node, self.text(node))
        value = node.named_children[0]
        text = self.inside(value)
        if self.text(value) not in ("0", "false", "NULL"):
            number = self.add(node, "return 0;")
            if number is not None and self.pure(value):
                text = compared(number, text, "0")
            elif number is not None:
                text = f"(lull_mutant({number}) ?\n/*M{number}*/ 0\n: ({text}))"
        return f"return {text};"


def compared(number: int, text: str, other: str) -> str:
    """An expression, or another one in its place; whether they differ is told."""
    return (
        f"({{ __auto_type lull_was = ({text});\n/*M{number}*/ lull_mutant_is({number}) ? ({other}) "
        f": ((lull_mutant_seen != 0 && lull_was != ({other}) ? "
        f"lull_mutant_tell({number}) : (void)0), lull_was); }})"
    )
