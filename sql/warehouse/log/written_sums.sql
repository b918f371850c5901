-- The sum that each file of rows was written with.
select file_name as file, decode(value) as sum from parquet_kv_metadata($files) where decode(key) = 'rows_sha256'
