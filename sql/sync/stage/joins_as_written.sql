-- Joins run as they are written, with a hash table of the right side: DuckDB does not know the size of a journal,
-- assumes a few rows, and would build the hash table from the whole listing.
set disabled_optimizers = 'join_order,build_side_probe_side'
