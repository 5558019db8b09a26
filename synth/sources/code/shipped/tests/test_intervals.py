from pocket.intervals import busiest, contains, covered, gaps, intersection, is_empty, length, merge, overlaps


def test_empty():
    assert is_empty((3, 3)) is True
    assert is_empty((3, 4)) is False


def test_length():
    assert length((2, 7)) == 5
    assert length((7, 2)) == 0


def test_start_is_inside():
    assert contains((1, 4), 1) is True


def test_end_is_outside():
    assert contains((1, 4), 4) is False


def test_inside():
    assert contains((1, 4), 3) is True


def test_overlap():
    assert overlaps((1, 5), (4, 8)) is True


def test_touching_do_not_overlap():
    assert overlaps((1, 4), (4, 8)) is False
    assert overlaps((4, 8), (1, 4)) is False


def test_apart():
    assert overlaps((1, 2), (5, 6)) is False


def test_intersection():
    assert intersection((1, 5), (3, 9)) == (3, 5)


def test_no_intersection():
    assert intersection((1, 3), (3, 9)) is None


def test_merge_overlapping():
    assert merge([(1, 4), (3, 6)]) == [(1, 6)]


def test_merge_touching():
    assert merge([(3, 6), (1, 3)]) == [(1, 6)]


def test_merge_within():
    assert merge([(1, 9), (2, 3)]) == [(1, 9)]


def test_merge_apart():
    assert merge([(5, 6), (1, 2)]) == [(1, 2), (5, 6)]


def test_merge_leaves_out_empty():
    assert merge([(2, 2), (4, 3)]) == []


def test_gaps():
    assert gaps([(2, 4), (6, 8)], (0, 10)) == [(0, 2), (4, 6), (8, 10)]


def test_gaps_at_the_edges():
    assert gaps([(0, 3), (7, 10)], (0, 10)) == [(3, 7)]


def test_gaps_outside():
    assert gaps([(20, 30), (-5, 0)], (0, 10)) == [(0, 10)]


def test_no_gap():
    assert gaps([(0, 10)], (0, 10)) == []


def test_covered():
    assert covered([(1, 4), (3, 6), (10, 11)]) == 6


def test_busiest():
    assert busiest([(1, 5), (2, 6), (4, 9)]) == 3


def test_busiest_touching():
    assert busiest([(1, 2), (2, 3)]) == 1


def test_busiest_empty():
    assert busiest([(1, 1)]) == 0
