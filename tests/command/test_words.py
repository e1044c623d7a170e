# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Every sentence of Words has a Chinese translation with the same placeholders, and every translation is used."""

import ast
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEAKING = (
    "storage",
    "recorder/cli",
    "recorder/control",
    "recorder/daemon",
    "recorder/driver",
    "recorder/reader",
    "gui",
)
SPEAKING_PYTHON = "recorder/python/tidemark"
COMPOSED = ("Sentence", "Literal", "usage_error", "input_error", "environment_error")
CATALOG = ROOT / "resources" / "translations" / "zh_CN.po"
TEMPLATE = pathlib.Path(os.environ["TIDEMARK_TRANSLATIONS_TEMPLATE"])  # written by the build

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
    """Splits at these signs outside of brackets."""
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
    """Returns the tokens between the bracket at `begin` and the one that closes it."""
    depth = 0
    for end in range(begin, len(tokens)):
        depth += tokens[end].kind == "sign" and tokens[end].text in OPENING
        depth -= tokens[end].kind == "sign" and tokens[end].text in CLOSING
        if depth == 0:
            return tokens[begin + 1 : end]
    return tokens[begin + 1 :]


def joined(tokens):
    """Joins adjacent literals, as C++ does."""
    return "".join(token.text[1:-1] for token in tokens)


def texts_of(argument):
    """Returns the literals of an argument: itself, or the branches of `a ? "b" : "c"`; None for other expressions."""
    if argument and all(token.kind == "text" for token in argument):
        return [joined(argument)]
    branches = split(argument, "?:")[1:]
    if branches and all(token.kind == "text" for branch in branches for token in branch) and all(branches):
        return [joined(branch) for branch in branches]
    return None


def calls_of_words(tokens):
    """Yields (index of the bracket, positions of the texts among the arguments) of words(...), Sentence(...), ..."""
    for i in range(1, len(tokens) - 1):
        before, token, after = tokens[i - 1].text, tokens[i].text, tokens[i + 1].text
        if token == "plural" and before in ".>:" and after == "(":
            yield i + 1, (1, 2)
        elif after == "(" and (token in COMPOSED or (token in ("words", "words_") and before not in ("Words", "&"))):
            yield i + 1, (0,)


def hidden_from_xgettext(tokens):
    """Lines such as `Sentence name("text")`: xgettext looks for the name of the type before the bracket."""
    for kind, name, bracket, text in zip(tokens, tokens[1:], tokens[2:], tokens[3:]):
        if kind.text in COMPOSED and name.kind == "name" and bracket.text in "({" and text.kind == "text":
            yield kind.line


def texts_in(source):
    """Returns ([(text, line)], [lines whose text is no literal])."""
    sentences, unclear = [], []
    tokens = tokens_of(source)
    unclear += hidden_from_xgettext(tokens)
    for bracket, positions in calls_of_words(tokens):
        is_composed = tokens[bracket - 1].text in COMPOSED
        arguments = split(inside_brackets(tokens, bracket), ",")
        for position in positions:
            argument = arguments[position] if position < len(arguments) else []
            texts = texts_of(argument)
            # Of a composed sentence the compiler accepts nothing but a literal.
            is_other = (
                not argument
                or is_composed
                or [token.text for token in argument] == ["words"]
                or argument[0].text == "Literal"
                or tokens[bracket - 1].text == ")"
            )
            if texts is not None:
                sentences += [(text, tokens[bracket].line) for text in texts]
            elif not is_other:
                unclear.append(tokens[bracket].line)
    return sentences, unclear


def read_sources():
    sentences, unclear = {}, []
    for folder in SPEAKING:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h"):
                name = path.relative_to(ROOT)
                texts, lines = texts_in(path.read_text(encoding="utf-8"))
                unclear += [f"{name}:{line}" for line in lines]
                for text, line in texts:
                    sentences.setdefault(text, f"{name}:{line}")
    return sentences, unclear


def read_scripts():
    """As read_sources(), of Sentence("...") in Python."""
    sentences, unclear = {}, []
    for path in sorted((ROOT / SPEAKING_PYTHON).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Sentence":
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                text = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
                if text is None:
                    unclear.append(place)
                else:
                    sentences.setdefault(escaped(text), place)
    return sentences, unclear


def escaped(text):
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Message:
    """An entry of a .po or .pot file. Texts are escaped, as in the file."""

    def __init__(self):
        self.fields, self.flags = {}, ""

    english = property(lambda self: self.fields["msgid"])
    many = property(lambda self: self.fields.get("msgid_plural"))
    translations = property(lambda self: [text for name, text in self.fields.items() if name.startswith("msgstr")])


def messages_in(text):
    """Returns the messages of a catalog or template, header first."""
    found, field = [], ""
    for block in re.split(r"\n{2,}", text.strip()):
        message = Message()
        for line in block.split("\n"):
            entry = re.fullmatch(r'(msgid|msgid_plural|msgstr(?:\[\d\])?) "(.*)"', line)
            if entry:
                field = entry[1]
                message.fields[field] = entry[2]
            elif line.startswith('"'):
                message.fields[field] += line[1:-1]
            elif line.startswith("#,"):
                message.flags += line
        if message.fields:
            found.append(message)
    return found


def read_messages(path):
    return messages_in(path.read_text(encoding="utf-8"))[1:]


def names_in(text):
    return sorted(set(re.findall(r"\{\w*\}", text)))


def lacks_plural(english):
    """Returns whether a number precedes a plural noun, so that the result could be "1 tensors"."""
    return re.search(r"\{(n|count)\} (more |other |different )?[a-z]+s\b", english)


class Translations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sentences, cls.unclear = read_sources()
        of_scripts, unclear = read_scripts()
        assert len(of_scripts) > 30, "sentences of the Python package"
        cls.sentences |= of_scripts
        cls.unclear += unclear
        cls.template = read_messages(TEMPLATE)
        cls.messages = read_messages(CATALOG)

    def none_of(self, problems):
        self.assertEqual("", "\n".join(problems))

    def test_sentences_are_found(self):
        self.assertGreater(len(self.sentences), 300)
        self.assertGreater(len(self.template), 300)
        self.assertGreater(len(self.messages), 300)

    def test_each_sentence_is_a_literal(self):
        self.none_of(f"{place}: words() without a literal" for place in self.unclear)

    def test_the_template_has_each_sentence(self):
        extracted = {text for message in self.template for text in (message.english, message.many) if text is not None}
        missing = {text: place for text, place in self.sentences.items() if text not in extracted}
        self.none_of(f"{place}: not extracted: {text}" for text, place in missing.items())
        self.none_of(f"not in the sources: {text}" for text in extracted if text not in self.sentences)

    def test_each_sentence_is_translated(self):
        translated = {
            (message.english, message.many)
            for message in self.messages
            if all(message.translations) and "fuzzy" not in message.flags
        }
        self.none_of(
            f"{self.sentences[message.english]}: no translation of: {message.english}"
            for message in self.template
            if (message.english, message.many) not in translated
        )

    def test_each_translation_is_used(self):
        used = {(message.english, message.many) for message in self.template}
        self.none_of(
            f"not in the sources: {message.english}"
            for message in self.messages
            if (message.english, message.many) not in used
        )
        self.assertNotIn("#~", CATALOG.read_text(encoding="utf-8"), "obsolete translations")

    def test_chinese_has_one_plural_form(self):
        self.none_of(f"forms: {message.english}" for message in self.messages if len(message.translations) != 1)
        self.assertIn('"Plural-Forms: nplurals=1; plural=0;\\n"', CATALOG.read_text(encoding="utf-8"))

    def test_placeholders_are_the_same(self):
        self.none_of(
            f"other {{names}}: {message.english}"
            for message in self.messages
            if names_in(message.many or message.english) != names_in(message.translations[0])
        )

    def test_numbers_have_both_english_forms(self):
        self.none_of(
            f"no plural: {message.english}"
            for message in self.template
            if message.many is None and lacks_plural(message.english)
        )

    def test_punctuation_is_chinese(self):
        narrow = re.compile(f"{CHINESE}[,;:!?()]|[,;:!?] ?{CHINESE}|{CHINESE}\\.(?!\\w)")
        self.none_of(f"narrow punctuation: {text}" for text in self.chinese() if narrow.search(text))

    def test_spaces_separate_chinese_and_latin(self):
        touching = re.compile("[\u4e00-\u9fff][A-Za-z0-9`]|[A-Za-z0-9`%)][\u4e00-\u9fff]")
        self.none_of(f"no space: {text}" for text in self.chinese() if touching.search(text))

    def chinese(self):
        for message in self.messages:
            yield message.translations[0].replace("\\n", "\n")


class Scanner(unittest.TestCase):
    def texts(self, source):
        return [text for text, _ in texts_in(source)[0]]

    def test_literals_over_several_lines_are_one(self):
        self.assertEqual(["one two"], self.texts('f(words("one "\n  // why\n  "two", with("x", "no")))'))

    def test_both_numbers(self):
        self.assertEqual(["{n} a", "{n} as"], self.texts('words.plural(f(a, "x"), "{n} a", "{n} as")'))

    def test_both_branches(self):
        self.assertEqual(["a", "b"], self.texts('words(x == "q" ? "a" : "b")'))
        self.assertEqual(["a", "b"], self.texts('x ? words("a") : words_("b")'))

    def test_other_arguments_are_reported(self):
        self.assertEqual([2], texts_in('\nwords(sentence(), with("x", 1))')[1])
        self.assertEqual(
            [], texts_in("const Words words(language); of.words(); Page(const Words& w) : words_(words) {}")[1]
        )

    def test_composed_sentences(self):
        self.assertEqual(["a {x}", "b"], self.texts('usage_error("a {x}", with("x", Sentence("b")))'))
        self.assertEqual(["{n} a", "{n} as"], self.texts('Sentence::plural(n, "{n} a", "{n} as")'))
        self.assertEqual(([], []), texts_in("explicit Sentence(Literal english, int n); return Sentence(wanted);"))
        self.assertEqual([2], texts_in('\nconst Sentence name("text");')[1])

    def test_messages(self):
        header = 'msgid ""\nmsgstr ""\n"Language: x\\n"\n\n'
        catalog = header + '#: a.cpp\n#, fuzzy\nmsgid "{n} a"\nmsgid_plural "{n} "\n"as"\nmsgstr[0] "甲"\n'
        header, message = messages_in(catalog)
        self.assertEqual((header.english, header.translations), ("", ["Language: x\\n"]))
        self.assertEqual((message.english, message.many, message.translations), ("{n} a", "{n} as", ["甲"]))
        self.assertIn("fuzzy", message.flags)

    def test_missing_plurals_are_found(self):
        self.assertTrue(lacks_plural("{n} tensors are freed"))
        self.assertFalse(lacks_plural("{bytes} in total"))


if __name__ == "__main__":
    unittest.main()
