"""Every sentence that the program says through Words has a Chinese translation, and no translation is left over."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEAKING = ("storage", "gui")
TABLES = ROOT / "storage" / "explain" / "zh_cn"

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)")
      | (?P<text>"(?:\\.|[^"\\\n])*")
      | (?P<character>'(?:\\.|[^'\\\n])+')
      | (?P<number>\d[\w.']*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign>\S)""",
    re.VERBOSE | re.DOTALL,
)
OPENING, CLOSING = "([{", ")]}"
CHINESE = "[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"


class Token:
    def __init__(self, kind, text, line):
        self.kind, self.text, self.line = kind, text, line


def tokens_of(source):
    found, line, counted_to = [Token("begin", "", 0)], 1, 0
    for match in TOKEN.finditer(source):
        line += source.count("\n", counted_to, match.start())
        counted_to = match.start()
        if match.lastgroup != "comment":
            found.append(Token(match.lastgroup, match.group(), line))
    return found


def split(tokens, signs):
    """At these signs, where no bracket is open."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += token.text in OPENING and token.kind == "sign"
        depth -= token.text in CLOSING and token.kind == "sign"
        if depth == 0 and token.kind == "sign" and token.text in signs:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def inside_brackets(tokens, begin):
    """What stands between the bracket at `begin` and the one that closes it."""
    depth = 0
    for end in range(begin, len(tokens)):
        depth += tokens[end].kind == "sign" and tokens[end].text in OPENING
        depth -= tokens[end].kind == "sign" and tokens[end].text in CLOSING
        if depth == 0:
            return tokens[begin + 1 : end]
    return tokens[begin + 1 :]


def joined(tokens):
    """Literals side by side are one, as in C++."""
    return "".join(token.text[1:-1] for token in tokens)


def texts_of(argument):
    """The literals an argument can be: itself, or the branches of `a ? "b" : "c"`. None if it is something else."""
    if argument and all(token.kind == "text" for token in argument):
        return [joined(argument)]
    branches = split(argument, "?:")[1:]
    if branches and all(token.kind == "text" for branch in branches for token in branch) and all(branches):
        return [joined(branch) for branch in branches]
    return None


def calls_of_words(tokens):
    """(index of the bracket, positions of the texts among the arguments) of words(...), words.counted(...) and, inside
    of Words, (*this)(...)."""
    for i in range(1, len(tokens) - 1):
        before, token, after = tokens[i - 1].text, tokens[i].text, tokens[i + 1].text
        if token == "counted" and before in ".>" and after == "(":
            yield i + 1, (1, 2)
        elif token in ("words", "words_") and before not in ("Words", "&") and after == "(":
            yield i + 1, (0,)
        elif [t.text for t in tokens[i - 1 : i + 4]] == ["(", "*", "this", ")", "("]:
            yield i + 3, (0,)


def said_in(source):
    """([(text, line)], [lines where what is said is no literal])"""
    said, unclear = [], []
    tokens = tokens_of(source)
    for bracket, positions in calls_of_words(tokens):
        arguments = split(inside_brackets(tokens, bracket), ",")
        for position in positions:
            argument = arguments[position] if position < len(arguments) else []
            texts = texts_of(argument)
            is_other = (
                not argument or [token.text for token in argument] == ["words"] or tokens[bracket - 1].text == ")"
            )
            if texts is not None:
                said += [(text, tokens[bracket].line) for text in texts]
            elif not is_other:
                unclear.append(tokens[bracket].line)
    return said, unclear


def read_sources():
    said, unclear = {}, []
    for folder in SPEAKING:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h"):
                name = path.relative_to(ROOT)
                texts, lines = said_in(path.read_text(encoding="utf-8"))
                unclear += [f"{name}:{line}" for line in lines]
                for text, line in texts:
                    said.setdefault(text, f"{name}:{line}")
    return said, unclear


def rows_in(source):
    """(English, Chinese) of a table."""
    rows, tokens = [], tokens_of(source)
    for i, token in enumerate(tokens):
        if token.text == "{" and i + 1 < len(tokens) and tokens[i + 1].kind == "text":
            cells = [cell for cell in split(inside_brackets(tokens, i), ",") if cell]
            rows.append(tuple(joined(cell) for cell in cells))
    return rows


def read_tables():
    return [row for path in sorted(TABLES.glob("*.h")) for row in rows_in(path.read_text(encoding="utf-8"))]


def names_in(text):
    return sorted(set(re.findall(r"\{\w*\}", text)))


class Translations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.said, cls.unclear = read_sources()
        cls.rows = read_tables()
        cls.table = dict(cls.rows)

    def none_of(self, problems):
        self.assertEqual("", "\n".join(problems))

    def test_something_is_read(self):
        self.assertGreater(len(self.said), 300)
        self.assertGreater(len(self.rows), 300)

    def test_what_is_said_is_a_literal(self):
        self.none_of(f"{place}: words() of something that is no literal" for place in self.unclear)

    def test_each_sentence_is_translated(self):
        self.none_of(
            f"{place}: no translation of: {text}" for text, place in self.said.items() if text not in self.table
        )

    def test_each_translation_is_used(self):
        self.none_of(f"said nowhere: {english}" for english, _ in self.rows if english not in self.said)

    def test_no_sentence_is_translated_twice(self):
        self.none_of(f"twice: {english}" for english in self.table if sum(row[0] == english for row in self.rows) > 1)

    def test_names_are_the_same(self):
        self.none_of(
            f"other {{names}}: {english}" for english, chinese in self.rows if names_in(english) != names_in(chinese)
        )

    def test_punctuation_is_chinese(self):
        narrow = re.compile(f"{CHINESE}[,;:!?()]|[,;:!?] ?{CHINESE}|{CHINESE}\\.(?!\\w)")
        self.none_of(f"narrow punctuation: {chinese}" for _, chinese in self.rows if narrow.search(chinese))

    def test_chinese_and_latin_stand_apart(self):
        touching = re.compile("[\u4e00-\u9fff][A-Za-z0-9`]|[A-Za-z0-9`%)][\u4e00-\u9fff]")
        self.none_of(f"no space: {chinese}" for _, chinese in self.rows if touching.search(chinese))


class Scanner(unittest.TestCase):
    def texts(self, source):
        return [text for text, _ in said_in(source)[0]]

    def test_literals_over_several_lines_are_one(self):
        self.assertEqual(["one two"], self.texts('f(words("one "\n  // why\n  "two", with("x", "no")))'))

    def test_both_numbers(self):
        self.assertEqual(["{n} a", "{n} as"], self.texts('words.counted(f(a, "x"), "{n} a", "{n} as")'))

    def test_both_branches(self):
        self.assertEqual(["a", "b"], self.texts('words(x == "q" ? "a" : "b")'))
        self.assertEqual(["a", "b"], self.texts('x ? words("a") : words_("b")'))

    def test_inside_of_words(self):
        self.assertEqual([" and "], self.texts('text += last ? (*this)(" and ") : "";'))

    def test_what_is_no_literal_is_reported(self):
        self.assertEqual([2], said_in('\nwords(sentence(), with("x", 1))')[1])
        self.assertEqual(
            [], said_in("const Words words(language); of.words(); Page(const Words& w) : words_(words) {}")[1]
        )

    def test_rows(self):
        self.assertEqual([("a {x}b", "甲 {x}")], rows_in('T table[] = {\n {"a {x}"\n "b", "甲 {x}"},\n};'))


if __name__ == "__main__":
    unittest.main()
