-- The bound of a share of `rest` pages, by Wilson's score, of which as many others were `drawn` and `found` at random: the
-- lower one for a negative `z`, the upper one for a positive. Without a sample it is 0 or 1.
create or replace macro share_bound(found, drawn, rest, z) as if(
  coalesce(drawn, 0) = 0 or rest <= 0,
  if(z < 0, 0, 1),
  (found / drawn + z ** 2 * (1 / drawn + 1 / rest) / 2
    + z * sqrt(found / drawn * (1 - found / drawn) * (1 / drawn + 1 / rest) + (z * (1 / drawn + 1 / rest) / 2) ** 2))
  / (1 + z ** 2 * (1 / drawn + 1 / rest))
)
