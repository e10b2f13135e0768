"""A PostgreSQL server for a test: of Debian's package, in a scratch folder, at a socket in it and no port."""
import glob
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

SKIPPED = 77


def programs():
    """The folder of initdb and postgres; None: not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    return os.path.dirname(found[-1]) if found else None


def unprivileged():
    """The command that runs another one as a user that is not root, which the server refuses to be."""
    if os.geteuid():
        return [], os.geteuid()
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
            return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"], user.pw_uid
        except KeyError:
            continue
    raise RuntimeError("root needs a user 'postgres' or 'nobody' to start the server as")


class Server:
    """with Server() as server: the superuser is 'admin', without a password."""

    def __init__(self, *options):
        self.options = ["fsync=off", "listen_addresses=", "unix_socket_permissions=0777", *options]
        self.bin = programs()
        self.prefix, self.uid = unprivileged()

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="halcyon-pg-", dir="/tmp"))
        os.chown(self.folder, self.uid, -1)
        os.chmod(self.folder, 0o755)
        try:
            self.program("initdb", "-D", self.folder / "data", "-U", "admin", "-A", "trust", "-E", "UTF8", "--locale=C",
                         "--no-sync")
            self.start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        return self

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def program(self, name, *arguments):
        done = subprocess.run([*self.prefix, f"{self.bin}/{name}", *map(str, arguments)], text=True, cwd="/",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, (name, arguments, done.stdout)

    def start(self):
        """It ends with this process, however that ends."""
        options = [f"-c{option}" for option in [*self.options, f"unix_socket_directories={self.folder}"]]
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([*self.prefix, "setpriv", "--pdeathsig", "QUIT", f"{self.bin}/postgres", "-D",
                                             self.folder / "data", *options], cwd="/", stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)
        for _ in range(600):
            if subprocess.run([f"{self.bin}/pg_isready", "-q", "-h", self.folder], check=False).returncode == 0:
                return
            assert self.process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.1)
        raise RuntimeError("the server does not answer")

    def stop(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def url(self, database="postgres", user="admin", **more):
        text = f"postgresql://{user}@/{database}?host={self.folder}"
        return text + "".join(f"&{name}={value}" for name, value in more.items())

    def sql(self, text, database="postgres", check=True):
        """What psql prints: columns separated by '|', rows by line ends."""
        done = subprocess.run([f"{self.bin}/psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "admin", "-d", database,
                               "-c", text], text=True, capture_output=True)
        assert not check or done.returncode == 0, (text, done.stderr)
        return done.stdout
