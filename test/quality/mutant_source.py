"""Reads enough of the C++ of fastreduce.h and fastreduce.cuh to list the ways to break it.

A tokenizer and a parser of statements and expressions, by three rules that clang-format keeps true
here: a binary operator has blanks around it; the < of a template argument list has none before it,
nor has the { of an initial value, unlike a body's. Types are not known: the compiler says later
which changes it refuses.
"""
import bisect
import collections
import re

TOKEN = re.compile(r"""
    (?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*) | (?P<name>[A-Za-z_]\w*)
    | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|[^\s\w])""", re.X)
Token = collections.namedtuple("Token", "kind text begin end spaced")

PRIORITY = {"*": 13, "/": 13, "%": 13, "+": 12, "-": 12, "<<": 11, ">>": 11,
            "<": 10, "<=": 10, ">": 10, ">=": 10, "==": 9, "!=": 9,
            "&": 8, "^": 7, "|": 6, "&&": 5, "||": 4}
ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=")
TYPE_WORDS = {"unsigned", "signed", "int", "long", "short", "char", "bool", "float", "double",
              "void", "auto"}
SPECIFIERS = {"const", "constexpr", "static", "volatile", "extern", "typename", "__shared__"}

# Operators and what each becomes: another, or the "left" or "right" operand alone. Left out is what
# any test notices that notices others: && is || where both of its operands have been true for once,
# and == is != where it has been true and false.
INSTEAD = {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": [], "!=": [],
           "+": ["-", "right"], "-": ["+"], "*": ["/", "right"], "/": ["*"], "%": ["left"],
           "<<": [">>"], ">>": ["<<"], "&": ["|", "left"], "|": ["&", "left", "right"],
           "^": ["|", "left"], "&&": [], "||": [],
           "+=": ["-=", "="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "<<=": [">>="],
           ">>=": ["<<="], "|=": ["="], "^=": ["="]}
TRUTHS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")

# What a change does: `old` between begin and end becomes `new`. `before` and `after` are the words
# for it, which may be of more than what changes; `statement` is what encloses it.
Change = collections.namedtuple(
    "Change", "file function begin end new operator before after statement constant truth")


class Unreadable(Exception):
    """The parser met what it does not know."""


def without_comments(source):
    """The source with blanks instead of comments and of preprocessor lines; nothing moves."""
    def blanks(match):
        text = match.group()
        return text if text[0] in "\"'" else re.sub(r"[^\n]", " ", text)
    source = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blanks, source, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blanks, source, flags=re.M)


def tidy(text):
    """Text with each white space as one blank, and none at an inner side of a parenthesis."""
    return re.sub(r"(?<=\() | (?=\))", "", re.sub(r"\s+", " ", text)).strip()


class Node:
    """A part of an expression: kind, operator, place, parts."""

    def __init__(self, kind, begin, end, parts=(), sign=""):
        self.kind, self.begin, self.end, self.parts, self.sign = kind, begin, end, parts, sign


class Parser:
    """Goes through a file and calls `found` for each change."""

    def __init__(self, file, source, active):
        """active: the lines that some test compiles."""
        code = without_comments(source)
        lines, depth = code.split("\n"), 0
        for number, line in enumerate(lines, 1): # a macro's arguments all count as its first line
            if number not in active and depth == 0:
                lines[number - 1] = " " * len(line)
            else:
                depth += line.count("(") - line.count(")")
        code = "\n".join(lines)
        self.file, self.code, self.changes, self.loops, self.functions = file, code, [], [], []
        self.tokens, end = [], 0
        for match in TOKEN.finditer(code):
            self.tokens.append(Token(match.lastgroup, match.group(), match.start(), match.end(),
                                     match.start() > end))
            end = match.end()
        self.tokens.append(Token("end", "", len(code), len(code), True))
        self.starts = [token.begin for token in self.tokens]
        self.at = 0
        self.function, self.constant, self.statement_text = "", False, ""
        self.declarations("", len(code))

    # ---- Tokens

    def peek(self, ahead=0):
        """The text of a token to come."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)].text

    def token(self):
        """The next token, taken."""
        token = self.tokens[self.at]
        self.at += 1
        return token

    def expect(self, text):
        """Takes a token that has to be there."""
        token = self.token()
        if token.text != text:
            line = self.code.count("\n", 0, token.begin) + 1
            raise Unreadable(f"{self.file}:{line}: '{token.text}' where '{text}' was expected")
        return token

    def last_end(self):
        """Where the token before the next one ends."""
        return self.tokens[self.at - 1].end

    def is_value(self):
        """Whether the brace of an initial value is next, not of a body."""
        return self.peek() == "{" and not self.tokens[self.at].spaced

    def skip_group(self):
        """Passes by a parenthesis, bracket or brace with all that is in it."""
        depth = 0
        while True:
            text = self.token().text
            depth += (text in "([{") - (text in ")]}") if len(text) == 1 else 0
            if depth == 0:
                return
            if not text:
                raise Unreadable(f"{self.file}: unbalanced brackets")

    def pass_by(self):
        """Takes a token, or a bracket with all that is in it."""
        if self.peek() in ("(", "[", "{"):
            self.skip_group()
        else:
            self.at += 1

    def skip_template_list(self):
        """Passes by <...> if it is next and follows without a blank."""
        if self.peek() != "<" or self.tokens[self.at].spaced:
            return
        depth, first = 0, self.tokens[self.at].begin
        while True:
            text = self.peek()
            if text in ("(", "{"):
                self.skip_group()
                continue
            self.at += 1
            depth += {"<": 1, ">": -1, ">>": -2}.get(text, 0)
            if depth <= 0:
                return
            if not text:
                line = self.code.count("\n", 0, first) + 1
                raise Unreadable(f"{self.file}:{line}: an open template argument list")

    # ---- Namespaces, classes, functions

    def declarations(self, scope, end):
        """All declarations up to a place."""
        while self.tokens[self.at].begin < end and self.peek():
            self.declaration(scope)

    def declaration(self, scope):
        """One declaration, of which functions and a class's initial values are looked into."""
        first = self.at
        if self.peek().startswith("FASTREDUCE_DETAIL_") and self.peek(1) == "(": # a macro
            self.at += 1
            self.skip_group()
            return
        if self.peek() == "template":
            self.at += 1
            while self.peek() != "<":
                self.at += 1
            self.tokens[self.at] = self.tokens[self.at]._replace(spaced=False)
            self.skip_template_list()
        head = self.at
        if self.peek() in (";", "}"):
            self.at += 1
            return
        if self.peek() in ("public", "private", "protected") and self.peek(1) == ":":
            self.at += 2
            return
        while self.peek() not in (";", "{", "}", "=", "") or self.is_value():
            if self.peek() in ("(", "[", "{"):
                self.skip_group()
            elif self.tokens[self.at].kind == "name":
                self.at += 1
                self.skip_template_list()
            else:
                self.at += 1
        words = [token.text for token in self.tokens[head:self.at]]
        if self.peek() == "{":
            self.braced_declaration(scope, head, words)
        elif self.peek() == "=":
            plain = scope and not {"static", "constexpr", "using", "operator"} & set(words)
            self.at += 1
            if plain:
                self.function, self.constant = scope, True
                self.statement_text = self.text_between(first, self.at)
                self.mutate(self.initializer())
            while self.peek() not in (";", ""):
                self.pass_by()
            self.at += 1
        else:
            self.at += 1

    def braced_declaration(self, scope, head, words):
        """What is before an opening brace says what is in it."""
        opening = self.at
        self.skip_group()
        closing = self.at - 1
        kinds = [word for word in words if word in ("struct", "class", "union", "enum")]
        if words[1:2] == ["alignas"]:
            self.at = head + 2
            self.skip_group()
            del words[1:self.at - head]
        if words[:1] == ["namespace"] or words[:2] == ["inline", "namespace"] or \
                words[:1] == ["extern"]:
            self.at = opening + 1
            self.declarations(scope, self.tokens[closing].begin)
        elif words[:1] == ["enum"] or words[:2] == ["typedef", "enum"]:
            pass
        elif kinds and "(" not in words:
            name = words[words.index(kinds[0]) + 1:][:1] # none is an anonymous union's
            name = name[0] if name else scope
            self.at = opening + 1
            self.declarations(name, self.tokens[closing].begin)
        elif "(" in words:
            self.function_body(scope, head, opening, words)
        self.at = closing + 1

    def function_body(self, scope, head, opening, words):
        """A function: its name, its constructor's initializers, its statements."""
        self.at, name, colon = head, None, None
        while self.at < opening:
            token = self.token()
            if token.kind == "name":
                self.skip_template_list()
            if token.text == "operator":
                name = "operator()"
                self.skip_group()  # its name
                if self.peek() == "(":
                    self.skip_group()
            elif token.kind == "name" and self.peek() == "(":
                attribute = token.text in ("__launch_bounds__", "__attribute__", "__align__")
                inner = self.peek(1) if self.peek(2) == ")" and self.peek(3) == "(" else None
                if not attribute and not name:
                    name = inner or token.text
                self.skip_group()
            elif token.text == ":" and name and colon is None:
                colon = self.at
        self.function = "::".join(filter(None, [scope, name]))
        self.constant = "constexpr" in words
        closing = self.at
        self.at = opening
        self.skip_group()
        self.functions.append((self.function, self.tokens[head].begin, self.last_end()))
        self.at = closing
        if colon is not None:
            self.at = colon
            while self.at < opening:
                self.statement_text = self.function
                self.token()
                first, last = "{}" if self.is_value() else "()"
                self.expect(first)
                self.mutate(self.list_until(last))
                if self.peek() == ",":
                    self.at += 1
        self.at = opening
        self.statement()

    # ---- Statements

    def text_between(self, first, last):
        """The text from one token to before another."""
        return tidy(self.code[self.tokens[first].begin:self.tokens[last - 1].end])

    def statement(self):
        """One statement; what it says can be changed is noted down."""
        while self.peek() == "[" and self.tokens[self.at + 1].text == "[": # an attribute
            while self.peek() != "]":
                self.at += 1
            self.at += 2
        text = self.peek()
        first = self.at
        if text == "{":
            self.at += 1
            while self.peek() != "}":
                self.statement()
            self.at += 1
        elif text in ("if", "switch"):
            self.at += 1
            if self.peek() == "constexpr":
                self.at += 1
            self.header(first, truth=text == "if", fixed=self.tokens[self.at - 1].text ==
                        "constexpr")
            self.statement()
            if self.peek() == "else":
                self.at += 1
                self.statement()
        elif text == "while":
            self.at += 1
            self.header(first, truth=True, loop=True)
            self.loop_body(first)
        elif text == "for":
            self.for_loop()
        elif text == "do":
            self.at += 1
            body = self.loop_body()
            condition = self.at
            self.expect("while")
            self.header(condition, truth=True, loop=True)
            self.expect(";")
            self.note_loop(first, body)
        elif text in ("case", "default"):
            while self.peek() != ":":
                self.at += 1
            self.at += 1
        elif text in ("FASTREDUCE_DETAIL_TYPES", "FASTREDUCE_DETAIL_OPERATORS"): # cases of a list
            while self.token().text != ")":
                pass
        elif text == "return":
            self.at += 1
            self.note_statement(first)
            if self.peek() != ";":
                self.mutate(self.initializer())
            self.expect(";")
        elif text in ("using", "typedef", "static_assert", "asm", "break", "continue", ";") or \
                text == "struct" and self.peek(2) == "{":
            self.skip_statement()
        elif self.is_declaration():
            self.note_statement(first)
            self.declared_variables()
        else:
            self.note_statement(first)
            node = self.expression()
            self.expect(";")
            self.mutate(node)
            if node.kind in ("assign", "call", "step"):
                self.change(node.begin, self.last_end(), "", "dropped", node,
                            self.code[node.begin:node.end], "nothing")

    def skip_statement(self):
        """Passes by a statement that has nothing to change."""
        while self.peek() not in (";", ""):
            self.pass_by()
        self.at += 1

    def note_statement(self, first):
        """Remembers the text up to the semicolon, or brace of a lambda, as what encloses."""
        here, self.at = self.at, first
        while self.peek() not in (";", ""):
            self.pass_by()
        self.statement_text = self.text_between(first, self.at)
        self.at = here

    def note_header(self, first):
        """Remembers a statement up to its body, or the end of that if it is another statement;
        where the parenthesis begins."""
        self.expect("(")
        here = self.at
        self.at -= 1
        self.skip_group()
        after = self.at
        while self.peek() not in (";", "{", ""):
            self.pass_by()
        self.statement_text = self.text_between(first, self.at)
        self.at = after
        return here

    def header(self, first, truth, loop=False, fixed=False):
        """The condition of a statement, in parentheses."""
        here = self.note_header(first)
        if fixed:
            return
        self.at = here
        if self.is_declaration():
            self.declared_variables(")")
            return
        node = self.expression()
        self.expect(")")
        self.mutate(node, truth=truth, loop=loop)

    def for_loop(self):
        """A loop: what begins it, its condition and step, and the body."""
        first = self.at
        self.at += 1
        self.at = self.note_header(first)
        if self.is_over_range():
            self.loop_body(first)
            return
        if self.is_declaration():
            self.declared_variables()
        else:
            if self.peek() != ";":
                self.mutate(self.expression())
            self.expect(";")
        if self.peek() != ";":
            self.mutate(self.expression(), truth=True, loop=True)
        self.expect(";")
        if self.peek() != ")":
            self.mutate(self.expression())
        self.expect(")")
        self.loop_body(first)

    def is_over_range(self):
        """Whether a loop over a range is next; passes by its head."""
        here = self.at
        while self.peek() not in (";", ":", ")", ""):
            self.pass_by()
        if self.peek() != ":":
            self.at = here
            return False
        while self.peek() != ")":
            self.pass_by()
        self.at += 1
        return True

    def loop_body(self, first=None):
        """What a loop repeats: where it begins and ends. first: the loop's beginning, if the body
        is its end."""
        begin = self.tokens[self.at].begin
        self.statement()
        body = begin, self.last_end()
        if first is not None:
            self.note_loop(first, body)
        return body

    def note_loop(self, first, body):
        """A loop, from a token up to here: its place, and its body's."""
        if not self.constant:
            self.loops.append((self.tokens[first].begin, self.last_end(), *body))

    def is_declaration(self):
        """Whether a type and a name are next."""
        here = self.at
        try:
            return self.pass_type() and (
                self.peek() == "(" and self.peek(1) == "&" or
                self.tokens[self.at].kind == "name" and self.peek(1) in "=;,[({:)")
        finally:
            self.at = here

    def pass_type(self):
        """Passes by a type; whether there was one."""
        found = False
        while self.tokens[self.at].kind == "name":
            text = self.peek()
            if text in SPECIFIERS or text == "struct":
                self.at += 1
            elif text in TYPE_WORDS:
                self.at += 1
                found = True
            elif not found:
                self.at += 1
                self.skip_template_list()
                while self.peek() == "::":
                    self.at += 3 if self.peek(1) == "template" else 2
                    self.skip_template_list()
                found = True
            else:
                break
        while self.peek() in ("*", "&", "const", "__restrict__", "volatile"):
            self.at += 1
        return found

    def declared_variables(self, end=";"):
        """Variables, of whose initial values those that run time gives are looked into."""
        first = self.at
        self.pass_type()
        words = [token.text for token in self.tokens[first:self.at]]
        fixed = {"constexpr", "static"} & set(words)
        while True:
            while self.peek() in ("*", "&", "const"):
                self.at += 1
            if self.peek() == "(":
                self.skip_group()
            else:
                self.at += 1
            while self.peek() == "[":
                self.skip_group()
            if fixed:
                while self.peek() not in (end, ""):
                    self.pass_by()
            elif self.peek() == "=":
                self.at += 1
                self.mutate(self.initializer())
            elif self.peek() in ("(", "{"):
                closing = {"(": ")", "{": "}"}[self.token().text]
                self.mutate(self.list_until(closing))
            if self.peek() != ",":
                self.expect(end)
                return
            self.at += 1

    # ---- Expressions

    def initializer(self):
        """An expression without commas, or a list in braces."""
        return self.expression(2)

    def list_until(self, closing):
        """Expressions with commas between them, up to a bracket."""
        begin, parts = self.last_end(), []
        while self.peek() != closing:
            parts.append(self.initializer())
            if self.peek() == "...":
                self.at += 1
            if self.peek() == ",":
                self.at += 1
        end = self.token().end
        return Node("list", begin, end, parts)

    def expression(self, least=1):
        """Operators of at least this priority: 1 the comma, 2 assignments, 3 ?:."""
        left = self.unary()
        while True:
            sign = self.peek()
            if sign in PRIORITY and PRIORITY[sign] >= least:
                self.at += 1
                right = self.expression(PRIORITY[sign] + 1)
                left = Node("binary", left.begin, right.end, [left, right], sign)
            elif sign == "?" and least <= 3:
                self.at += 1
                middle = self.expression(1)
                self.expect(":")
                right = self.expression(2)
                left = Node("choice", left.begin, right.end, [left, middle, right])
            elif sign in ASSIGNMENTS and least <= 2:
                self.at += 1
                right = self.expression(2)
                left = Node("assign", left.begin, right.end, [left, right], sign)
            elif sign == "," and least <= 1:
                self.at += 1
                right = self.expression(2)
                left = Node("comma", left.begin, right.end, [left, right])
            else:
                return left

    def unary(self):
        """An operand with what stands before it."""
        token = self.tokens[self.at]
        if token.text in ("sizeof", "alignof", "decltype"):
            self.at += 2 if self.peek(1) == "..." else 1
            if self.peek() == "(":
                self.skip_group()
            else:
                self.unary()
            return Node("opaque", token.begin, self.last_end())
        if token.text in ("!", "~", "-", "+", "*", "&"):
            self.at += 1
            operand = self.unary()
            return Node("unary", token.begin, operand.end, [operand], token.text)
        if token.text in ("++", "--"):
            self.at += 1
            operand = self.unary()
            return Node("step", token.begin, operand.end, [operand], token.text)
        if token.text == "(" and self.is_cast():
            self.skip_group()
            operand = self.unary()
            return Node("cast", token.begin, operand.end, [operand])
        return self.postfix()

    def is_cast(self):
        """Whether a type in parentheses is next, and then an operand."""
        here = self.at
        self.at += 1
        found = self.pass_type() and self.peek() == ")"
        words = [token.text for token in self.tokens[here + 1:self.at]]
        found = found and (words[-1] == "*" or words[0] in TYPE_WORDS or
                           words[0].endswith(("_t", "_type")))
        self.at = here
        return found

    def postfix(self):
        """An operand with what stands behind it."""
        node = self.primary()
        while True:
            text = self.peek()
            if text == "(":
                self.at += 1
                arguments = self.list_until(")")
                node = Node("call", node.begin, arguments.end, [node, arguments])
            elif node.kind == "name" and self.is_value():
                self.at += 1
                arguments = self.list_until("}")
                node = Node("call", node.begin, arguments.end, [node, arguments])
            elif text == "[":
                self.at += 1
                index = self.expression()
                end = self.expect("]").end
                node = Node("index", node.begin, end, [node, index])
            elif text in (".", "->"):
                self.at += 1
                if self.peek() == "template":
                    self.at += 1
                self.token()
                self.skip_template_list()
                node = Node("member", node.begin, self.last_end(), [node])
            elif text in ("++", "--"):
                self.at += 1
                node = Node("step", node.begin, self.last_end(), [node], "post" + text)
            else:
                return node

    def primary(self):
        """A number, name, string, parenthesis, list or lambda."""
        token = self.token()
        begin = token.begin
        if token.text == "(":
            inner = self.expression()
            end = self.expect(")").end
            return Node("parenthesis", token.begin, end, [inner])
        if token.text == "{":
            inner = self.list_until("}")
            return Node("braces", token.begin, inner.end, inner.parts)
        if token.text == "[":
            return self.lambda_function(token)
        if token.kind == "string":
            while self.tokens[self.at].kind == "string":
                self.at += 1
            return Node("string", token.begin, self.last_end())
        if token.kind == "number":
            return Node("number", token.begin, token.end)
        if token.text in ("::", "typename"):
            token = self.token()
        if token.kind != "name":
            line = self.code.count("\n", 0, token.begin) + 1
            raise Unreadable(f"{self.file}:{line}: an expression begins with '{token.text}'")
        self.skip_template_list()
        while self.peek() == "::" or token.text in TYPE_WORDS and self.peek() in TYPE_WORDS:
            token = self.token()
            if token.text == "::":
                if self.peek() == "template":
                    self.at += 1
                self.token()
                self.skip_template_list()
        return Node("name", begin, self.last_end())

    def lambda_function(self, token):
        """A function in an expression: its statements belong to the function around it."""
        self.at -= 1
        self.skip_group()
        if self.peek() == "(":
            self.skip_group()
        while self.peek() != "{":
            self.at += 1
        text = self.statement_text
        self.statement()
        self.statement_text = text
        return Node("lambda", token.begin, self.last_end())

    # ---- Changes

    def text(self, node):
        """What a node says."""
        return self.code[node.begin:node.end]

    def change(self, begin, end, new, operator, shown, before=None, after=None, truth=False):
        """Notes down a change; `shown` is the node whose text is printed before and after it."""
        if before is None:
            before = self.code[shown.begin:shown.end]
            after = self.code[shown.begin:begin] + new + self.code[end:shown.end]
        self.changes.append(Change(self.file, self.function, begin, end, re.sub(r"\s+", " ", new),
                                   operator,
                                   tidy(before), tidy(after), self.statement_text, self.constant,
                                   truth))

    def mutate(self, node, parent=None, truth=False, loop=False):
        """All changes of an expression. truth: only whether it is 0 matters. loop: it is the
        condition of a loop, which is not to be true for ever."""
        shown = parent if parent is not None and parent.end - parent.begin < 200 else node
        boolean = truth or node.kind == "binary" and node.sign in TRUTHS or \
            node.kind == "unary" and node.sign == "!"
        if boolean and node.kind not in ("parenthesis", "lambda") and \
                self.text(node) not in ("true", "false"):
            values = {"&&": ["false"], "||": ["true"]}.get(node.sign, ["true", "false"])
            if shown is not node: # an operand of && that is false makes all of it false
                values = [v for v in values if (shown.sign, v) not in (("&&", "false"),
                                                                       ("||", "true"))]
            if loop:
                values = [v for v in values if v != "true"]
            for value in values:
                self.change(node.begin, node.end, str(int(value == "true")), value, node,
                            self.text(node), value, truth=True)
        if node.kind == "binary":
            self.mutate_binary(node)
        elif node.kind == "assign":
            left, right = (self.text(part) for part in node.parts)
            for sign in INSTEAD.get(node.sign, []):
                self.change(node.begin, node.end, f"{left} {sign} {right}", sign, node)
        elif node.kind == "unary":
            if node.sign in ("-", "~"):
                self.change(node.begin, node.end, self.text(node.parts[0]), "negation", shown)
        elif node.kind == "number":
            self.mutate_number(node, shown)
        elif node.kind == "index" and node.parts[1].kind in ("name", "member"):
            index = node.parts[1]
            for sign in ("+", "-"):
                self.change(index.begin, index.end, f"({self.text(index)} {sign} 1)", f"{sign} 1",
                            node)
        if node.kind == "choice":
            self.mutate_choice(node)
        elif node.kind == "parenthesis":
            self.mutate(node.parts[0], parent, truth=truth, loop=loop)
        elif node.kind in ("list", "braces"):
            for part in node.parts:
                self.mutate(part, parent or node)
        elif node.kind != "unary" or node.sign != "!" or node.parts[0].kind not in (
                "name", "call", "member"):
            for part in node.parts:
                self.mutate(part, node, truth=node.sign in ("&&", "||"))

    def mutate_number(self, node, shown):
        """One more or one less; where it is compared, what the comparison's changes leave out."""
        text = self.text(node)
        if not re.fullmatch(r"(0[xX][0-9a-fA-F']+|[\d']+)[uUlL]*", text):
            return
        for sign in ("+", "-"):
            if shown.kind == "binary" and (shown.sign in ("<", ">", "<=", ">=") or
                                           shown.sign in ("==", "!=") and sign == "-"):
                continue
            self.change(node.begin, node.end, f"({text} {sign} 1)", f"{sign} 1", shown)

    def mutate_choice(self, node):
        """a ? b : c. The lesser or greater of two is the same where they are equal."""
        condition, yes, no = node.parts
        least = len(self.changes)
        self.mutate(condition, node, truth=True)
        arms = {self.bare(yes), self.bare(no)}
        if condition.kind == "binary" and {self.bare(part) for part in condition.parts} == arms:
            self.changes[least:] = [c for c in self.changes[least:] if (
                c.begin, c.end) != (condition.begin, condition.end) or
                c.operator not in ("<", "<=", ">", ">=")]
        self.mutate(yes, node)
        self.mutate(no, node)

    def bare(self, node):
        """The text of a node without casts to another type of number."""
        return re.sub(r"^(?:static_cast<[\w: ]+>|\([\w: ]+\))\((.*)\)$", r"\1", self.text(node))

    def operand(self, node, sign, right=False):
        """The text of an operand, in parentheses if this operator would tear it apart."""
        loose = node.kind in ("choice", "assign", "comma") or \
            node.kind == "binary" and PRIORITY[node.sign] < PRIORITY[sign] + right
        return f"({self.text(node)})" if loose else self.text(node)

    def mutate_binary(self, node):
        """Another operator; one operand for both; operands that change places; one more or less."""
        left, right = node.parts
        sign = node.sign
        a, b = self.text(left), self.text(right)
        for other in INSTEAD[sign]:
            if other == "left":
                new = a
            elif other == "right":
                new = b
            else:
                new = f"{self.operand(left, other)} {other} {self.operand(right, other, True)}"
            if new != a or b != "1" or sign not in ("+", "-"):
                self.change(node.begin, node.end, new, other, node)
        if sign in ("<", ">="):
            self.change(left.begin, left.end, f"{self.operand(left, '+')} + 1", "next", node)
        if sign in ("<=", ">"):
            self.change(right.begin, right.end, f"{self.operand(right, '+')} + 1", "next", node)
        if sign in ("-", "/", "%"):
            new = f"{self.operand(right, sign)} {sign} {self.operand(left, sign, True)}"
            self.change(node.begin, node.end, new, "swapped", node)
        if sign in ("%", "/", "<<", ">>") and right.kind in ("name", "member"):
            self.change(right.begin, right.end, f"({b} + 1)", "+ 1", node)


def changes_of(file, source, active):
    """The changes of a file, each once; the bodies of its loops; its functions."""
    parser = Parser(file, source, active)
    seen, changes = set(), []
    for change in parser.changes:
        key = change.begin, change.end, change.new
        if key not in seen and tidy(change.new) != tidy(source[change.begin:change.end]):
            seen.add(key)
            changes.append(change)
    return changes, parser.loops, parser.functions


def line_starts(source):
    """Where the lines begin, for line_of."""
    return [0] + [match.end() for match in re.finditer("\n", source)]


def line_of(starts, place):
    """The line of a place."""
    return bisect.bisect_right(starts, place)
