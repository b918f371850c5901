-- The sum of the rows of each file: a SHA-256 over the names and values of their columns, without those that are null.
-- View `rows_to_sum`: the rows, and in `summed_file` the file of each.
select summed_file as file, sha256(string_agg(name || '=' || value, chr(10) order by name, value)) as sum
from (
  unpivot (select summed_file, columns(* exclude (summed_file))::varchar from rows_to_sum)
  on columns(* exclude (summed_file)) into name name value value
)
group by all
