"""The HTTP interface of a ClickHouse server over chdb, as far as the client uses it. Arguments: folder, password."""

import base64
import os
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

folder, password = sys.argv[1:3]
chdb = session.Session(folder)
one_at_a_time = threading.Lock()
NOT_SETTINGS = {"query", "query_id", "database", "session_id", "default_format", "wait_end_of_query"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        given = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        body = self.body()
        if self.headers["Authorization"] != "Basic " + base64.b64encode(f"default:{password}".encode()).decode():
            reason = "default: Authentication failed: password is incorrect, or there is no user with such name."
            return self.answer(403, f"Code: 516. DB::Exception: {reason} (AUTHENTICATION_FAILED) (version 26.9)")
        try:
            with one_at_a_time:
                status, text = 200, run(given, body)
        except Exception as error:
            status, text = 500, str(error)
        try:
            self.answer(status, text)
        except ConnectionError:
            pass  # Who asked was killed.

    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def answer(self, status, text):
        data = text.encode("utf-8", "surrogateescape")
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=UTF-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def run(given, body):
    chdb.query(f"use `{given.get('database', 'default')}`")
    for name, value in given.items():
        if name not in NOT_SETTINGS and not name.startswith("param_"):
            chdb.query(f"set {name} = '{value}'")
    bound = {name[len("param_"):]: value for name, value in given.items() if name.startswith("param_")}
    if "query" not in given:
        return str(chdb.query(body.decode(), params=bound) if bound else chdb.query(body.decode()))
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(body)
        file.flush()
        insert = given["query"].replace("FORMAT Parquet", f"FROM INFILE '{file.name}' FORMAT Parquet")
        chdb.query(insert)
    return ""


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
