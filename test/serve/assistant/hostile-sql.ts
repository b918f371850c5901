/** The statement of each of these words. */
function each(words: string, statement: (word: string) => string): string[] {
  return words.trim().split(/\s+/).map(statement);
}

/** The statements of these lines. */
function lines(text: string): string[] {
  return text.trim().split(/\n */);
}

/** What reads a file whose name it is given, in whatever corner of a query. */
const READ = "(select content from read_text('FILE'))";

/** Texts that must be refused before anything of them runs. FILE, FOLDER and PARQUET stand for what is there to steal. */
const READS = [
  ...each(
    `read_csv read_csv_auto read_json read_json_auto read_json_objects read_ndjson read_blob sniff_csv READ_TEXT
    main.read_text system.main.read_text read_duckdb query_table st_read read_xlsx "read_text"`,
    (name) => `from ${name}('FILE')`,
  ),
  ...each(
    'read_parquet parquet_scan parquet_metadata parquet_schema parquet_file_metadata parquet_kv_metadata',
    (name) => `from ${name}('PARQUET')`,
  ),
  ...each(
    `FILE PARQUET FOLDER/parquet/*/*/*/*.parquet /etc/passwd https://example.com/x.parquet s3://bucket/x.parquet
    http://127.0.0.1:1/x.csv`,
    (place) => `from '${place}'`,
  ),
  ...each('describe summarize show table', (verb) => `${verb} 'FILE'`),
  ...lines(`from "FILE"
    from parquet_bloom_probe('PARQUET', 'url', 'x')
    from glob('FOLDER/**')
    from read_parquet(['PARQUET', 'PARQUET'])
    with x as (from read_text('FILE')) from x
    select ${READ}
    select * from pages where exists ${READ}
    select * from pages join read_text('FILE') on true
    select * from pages, lateral ${READ}
    select * from (values (1)) union all select 1 from read_text('FILE')
    select 1 from pages order by ${READ}
    select 1 limit (select length(content) from read_text('FILE'))
    select case when true then ${READ} end
    select list_transform([1], x -> ${READ})
    select 1 from pages group by ${READ}
    select 1 from pages having ${READ}
    select 1 from pages qualify ${READ}
    select sum(1) over (order by ${READ})
    from pages pivot (count(*) for url in (from read_text('FILE')))
    with recursive r as (select content from read_text('FILE') union all from r) from r
    select * from unnest((select [content] from read_text('FILE')))
    /* from pages */ from read_text('FILE')
    from read_text(/* */ 'FILE')
    from read_text($$FILE$$)
    from read_text('FI' || 'LE')
    from read_text('FOLDER/parquet/../service-keys.json')
    from pages union all by name from read_text('FILE')
    select * from (describe from read_text('FILE'))
    from json_execute_serialized_sql(json_serialize_sql('from read_text(''FILE'')'))
    from query('from read_text(''FILE'')')
    from sqlite_scan('FILE', 't')
    from postgres_scan('host=localhost', 'public', 't')
    from iceberg_scan('FOLDER')
    from arrow_scan(1, 2, 3)`),
  "-- from pages\nfrom read_text('FILE')",
];

const WRITES = [
  ...each('FOLDER/out.csv /tmp/out.csv /dev/stdout', (file) => `copy (from pages) to '${file}'`),
  ...each('table temp.table view schema type', (what) => `create ${what.replace('.', ' ')} t as select 1`),
  ...each('view schema table', (what) => `drop ${what} pages`),
  ...each('begin commit rollback checkpoint vacuum analyze', (word) => word),
  ...lines(`copy pages from 'FILE'
    copy (select 1) to 'FOLDER' (format parquet, partition_by (a))
    copy from database memory to other
    export database 'FOLDER/out'
    import database 'FOLDER'
    insert into pages values (1)
    update page_state set url = 'x'
    delete from page_state
    truncate page_state
    merge into page_state using pages on true when matched then delete
    create or replace view pages as select 1
    create sequence q
    create index i on page_state (url)
    create macro m() as table from read_text('FILE')
    create persistent secret (type s3, key_id 'a', secret 'b')
    alter table page_state add column x int
    comment on view pages is 'x'
    explain select 1
    explain analyze from read_text('FILE')
    with x as (delete from page_state returning *) from x
    select 1; drop view pages
    select 1; select 2
    ;;; copy pages to 'FOLDER/out.csv'
    (copy pages to 'FOLDER/out.csv')`),
];

const SETTINGS = [
  ...each(
    'settings secrets extensions variables external_file_cache temporary_files logs log_contexts prepared_statements',
    (name) => `from duckdb_${name}()`,
  ),
  ...each(
    `enable_external_access lock_configuration memory_limit threads temp_directory allowed_directories home_directory
    extension_directory allow_unsigned_extensions custom_extension_repository log_query_path search_path
    global.s3_endpoint variable.x`,
    (name) => `set ${name.replace('.', ' ')} = 'x'`,
  ),
  ...each('describe summarize show table from', (verb) => `${verb} pg_settings`),
  ...each('FOLDER/indexhouse.duckdb :memory: https://example.com/x.duckdb', (place) => `attach '${place}' as other`),
  ...each('enable_profiling database_size disable_verification enable_object_cache', (name) => `pragma ${name}`),
  ...each('httpfs icu FILE', (name) => `load '${name}'`),
  ...each('enable_logging checkpoint force_checkpoint pragma_database_size', (name) => `from ${name}()`),
  ...each(
    'current_query pg_sleep sleep_ms nextval stats getvariable getenv GETENV',
    (name) => `select ${name}('HOME')`,
  ),
  ...each('main.current_setting current_setting', (name) => `select ${name}('temp_directory')`),
  ...lines(`detach memory
    use system
    reset all
    pragma profiling_output = '/tmp/x'
    pragma import_database('FOLDER')
    pragma add_parquet_key('k', '0123456789112345')
    install httpfs from 'http://example.com'
    update extensions
    call pragma_version()
    call glob('FOLDER/*')
    call load_aws_credentials()
    prepare p as from read_text('FILE')
    execute p
    deallocate p
    call enable_logging()
    pragma storage_info('pages')
    from PG_SETTINGS
    from system.pg_catalog."pg_settings"
    from (summarize pg_settings)
    select (select max(setting) from pg_settings)
    pivot pg_settings on name in (1) using max(setting)
    unpivot pg_settings on setting
    from histogram_values(pg_settings, setting)
    from histogram('pg_settings', 'setting')
    from which_secret('s3://x', 's3')
    from sql_auto_complete('sel')
    select list_transform([1], x -> getvariable('files_of_coverage'))
    select * from pages where getenv(url) is null
    select json_serialize_plan('select * from pages', optimize := true)
    select system.main."json_serialize_plan"('from pages')
    select url.json_serialize_plan() from pages
    select list_transform(['from pages'], lambda text: json_serialize_plan(text))
    from pages pivot (max(json_serialize_plan('from pages')) for website_id in ('shop'))
    describe select json_serialize_plan('from pages')
    from range(length(json_serialize_plan('from pages')::varchar))
    select max(json_serialize_plan('from pages')::varchar) over ()
    select json_deserialize_sql('{}')
    select write_log('x')
    from duckdb_logs
    from pg_catalog.pg_prepared_statements`),
];

export const REFUSED = [...READS, ...WRITES, ...SETTINGS];

/** What runs, and must end by a limit without harm. */
export const BOMBS = lines(`select repeat('x', 1000000000)
  with recursive t as (select 'x' as s union all select s || s from t) select length(s) from t
  select list(r) from range(1000000000) t(r)
  select range(2000000000)
  select * from range(300000000) t(r) order by hash(r)`);
