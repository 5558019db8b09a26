"""The assignment problem for small tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

__all__ = ["assign"]


def assign(table: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pairs (row, column) with the greatest sum, each row and column once at most, as many as the shorter side has; in
    order of the rows.

    Shortest augmenting paths (Crouse, 2016, after Jonker and Volgenant, 1987), step by step as
    ``scipy.optimize.linear_sum_assignment`` has them, so that of equal sums the same one is found; it takes longer to
    import than all tables of a build take here.
    """
    if not table or not table[0]:
        return []
    if len(table[0]) < len(table):
        turned = assign([list(column) for column in zip(*table, strict=True)])
        return sorted((row, column) for column, row in turned)
    rows, columns = len(table), len(table[0])
    costs = [[-value for value in line] for line in table]
    of_row, of_column = [0.0] * rows, [0.0] * columns  # what each costs at least
    column_of, row_of = [-1] * rows, [-1] * columns
    for begin in range(rows):
        shortest, before = [inf] * columns, [-1] * columns
        left, reached = list(range(columns - 1, -1, -1)), list[int]()
        visited, least, row, end = [begin], 0.0, begin, -1
        while end < 0:
            lowest, at = inf, -1
            for place, column in enumerate(left):
                cost = least + costs[row][column] - of_row[row] - of_column[column]
                if cost < shortest[column]:
                    before[column], shortest[column] = row, cost
                if shortest[column] < lowest or (shortest[column] == lowest and row_of[column] < 0):
                    lowest, at = shortest[column], place
            least, column = lowest, left[at]
            reached.append(column)
            left[at] = left[-1]
            left.pop()
            if row_of[column] < 0:
                end = column
            else:
                row = row_of[column]
                visited.append(row)
        of_row[begin] += least
        for row in visited[1:]:
            of_row[row] += least - shortest[column_of[row]]
        for column in reached:
            of_column[column] -= least - shortest[column]
        row = -1
        while row != begin:
            row = before[end]
            row_of[end] = row
            column_of[row], end = end, column_of[row]
    return list(enumerate(column_of))
