-- The 97.5% quantile of Student's t distribution, by the first terms of its expansion in the degrees of freedom.
create or replace macro student_t(freedom) as
  1.959964 + 2.372272 / freedom + 2.822498 / freedom ** 2 + 2.555855 / freedom ** 3
