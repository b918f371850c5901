-- Counts as a line of bars for a terminal, oldest first. Bars are scaled from the lowest to the highest count, but a
-- variation of less than a tenth of the highest stays small; all bars are low if no count is above 0.
create or replace macro sparkline(counts) as array_to_string(
  list_transform(
    counts,
    lambda n: substr('▁▂▃▅▇', 1 + coalesce(round(
      4 * (n - least(list_min(counts), 0.9 * list_max(counts)))
      / nullif(list_max(counts) - least(list_min(counts), 0.9 * list_max(counts)), 0)
    ), 0)::integer, 1)
  ),
  ''
)
