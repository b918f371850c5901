"""Asks the Iceberg tables of a warehouse as somebody would who has this engine: a question is JSON on stdin, and its
answers are printed as JSON, a list of rows for each statement."""

import datetime
import glob
import json
import os
import re
import sys

ENGINE = sys.argv[1]
QUESTION = json.load(sys.stdin)
ROOT = QUESTION["warehouse"]
TABLES = ("coverage", "coverage_summary", "page_versions", "page_state", "snapshots")
UTC = datetime.timezone.utc


def folder(table):
    return f"{ROOT}/iceberg/{table}"


def metadata(table):
    version = open(f"{folder(table)}/metadata/version-hint.text").read()
    return f"file://{folder(table)}/metadata/v{version}.metadata.json"


def rows_of(cursor):
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row)) for row in cursor.fetchall()]


def pyiceberg():
    """DuckDB over Arrow joins and counts the rows of each table. A filter asks which files it opens, and for their rows."""
    import duckdb
    from pyiceberg.table import StaticTable

    def ask(sql, versions):
        con = duckdb.connect()
        for t in (t for t in TABLES if t in sql):
            scan = StaticTable.from_metadata(metadata(t)).scan(snapshot_id=versions.get(t))
            con.register(t, scan.to_arrow())
        return rows_of(con.execute(sql))

    def plan(row_filter):
        scan = StaticTable.from_metadata(metadata("coverage")).scan(row_filter=row_filter)
        return [{"files": len(list(scan.plan_files())), "rows": scan.to_arrow().num_rows}]

    return lambda sql, versions: plan(sql) if sql.startswith("website_id = ") else ask(sql, versions)


def polars():
    import polars as pl

    def ask(sql, versions):
        scans = {t: pl.scan_iceberg(metadata(t), snapshot_id=versions.get(t)) for t in TABLES if t in sql}
        return pl.SQLContext(scans).execute(sql).collect().to_dicts()

    return ask


def clickhouse():
    from chdb.session import Session

    # It opens files below its working directory alone.
    os.chdir(ROOT)
    session = Session()

    def ask(sql, versions):
        for t in TABLES:
            version = f"settings iceberg_snapshot_id = {versions[t]}" if t in versions else ""
            session.query(f"create or replace view {t} as select * from icebergLocal('{folder(t)}') {version}")
        return [json.loads(line) for line in str(session.query(sql, "JSONEachRow")).splitlines()]

    return ask


def duckdb():
    import duckdb

    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    con.execute("set TimeZone = 'UTC'")
    for name in ("avro", "iceberg"):
        module = __import__(f"duckdb_extension_{name}").__path__[0]
        (extension,) = glob.glob(f"{module}/extensions/*/*.duckdb_extension")
        con.execute(f"load '{extension}'")

    def ask(sql, versions):
        for t in TABLES:
            version = f", snapshot_from_id = {versions[t]}" if t in versions else ""
            con.execute(f"create or replace view {t} as from iceberg_scan('{folder(t)}'{version})")
        return rows_of(con.execute(sql))

    return ask


def spark():
    from pyspark.sql import SparkSession

    settings = {
        "spark.jars.packages": "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.0",
        "spark.jars.ivy": QUESTION["ivy"],
        "spark.sql.catalog.indexhouse": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.indexhouse.type": "hadoop",
        "spark.sql.catalog.indexhouse.warehouse": ROOT,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")

    def ask(sql, versions):
        for t in TABLES:
            # A number is a snapshot, a text is a time.
            way = "timestamp" if isinstance(versions.get(t), str) else "version"
            version = f"{way} as of {versions[t]!r}" if t in versions else ""
            session.sql(f"select * from indexhouse.iceberg.{t} {version}").createOrReplaceTempView(t)
        return [row.asDict() for row in session.sql(sql).collect()]

    return ask


def shown(value):
    """The same text for the same value, whatever an engine makes of its type."""
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?", value):
        value = datetime.datetime.fromisoformat(value)
    if isinstance(value, datetime.datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    # One of them divides by a constant with an error in the last digit.
    return round(float(value), 9)


os.environ["TZ"] = "UTC"
ask = globals()[ENGINE]()
answers = []
for statement in QUESTION["statements"]:
    rows = ask(statement["sql"], statement.get("versions", {}))
    answers.append([{name: shown(value) for name, value in row.items()} for row in rows])
print(json.dumps(answers))
