# SPDX-License-Identifier: GPL-2.0
"""The files of the SOVIA paper through an unmodified FTP server and client."""
import filecmp
import os
import re

from program import HOST, Failed, Load, Program, find

VSFTPD_CONF = """
listen=YES
listen_address=%(host)s
listen_port=%(port)d
background=NO
anonymous_enable=YES
no_anon_password=YES
anon_root=%(folder)s/files
ftp_username=ftp
secure_chroot_dir=/var/run/vsftpd/empty
seccomp_sandbox=NO
xferlog_enable=NO
"""


class Ftp(Program):
    """vsftpd and curl: a file; beside it a local copy of the same file."""

    unit = "MB/s"
    copies = True  # one transport more, copy, which is no transport
    sizes = (19090223, 145864380)  # bytes, those of the SOVIA paper

    def prepare(self):
        os.chmod(self.folder, 0o755)
        os.mkdir(self.folder + "/files")
        os.makedirs("/var/run/vsftpd/empty", exist_ok=True)
        with open(self.folder + "/conf", "w", encoding="utf-8") as file:
            file.write(VSFTPD_CONF % {"folder": self.folder, "host": HOST, "port": self.port})
        self.start(find("vsftpd"), self.folder + "/conf")

    def make(self, size):
        """A file of so many bytes, once."""
        path = "%s/files/%d" % (self.folder, size)
        if not os.path.exists(path):
            block = os.urandom(1 << 20)
            with open(path, "wb") as file:
                for start in range(0, size, len(block)):
                    file.write(block[:min(len(block), size - start)])
        return path

    def fetch(self, size):
        """What curl says of its transfer, connecting and login included."""
        self.make(size)
        copy = self.folder + "/fetched"
        said = self.run(find("curl"), "-sS", "-o", copy, "-w", "%{time_total}",
                        "ftp://%s:%d/%d" % (HOST, self.port, size))
        self.check(copy, size)
        return Load(size / 1e6 / float(said), 1, 1, size)

    def copy(self, size):
        """What dd says of copying the file."""
        copy = self.folder + "/copied"
        said = self.run(find("dd"), "if=" + self.make(size), "of=" + copy, "bs=128k")
        self.check(copy, size)
        took = re.search(r"copied, ([0-9.e-]+) s", said).group(1)
        return Load(size / 1e6 / float(took), 0, 1)

    def check(self, copy, size):
        """A figure of a file that is not the same would mean nothing."""
        if not filecmp.cmp(self.make(size), copy, shallow=False):
            raise Failed("the copy of %d bytes differs" % size)
        os.unlink(copy)

    def loads(self):
        for size in self.sizes:
            yield "file_%d" % size, lambda _, s=size: self.fetch(s)

    def local(self, metric):
        """The load that copy stands for."""
        return lambda _: self.copy(int(metric.split("_")[1]))
