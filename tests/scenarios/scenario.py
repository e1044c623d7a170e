"""Options of all scenario programs: --size small|medium|large and --noise.

Each size takes about four times the bytes of the one below: `many(n)` scales a count (batch, elements), `wide(n)` the
side of a square.
"""

import argparse

SCALES = {"small": 0.25, "medium": 1.0, "large": 4.0}


class Options(argparse.Namespace):
    @property
    def scale(self):
        return SCALES.get(self.size, 1.0)

    def many(self, count):
        return max(1, int(count * self.scale))

    def wide(self, side):
        return max(8, int(side * self.scale**0.5) // 8 * 8)


def size(text):
    return text if text in SCALES else int(text)


def parser(text):
    result = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--size", type=size, default="medium", help="small, medium or large")
    result.add_argument("--noise", action="store_true", help="do unrelated work in every iteration")
    return result


def parse(known=None, text=None):
    return (known or parser(text)).parse_args(namespace=Options())


def options(text):
    return parse(text=text)
