# SPDX-License-Identifier: GPL-2.0
"""Unmodified programs as experiments: a server, its own load generator, and what that says."""
import csv
import io
import os
import pwd
import re

from ftp import Ftp
from program import HOST, Failed, Load, Missing, Program, find


class Redis(Program):
    """redis-server and redis-benchmark: GET of a value of three bytes."""

    unit = "requests/s"

    def __init__(self, folder):
        super().__init__(folder)
        self.rates = {}

    def prepare(self):
        self.start(find("redis-server"), "--bind", HOST, "--port", str(self.port),
                   "--save", "", "--appendonly", "no")
        self.benchmark("set", 1, 1, 1)

    def benchmark(self, command, clients, pipeline, requests):
        """Requests a second."""
        said = self.run(find("redis-benchmark"), "-h", HOST, "-p", str(self.port), "--csv",
                        "-t", command, "-c", str(clients), "-P", str(pipeline),
                        "-n", str(requests))
        for line in csv.reader(io.StringIO(said)):
            if line and line[0].upper() == command.upper():
                return float(line[1])
        raise Failed("redis-benchmark tells no rate:\n" + said)

    def load(self, clients, pipeline, seconds):
        """As many requests as last so long at the rate that was seen last."""
        key, least, first = (clients, pipeline), 500 * pipeline, 0
        if key not in self.rates:
            first = least
            self.rates[key] = self.benchmark("get", clients, pipeline, first)
        requests = max(least, int(self.rates[key] * seconds))
        self.rates[key] = self.benchmark("get", clients, pipeline, requests)
        return Load(self.rates[key], clients, first + requests)

    def loads(self):
        for clients, pipeline in ((1, 1), (50, 1), (50, 16)):
            yield ("get_c%d_p%d" % (clients, pipeline),
                   lambda seconds, c=clients, p=pipeline: self.load(c, p, seconds))


NGINX_CONF = """
user root;
worker_processes 1;
daemon off;
pid %(folder)s/pid;
error_log stderr;
events { worker_connections 768; }
http {
	sendfile on;
	tcp_nopush on;
	access_log off;
	keepalive_requests 1000000000;
	client_body_temp_path %(folder)s;
	proxy_temp_path %(folder)s;
	fastcgi_temp_path %(folder)s;
	uwsgi_temp_path %(folder)s;
	scgi_temp_path %(folder)s;
	server {
		listen %(host)s:%(port)d;
		root %(folder)s/www;
	}
}
"""


class Nginx(Program):
    """nginx as Debian sets it up, with one worker, and wrk: a file of 1 KiB, keep-alive."""

    unit = "requests/s"
    connections = 10  # what wrk makes if it is not told

    def prepare(self):
        os.mkdir(self.folder + "/www")
        with open(self.folder + "/www/file", "wb") as file:
            file.write(b"x" * 1024)
        with open(self.folder + "/conf", "w", encoding="utf-8") as file:
            file.write(NGINX_CONF % {"folder": self.folder, "host": HOST, "port": self.port})
        self.start(find("nginx"), "-p", self.folder, "-e", "stderr", "-c", self.folder + "/conf")

    def load(self, seconds):
        """One thread, ten connections."""
        said = self.run(find("wrk"), "-t", "1", "-c", str(self.connections),
                        "-d", "%ds" % max(1, round(seconds)),
                        "http://%s:%d/file" % (HOST, self.port))
        rate = re.search(r"Requests/sec: *([0-9.]+)", said)
        requests = re.search(r"(\d+) requests in", said)
        if not rate or not requests or "Non-2xx" in said or "Socket errors" in said:
            raise Failed("wrk did not get what it asked for:\n" + said)
        return Load(float(rate.group(1)), self.connections, int(requests.group(1)))

    def loads(self):
        yield "keepalive_1k", self.load


class Postgres(Program):
    """PostgreSQL and pgbench -S: one client that selects one row at a time."""

    unit = "transactions/s"
    user = "postgres"
    where = "/usr/lib/postgresql/*/bin"

    def prepare(self):
        try:
            account = pwd.getpwnam(self.user)
        except KeyError:
            raise Missing("no user %s: install postgresql" % self.user) from None
        os.chown(self.folder, account.pw_uid, account.pw_gid)
        data = self.folder + "/data"
        self.run(find("initdb", self.where), "-D", data, "-A", "trust", "--no-sync",
                 "--no-locale", "-E", "UTF8")
        settings = {"listen_addresses": HOST, "port": self.port, "fsync": "off",
                    "unix_socket_directories": self.folder, "autovacuum": "off",
                    "shared_buffers": "32MB", "max_connections": "20"}
        self.start(find("postgres", self.where), "-D", data,
                   *("--%s=%s" % item for item in settings.items()))
        self.pgbench("-i", "-q")

    def pgbench(self, *args):
        """Runs it; what it says."""
        return self.run(find("pgbench", self.where), "-h", HOST, "-p", str(self.port),
                        "-U", self.user, *args, "postgres")

    def load(self, seconds):
        """Transactions a second, without the time that connecting takes."""
        said = self.pgbench("-n", "-S", "-c", "1", "-T", str(max(1, round(seconds))))
        rate = re.search(r"^tps = ([0-9.]+)", said, re.M)
        done = re.search(r"transactions actually processed: (\d+)", said)
        failures = re.search(r"failed transactions: (\d+)", said)
        if not rate or not done or (failures and int(failures.group(1))):
            raise Failed("pgbench did not go well:\n" + said)
        return Load(float(rate.group(1)), 1, int(done.group(1)))

    def loads(self):
        yield "select_c1", self.load


class Memcached(Program):
    """memcached and memcslap: values are read over ten connections."""

    unit = "requests/s"
    connections = 10

    def __init__(self, folder):
        super().__init__(folder)
        self.each = 100  # requests of a connection

    def prepare(self):
        self.start(find("memcached"), "-l", HOST, "-p", str(self.port), "-u", "root", "-t", "1",
                   "-m", "1024")

    def load(self, seconds):
        """Requests a second; the next load lasts as long as it should."""
        said = self.run(find("memcslap"), "--servers=%s:%d" % (HOST, self.port), "--test=get",
                        "--concurrency=%d" % self.connections, "--execute-number=%d" % self.each,
                        "--initial-load=100")
        took = re.search(r"^Time to get +(\d+) keys .*?([0-9.]+) seconds", said, re.M)
        if not took or not float(took.group(2)):
            raise Failed("memcslap tells no time:\n" + said)
        wanted = self.connections * self.each
        if int(took.group(1)) != wanted:  # of which it says nothing else
            raise Failed("memcslap got %s of %d values" % (took.group(1), wanted))
        rate = wanted / float(took.group(2))
        self.each = max(100, int(rate * seconds / self.connections))
        return Load(rate, self.connections, wanted)

    def loads(self):
        yield "get_c10", self.load


PROGRAMS = {"redis": Redis, "nginx": Nginx, "pgbench": Postgres, "memcached": Memcached,
            "ftp": Ftp}
