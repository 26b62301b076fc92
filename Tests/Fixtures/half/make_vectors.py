"""Decimal texts and the 16-bit floating-point words nearest to them, ties to even.

The values of all words are those of numpy (float16, and float32 of the upper half for bfloat16); which is nearest is
decided with fractions, so that nothing is rounded on the way. Usage: make_vectors.py > vectors.txt
"""

import random
from fractions import Fraction

import numpy

WORDS = numpy.arange(0x7FFF + 1, dtype=numpy.uint16)
FORMS = {
    "float16": WORDS.view(numpy.float16).astype(numpy.float64),
    "bfloat16": (WORDS.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64),
}


def decimal(value):
    """The exact decimal text of a fraction whose denominator is a power of two or ten."""
    places = value.denominator.bit_length() - 1
    text = str(value.numerator * 10**places // value.denominator).rjust(places + 1, "0")
    return text[: len(text) - places] + ("." + text[len(text) - places :] if places else "")


def nearest(value, finite):
    """The word nearest to a fraction; the first that is no finite word stands for infinity."""
    low, high = 0, len(finite)
    while low < high:
        middle = (low + high) // 2
        if finite[middle] <= value:
            low = middle + 1
        else:
            high = middle
    below = low - 1
    step = finite[-1] - finite[-2]
    above = finite[low] if low < len(finite) else finite[-1] + step
    twice = 2 * value - finite[below] - above
    if twice == 0:
        return below if below % 2 == 0 else low
    return below if twice < 0 else low


def main():
    random.seed(20261130)
    for form, values in FORMS.items():
        finite = [Fraction(float(value)) for value in values if numpy.isfinite(value)]
        bounds = finite + [finite[-1] + (finite[-1] - finite[-2])]
        rows = []
        places = [0, 1, 2, len(finite) - 2, len(finite) - 1] + random.sample(range(len(finite)), 60)
        for place in places:
            tie = (bounds[place] + bounds[place + 1]) / 2
            text = decimal(tie)
            dot = "" if "." in text else "."
            # The tie itself, a little more, and a little less, each beyond what a Double tells apart.
            rows.append(text)
            rows.append(text + dot + "0" * 40 + "1")
            less = tie - Fraction(1, 2**20 * tie.denominator * 10**12)
            rows.append(decimal(less))
            rows.append(decimal(finite[place]))
        for _ in range(60):
            exponent = random.randint(-9, 5) if form == "float16" else random.randint(-41, 38)
            rows.append(f"{random.randint(1, 9)}.{random.randint(0, 10**18):018d}e{exponent}")
        for text in rows:
            if len(text) > 1_000:
                continue
            mantissa, _, exponent = text.partition("e")
            value = Fraction(mantissa) * Fraction(10) ** int(exponent or 0)
            print(form, text, f"{nearest(value, finite):04x}")


main()
