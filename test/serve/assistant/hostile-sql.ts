function each(words: string, statement: (word: string) => string): string[] {
  return words.trim().split(/\s+/).map(statement);
}

function lines(text: string): string[] {
  return text.trim().split(/\n */);
}

/** What reads a file whose name it is given, in whatever corner of a query. */
const READ = "(select content from read_text('FILE'))";

/** Texts that must be refused before anything of them runs. FILE, FOLDER and PARQUET stand for what is there to steal. */
const READS = [
  ...each(
    'read_csv read_blob READ_TEXT system.main.read_text query_table "read_text"',
    (name) => `from ${name}('FILE')`,
  ),
  ...each('read_parquet parquet_metadata parquet_kv_metadata', (name) => `from ${name}('PARQUET')`),
  ...each(
    'FILE PARQUET FOLDER/parquet/*/*/*/*.parquet /etc/passwd https://example.com/x.parquet http://127.0.0.1:1/x.csv',
    (place) => `from '${place}'`,
  ),
  ...each('describe summarize show table', (verb) => `${verb} 'FILE'`),
  ...lines(`from "FILE"
    from glob('FOLDER/**')
    with x as (from read_text('FILE')) from x
    select ${READ}
    select * from pages where exists ${READ}
    select * from pages, lateral ${READ}
    select * from (values (1)) union all select 1 from read_text('FILE')
    select 1 limit (select length(content) from read_text('FILE'))
    select list_transform([1], x -> ${READ})
    select 1 from pages qualify ${READ}
    select sum(1) over (order by ${READ})
    from pages pivot (count(*) for url in (from read_text('FILE')))
    with recursive r as (select content from read_text('FILE') union all from r) from r
    /* from pages */ from read_text('FILE')
    from read_text('FI' || 'LE')
    select * from (describe from read_text('FILE'))
    from json_execute_serialized_sql(json_serialize_sql('from read_text(''FILE'')'))
    from query('from read_text(''FILE'')')`),
  "-- from pages\nfrom read_text('FILE')",
];

const WRITES = lines(`copy (from pages) to 'FOLDER/out.csv'
  export database 'FOLDER/out'
  create table temp.t as select 1
  create persistent secret (type s3, key_id 'a', secret 'b')
  insert into pages values (1)
  drop view pages
  checkpoint
  explain analyze from read_text('FILE')
  with x as (delete from page_state returning *) from x
  select 1; drop view pages
  select 1; select 2
  ;;; copy pages to 'FOLDER/out.csv'
  (copy pages to 'FOLDER/out.csv')`);

const SETTINGS = [
  ...each('settings secrets variables temporary_files logs', (name) => `from duckdb_${name}()`),
  ...each('describe summarize show table from', (verb) => `${verb} pg_settings`),
  ...each('current_query sleep_ms getvariable GETENV main.current_setting', (name) => `select ${name}('HOME')`),
  ...lines(`set enable_external_access = true
    set global s3_endpoint = 'x'
    reset all
    attach 'FOLDER/indexhouse.duckdb' as other
    load 'FILE'
    pragma database_size
    pragma import_database('FOLDER')
    call glob('FOLDER/*')
    prepare p as from read_text('FILE')
    from system.pg_catalog."pg_settings"
    select (select max(setting) from pg_settings)
    pivot pg_settings on name in (1) using max(setting)
    from histogram_values(pg_settings, setting)
    from which_secret('s3://x', 's3')
    select list_transform([1], x -> getvariable('files_of_coverage'))
    select * from pages where getenv(url) is null
    select json_serialize_plan('select * from pages', optimize := true)
    select url.json_serialize_plan() from pages
    select max(json_serialize_plan('from pages')::varchar) over ()
    from duckdb_logs`),
];

export const REFUSED = [...READS, ...WRITES, ...SETTINGS];
