# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of Debian's package on loopback, for the tests of several relays."""

import glob
import os
import shutil
import socket
import subprocess
import tempfile

from stage import wait_until


class Database:
    """One of its own, which trusts who comes by loopback."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="page-db-")
        self.tools = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        # The server refuses to run as root.
        self.as_user = []
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
            self.as_user = ["runuser", "-u", "postgres", "--"]
        subprocess.run(
            [*self.as_user, f"{self.tools}/initdb", "-D", f"{self.folder}/data", "-U", "relay", "-A", "trust", "-E", "UTF8",
             "--locale", "C", "--no-sync"], check=True, stdout=subprocess.DEVNULL)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.process = subprocess.Popen(
            [*self.as_user, f"{self.tools}/postgres", "-D", f"{self.folder}/data", "-k", self.folder, "-p", str(self.port),
             "-c", "listen_addresses=127.0.0.1"], stderr=subprocess.DEVNULL)
        wait_until(self._answers, "a database that answers")

    def _answers(self):
        return subprocess.run([f"{self.tools}/pg_isready", "-h", "127.0.0.1", "-p", str(self.port)],
                              stdout=subprocess.DEVNULL).returncode == 0

    def node(self, name):
        """The store of one relay."""
        return f'{{ postgres: {{ url: "postgresql://relay@127.0.0.1:{self.port}/postgres", node: "{name}" }} }}'

    def stop(self):
        subprocess.run([*self.as_user, f"{self.tools}/pg_ctl", "-D", f"{self.folder}/data", "stop", "-m", "immediate"],
                       stdout=subprocess.DEVNULL)
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)
