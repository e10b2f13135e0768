"""A Slurm of one node, without systemd: munged, slurmctld and slurmd on 127.0.0.1, with files in a scratch folder."""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol"]
CONFIGURATION = """\
ClusterName=halcyon
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
MaxArraySize=10001
MaxJobCount=20000
ReturnToService=2
SchedulerParameters=sched_interval=2,sched_min_interval=0,batch_sched_delay=0
"""


def missing():
    """Why no node can be started here; None: it can."""
    absent = [name for name in PROGRAMS if not shutil.which(name, path="/usr/sbin:/usr/bin")]
    if absent:
        return f"{', '.join(absent)}: not installed (slurm-wlm, munge)"
    return None if os.geteuid() == 0 else "the daemons need root"


def free_ports(n):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def wait_until(holds, seconds, what):
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, f"{what}: not in {seconds} s"
        time.sleep(0.2)


@contextlib.contextmanager
def slurm_node(folder):
    """Starts the daemons; yields the environment in which sbatch finds them. Ends them by their process ids."""
    folder = pathlib.Path(folder)
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    controller_port, node_port = free_ports(2)
    (folder / "slurm.conf").write_text(CONFIGURATION.format(
        host=socket.gethostname(), folder=folder, cpus=os.cpu_count(), controller_port=controller_port,
        node_port=node_port))
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    commands = [["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
                 f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
                 f"--seed-file={folder}/munged.seed"],
                ["slurmctld", "-D"], ["slurmd", "-D"]]
    started = []
    try:
        for command in commands:
            with open(folder / f"{command[0]}.out", "w", encoding="utf-8") as log:
                started.append(subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                                stderr=log, start_new_session=True))
            if command[0] == "munged":
                wait_until((folder / "munge.socket").exists, 30, "munged")

        def idle():
            done = subprocess.run(["sinfo", "--noheader", "--format=%T"], env=environment, text=True,
                                  capture_output=True, check=False)
            return "idle" in done.stdout
        wait_until(idle, 60, f"a Slurm node ({folder})")
        yield environment
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
