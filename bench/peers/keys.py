"""keys.py: keys of texts by a second implementation, written from the rules and not from Kurier's code.

Reads lines of JSON, [type, language, text]; prints the key of each, as one workspace would give them.
Each rule is a step over the whole text, in the order of the rules. Needs nothing but Python.
"""

import hashlib
import json
import re
import sys
import unicodedata

LENGTH = 30
SYMBOLS = {
    "%": "prozent", "€": "euro", "$": "dollar", "@": "at", "#": "hash",
    "+": "plus", "=": "equals", "<": "less than", ">": "greater than",
}
ABBREVIATIONS = {"VaR": "value at risk", "ROI": "return on investment"}
UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}
STOP_WORDS = set(
    "der die das und oder ist sind ein eine zu zum zur von mit fuer auf in an bei ueber unter "
    "den dem des einen einem einer eines "
    "the and or is are a an to of with for on in at by over under".split()
)
DE = "null eins zwei drei vier fuenf sechs sieben acht neun zehn elf zwoelf".split()
DE_TEENS = {13: "dreizehn", 14: "vierzehn", 15: "fuenfzehn", 16: "sechzehn", 17: "siebzehn",
            18: "achtzehn", 19: "neunzehn"}
DE_TENS = {2: "zwanzig", 3: "dreissig", 4: "vierzig", 5: "fuenfzig", 6: "sechzig", 7: "siebzig",
           8: "achtzig", 9: "neunzig"}
EN = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
      "fifteen sixteen seventeen eighteen nineteen").split()
EN_TENS = {2: "twenty", 3: "thirty", 4: "forty", 5: "fifty", 6: "sixty", 7: "seventy", 8: "eighty",
           9: "ninety"}


def german(n):
    if n >= 1000:
        return ("ein" if n < 2000 else DE[n // 1000]) + "tausend" + (german(n % 1000) if n % 1000 else "")
    if n >= 100:
        return ("ein" if n < 200 else DE[n // 100]) + "hundert" + (german(n % 100) if n % 100 else "")
    if n <= 12:
        return DE[n]
    if n < 20:
        return DE_TEENS[n]
    ones = {0: "", 1: "einund"}.get(n % 10, DE[n % 10] + "und")
    return ones + DE_TENS[n // 10]


def english(n):
    if n < 20:
        return EN[n]
    if n < 100:
        return EN_TENS[n // 10] + ("_" + EN[n % 10] if n % 10 else "")
    size, word = (1000, "thousand") if n >= 1000 else (100, "hundred")
    rest = n % size
    joint = "_and_" if 0 < rest < 100 else "_"
    return EN[n // size] + "_" + word + (joint + english(rest) if rest else "")


def spelled(word, language):
    if not re.fullmatch("0|[1-9][0-9]{0,3}", word):
        return word
    said = (german if language == "de" else english)(int(word))
    return said if len(said) <= LENGTH else word


def words(text):
    """Steps 3 to 7: symbols, capitals, umlauts, separators, other letters."""
    text = re.sub(r"(?:(?<=\s)|^)&(?=\s|$)", " ", text).replace("&", " and ")
    for symbol, word in SYMBOLS.items():
        text = text.replace(symbol, f" {word} ")
    text = text.lower()
    for umlaut, letters in UMLAUTS.items():
        text = text.replace(umlaut, letters)
    text = re.sub(r"(?<=[0-9])[.,](?=[0-9])", " ", text)
    text = "".join(" " if c in "_/" or unicodedata.category(c) == "Pd" else c for c in text)
    text = unicodedata.normalize("NFD", text)
    return re.sub(r"[^a-z0-9\s]", "", text).split()


def expanded(text):
    """Step 2: written out, unless the full form stands in the text anyway."""
    said = " " + " ".join(words(text)) + " "
    for short, full in ABBREVIATIONS.items():
        if f" {full} " not in said:
            text = re.sub(rf"(?<![^\W_]){short}(?![^\W_])", full, text)
    return text


def identifier(kind, language, text):
    text = unicodedata.normalize("NFC", text)
    bare = re.sub(r"\{\{[<%]|\{%|[>%]\}\}|%\}", " ", text)
    found = [spelled(word, language) for word in words(expanded(bare))]
    if kind == "chunk":
        found = ([word for word in found if word not in STOP_WORDS] or found)[:5]
    name = "_".join(found)
    if not name:
        if not text.strip():
            return "empty_content"
        return "special_chars_only_" + hashlib.sha256(text.strip().encode()).hexdigest()[:8]
    if not name[0].isalpha():
        name = "nr_" + name
    name = name[:LENGTH].rstrip("_")
    return name if len(name) >= 3 else "short_content_" + name


class Counters:
    """The n-th use of a name has the number n; after 999 the name rolls on, cut to fit."""

    def __init__(self):
        self.used = {}

    def take(self, kind, name):
        page, rolled = 1, name
        while self.used.get((kind, rolled), 0) == 999:
            page += 1
            ending = f"_{page}"
            rolled = name[: LENGTH - len(ending)].rstrip("_") + ending
        number = self.used[kind, rolled] = self.used.get((kind, rolled), 0) + 1
        return f"{kind}:{rolled}:{number:03d}"


def main():
    counters = Counters()
    for line in sys.stdin:
        kind, language, text = json.loads(line)
        print(counters.take(kind, identifier(kind, language, text)))


main()
