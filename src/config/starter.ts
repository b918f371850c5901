/** The text of a first `indexhouse.yaml`: every key with its default, and a line on each. */
export const STARTER = `# yaml-language-server: $schema=node_modules/indexhouse/docs/indexhouse.schema.json
#
# The configuration of indexhouse. Every value below that is not marked "yours" is the default: what you
# remove stays the same. \${NAME} reads the environment. Check with: indexhouse doctor

api:
  base_url: https://api.example.com     # yours: the service's address, https; may carry a path prefix
  token: \${INDEXHOUSE_TOKEN}            # yours: the bearer token, better kept in the environment than here
  requests_per_minute: 60               # for each token; or unlimited. The service's rate headers may lower it
  concurrency: 8                        # requests under way at once, 1 to 256
  timeout: 30s                          # how long one answer may take
  page_size: 1000                       # entries asked for at a time; the service may give fewer
  max_attempts: 5                       # how often one request is tried

websites: all                           # all that the token may read; or a list:
# websites:
#   - id: 645f2e5cd8cd9b7bd8b55ab1      # the website's id in the service
#     name: example.com                 # how reports call it
#     token: \${OTHER_TOKEN}             # if this website has a token of its own

reports:
  max_per_run: unlimited                # URL reports fetched in one run; 0: the listing only
  refresh_after: 0d                     # an unchanged page's report is not fetched again before this age
  deadline: 20h                         # stop fetching then, and commit what is there
  priority: {}                          # or, with patterns of page URLs in which * stands for any characters:
  # priority:
  #   first: ["/blog/*"]                # these before all others; what begins with / is held against the path
  #   never: ["*?print=*"]              # the reports of these never

warehouse:
  path: ./warehouse                     # counts from the folder of this file
  time_zone: UTC                        # decides a snapshot's date; fixed once the warehouse holds data
  parquet_compression: zstd             # zstd, snappy or gzip
  memory_limit: 1GB                     # DuckDB's memory; a sync uses a quarter of it
  min_free_disk: 1GB                    # with less than this free: stop fetching, and commit
  lock_timeout: 30s                     # how long to wait for a reader of indexhouse.duckdb

retention:                              # for: indexhouse maintain; by default everything is kept
  duckdb_keep: unlimited                # or such as 400d: older coverage and url_reports leave indexhouse.duckdb
  parquet_keep_daily: unlimited         # or such as 400d: older Parquet files of both are thinned
  parquet_then: monthly                 # to the last complete snapshot of each month; or weekly

sync:
  resume_within: 6h                     # an interrupted run that is younger than this is taken up again

quality:
  max_reject_ratio: 0.01                # with a greater share of rejected records a listing is partial

schedule:                               # for: indexhouse schedule
  time_zone: UTC                        # of the times below
  nightly-sync: "0 2 * * *"             # minute, hour, day, month, weekday; false: never

service:                                # for: indexhouse serve
  host: 127.0.0.1                       # address to listen on; beyond loopback only once there is a key
  port: 8090                            # 0 takes a free one
  requests_per_minute: unlimited        # that each key may send; or a number
  page_size: 100                        # entries of a window where a request names no limit
  max_page_size: 1000                   # entries of a window at most
  connections_per_address: 256          # that one address may have open
  trust_proxy: []                       # proxies whose X-Forwarded-… headers are believed: [127.0.0.1]
  allowed_hosts: []                     # names it answers to: [indexhouse.example.com]; localhost is always one
  secure_cookies: false                 # true: cookies only over HTTPS, also where no trusted proxy tells of it
  cors: []                              # origins whose web pages may use it: [https://app.example.com]
  access_log: false                     # true: a line for each request
`;
