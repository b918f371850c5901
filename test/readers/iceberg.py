"""Asks the Iceberg tables of a warehouse as somebody would who has this engine: a question is JSON on stdin, and its
answers are printed as JSON: a list of rows for each statement, and the seconds that they took."""

import datetime
import glob
import json
import os
import re
import sys
import time

ENGINE = sys.argv[1]
QUESTION = json.load(sys.stdin)
ROOT = QUESTION["warehouse"]
TABLES = QUESTION["tables"]
UTC = datetime.timezone.utc


def folder(table):
    return f"{ROOT}/iceberg/{table}"


def metadata(table):
    version = open(f"{folder(table)}/metadata/version-hint.text").read()
    return f"file://{folder(table)}/metadata/v{version}.metadata.json"


def pyiceberg():
    """Its filters choose the rows of each table; DuckDB over Arrow joins and counts them."""
    import duckdb
    from pyiceberg.table import StaticTable

    tables = {table: StaticTable.from_metadata(metadata(table)) for table in TABLES}

    def ask(sql, versions, filters):
        con = duckdb.connect()
        con.execute("set TimeZone = 'UTC'")
        for name, table in tables.items():
            if name in sql:
                scan = table.scan(row_filter=filters.get(name, "true"), snapshot_id=versions.get(name))
                con.register(name, scan.to_arrow())
        return con.execute(sql).fetchall()

    return ask


def plan():
    """How many files pyiceberg opens for a filter, the rows that it finds there, and the seconds that this takes."""
    from pyiceberg.table import StaticTable

    def ask(name, versions, filters):
        started = time.perf_counter()
        scan = StaticTable.from_metadata(metadata(name)).scan(row_filter=filters.get(name, "true"))
        rows = scan.to_arrow().num_rows
        return [(len(list(scan.plan_files())), rows, time.perf_counter() - started)]

    return ask


def polars():
    import polars as pl

    def ask(sql, versions, filters):
        scans = {t: pl.scan_iceberg(metadata(t), snapshot_id=versions.get(t)) for t in TABLES if t in sql}
        return pl.SQLContext(scans).execute(sql).collect().rows()

    return ask


def chdb():
    import chdb

    # It opens files below its working directory alone.
    os.chdir(ROOT)

    def ask(sql, versions, filters):
        settings = {t: f"settings iceberg_snapshot_id = {id}" for t, id in versions.items()}
        read = {t: f"select * from icebergLocal('{folder(t)}') {settings.get(t, '')}" for t in TABLES if t in sql}
        tables = ", ".join(f"{t} as ({select})" for t, select in read.items())
        rest = sql.removeprefix("with ")
        rows = chdb.query(f"with {tables}{' ' if rest == sql else ', '}{rest}", "JSONCompactEachRow")
        return [json.loads(line) for line in str(rows).splitlines()]

    return ask


def duckdb():
    import duckdb

    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    con.execute("set TimeZone = 'UTC'")
    for name in ("avro", "iceberg"):
        module = __import__(f"duckdb_extension_{name}").__path__[0]
        (extension,) = glob.glob(f"{module}/extensions/*/*.duckdb_extension")
        con.execute(f"load '{extension}'")

    def ask(sql, versions, filters):
        for t in (t for t in TABLES if t in sql):
            version = f", snapshot_from_id = {versions[t]}" if t in versions else ""
            con.execute(f"create or replace view {t} as from iceberg_scan('{folder(t)}'{version})")
        return con.execute(sql).fetchall()

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

    def ask(sql, versions, filters):
        for t in (t for t in TABLES if t in sql):
            # A number is a snapshot, a text is a time.
            way = "timestamp" if isinstance(versions.get(t), str) else "version"
            version = f"{way} as of {versions[t]!r}" if t in versions else ""
            session.sql(f"select * from indexhouse.iceberg.{t} {version}").createOrReplaceTempView(t)
        return [tuple(row) for row in session.sql(sql).collect()]

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
UNNEST = {"chdb": "arrayJoin", "spark": "explode"}.get(ENGINE, "unnest")
ask = globals()[ENGINE]()
answers = []
for statement in QUESTION["statements"]:
    started = time.perf_counter()
    sql = statement["sql"].replace("unnest", UNNEST)
    rows = ask(sql, statement.get("versions", {}), statement.get("filters", {}))
    seconds = time.perf_counter() - started
    answers.append({"rows": [[shown(value) for value in row] for row in rows], "seconds": seconds})
print(json.dumps(answers))
