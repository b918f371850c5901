-- Joins are made as they are written, with a hash table of the right side: DuckDB knows no size of a journal, takes it for
-- a few rows, and would make that table of the whole listing.
set disabled_optimizers = 'join_order,build_side_probe_side'
