-- The sum that each of these files was written with.
select file_name as file, decode(value) as sum from parquet_kv_metadata(getvariable('files_to_sum')) where decode(key) = 'rows_sha256'
