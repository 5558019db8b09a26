"""Text: wrapping, slugs, plurals, tables."""

SMALL = ("a", "an", "and", "of", "the", "in", "on", "to")


def wrap(text, width=20):
    """Lines of at most ``width`` signs, broken between words; a longer word has a line of its own."""
    if width < 1:
        raise ValueError("width is at least 1")
    lines = []
    line = ""
    for word in text.split():
        if not line:
            line = word
        elif len(line) + 1 + len(word) <= width:
            line = line + " " + word
        else:
            lines.append(line)
            line = word
    if line:
        lines.append(line)
    return lines


def shorten(text, width, end="..."):
    """The text, cut at a word so that it fits with the end behind it."""
    if len(text) <= width:
        return text
    room = width - len(end)
    if room < 1:
        return end[:width]
    cut = text[:room]
    if text[room] != " " and " " in cut:
        cut = cut[: cut.rfind(" ")]
    return cut.rstrip() + end


def slug(text, separator="-"):
    """Lower-case words with a separator between them, and no other signs."""
    words = "".join(sign.lower() if sign.isalnum() else " " for sign in text).split()
    return separator.join(words)


def title(text):
    """Capitals on all words but small ones; the first always has one."""
    words = text.lower().split()
    found = []
    for number, word in enumerate(words):
        if number > 0 and word in SMALL:
            found.append(word)
        else:
            found.append(word.capitalize())
    return " ".join(found)


def plural(word, count=2):
    """The word as it stands behind a count."""
    if count == 1:
        return word
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and len(word) > 1 and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def count_words(text):
    """Word, in small letters -> how often it stands there."""
    counts = {}
    for word in text.lower().split():
        word = word.strip(".,;:!?")
        if word:
            counts[word] = counts.get(word, 0) + 1
    return counts


def columns(rows, gap=2):
    """Rows of cells as lines, the cells of a column below each other."""
    if not rows:
        return []
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width + gap) for cell, width in zip(row, widths)]
        lines.append("".join(cells).rstrip())
    return lines


def common_prefix(texts):
    """The longest beginning that all texts share."""
    if not texts:
        return ""
    first = min(texts)
    last = max(texts)
    size = 0
    while size < len(first) and size < len(last) and first[size] == last[size]:
        size += 1
    return first[:size]
