-- Fisher's exact test, one-sided: the probability that at least `shared` of the `fallen` pages share a value that
-- `with_value` of all `pages` have, if the value made no difference. An upper bound of the hypergeometric tail: its
-- terms shrink at least as fast as the first two do.
create or replace macro fisher_p(shared, with_value, fallen, pages) as if(
  shared * pages <= with_value * fallen,
  1,
  least(
    1,
    exp(
      lgamma(with_value + 1) - lgamma(shared + 1) - lgamma(with_value - shared + 1)
      + lgamma(pages - with_value + 1) - lgamma(fallen - shared + 1) - lgamma(pages - with_value - fallen + shared + 1)
      - lgamma(pages + 1) + lgamma(fallen + 1) + lgamma(pages - fallen + 1)
    )
    / (1 - least(
      (with_value - shared) * (fallen - shared) / ((shared + 1) * (pages - with_value - fallen + shared + 1)), 0.999999
    ))
  )
)
