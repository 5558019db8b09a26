from pocket.text import columns, common_prefix, count_words, plural, shorten, slug, title, wrap


def test_wrap():
    assert wrap("the quick brown fox", 10) == ["the quick", "brown fox"]


def test_wrap_exact():
    assert wrap("ab cd ef", 5) == ["ab cd", "ef"]


def test_wrap_long_word():
    assert wrap("a incomprehensibility b", 6) == ["a", "incomprehensibility", "b"]


def test_wrap_nothing():
    assert wrap("   ") == []


def test_wrap_default():
    assert wrap("aaaaaaaaaa bbbbbbbbb c") == ["aaaaaaaaaa bbbbbbbbb", "c"]


def test_wrap_width():
    try:
        wrap("a", 0)
    except ValueError:
        return
    raise AssertionError("a width of 0 is taken")


def test_shorten_fits():
    assert shorten("hello", 5) == "hello"


def test_shorten_at_word():
    assert shorten("hello wide world", 13) == "hello wide..."


def test_shorten_within_word():
    assert shorten("hello wide world", 12) == "hello..."


def test_shorten_one_word():
    assert shorten("incomprehensible", 8) == "incom..."


def test_shorten_tiny():
    assert shorten("hello", 2) == ".."


def test_slug():
    assert slug("Hello, World!") == "hello-world"
    assert slug("A  b_c", "_") == "a_b_c"


def test_slug_digits():
    assert slug("Top 10") == "top-10"


def test_title():
    assert title("the lord OF the rings") == "The Lord of the Rings"


def test_title_small_first():
    assert title("to have and to hold") == "To Have and to Hold"


def test_plural():
    assert plural("cat") == "cats"
    assert plural("box") == "boxes"
    assert plural("church") == "churches"


def test_plural_y():
    assert plural("city") == "cities"
    assert plural("day") == "days"
    assert plural("y") == "ys"


def test_plural_one():
    assert plural("cat", 1) == "cat"
    assert plural("cat", 0) == "cats"


def test_count_words():
    assert count_words("The cat. The dog!") == {"the": 2, "cat": 1, "dog": 1}


def test_count_signs():
    assert count_words("a , b") == {"a": 1, "b": 1}


def test_columns():
    assert columns([["a", "bb"], ["ccc", "d"]]) == ["a    bb", "ccc  d"]


def test_columns_gap():
    assert columns([["a", "b"]], 1) == ["a b"]


def test_no_columns():
    assert columns([]) == []


def test_common_prefix():
    assert common_prefix(["flower", "flow", "flight"]) == "fl"


def test_common_prefix_whole():
    assert common_prefix(["ab", "abc"]) == "ab"


def test_no_common_prefix():
    assert common_prefix(["dog", "cat"]) == ""
    assert common_prefix([]) == ""
