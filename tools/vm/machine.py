# SPDX-License-Identifier: GPL-2.0
"""The virtual machine: QEMU's command line, and whether KVM works here."""
import os
import subprocess

import tsc

PROBE_SECONDS = 20
PORTS = ("out", "err", "control")


# What emulation pays dearly for, and no test is about: the string instructions, emulated
# a step at a time, and the kernel's defences against the processor. Memory that the
# kernel would have cleared first is not, which shows what a module forgets to clear.
LEAN_CPU = "max,-erms,-fsrm"
LEAN_WORDS = "mitigations=off init_on_alloc=0 clearcpuid=rep_good"


def accelerator(icount, kvm, lean=False):
    """Returns QEMU's options and the name of the way the guest's code is run."""
    if icount:
        return ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-cpu", "max",
                "-seed", "1", "-rtc", "base=2024-01-01,clock=vm"], "tcg icount"
    if kvm:
        return ["-accel", "kvm", "-cpu", "host"], "kvm"
    return ["-accel", "tcg,thread=multi", "-cpu", LEAN_CPU if lean else "max"], "tcg"


def cache_dir():
    """Returns the folder that common.sh describes."""
    return os.environ.get("SPEED_CACHE") or (
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) + "/speed"


def emulator(cache):
    """Returns the QEMU that setup has unpacked, or else the installed one."""
    own = cache + "/qemu/qemu-system-x86_64"
    return own if os.path.exists(own) else "qemu-system-x86_64"


def boot(kernel_dir, initrd, cpus, mem, accel, append=""):
    """The options every guest has; its kernel log goes to standard output."""
    args = [emulator(os.path.dirname(kernel_dir)), "-nodefaults", "-no-user-config", "-no-reboot",
            "-display", "none", "-machine", "q35", "-smp", str(cpus), "-m", mem,
            "-kernel", kernel_dir + "/kernel", "-initrd", initrd,
            "-serial", "stdio"]
    words = ["console=ttyS0", "panic=-1", "no_timer_check", "reboot=t,force", "loglevel=7",
             "printk.devkmsg=on", "rcupdate.rcu_cpu_stall_timeout=60", "random.trust_cpu=on"]
    if accel != "kvm":
        # The host's own counter, or that of instructions: the same on all processors.
        words.append("tsc=reliable")
    if "icount" in accel:
        # One instruction is a nanosecond, which the guest need not measure. Things lie where
        # they lay in the boot before, which what is counted depends on.
        words += ["tsc_early_khz=1000000", "nokaslr", "norandmaps"]
    elif accel != "kvm":
        khz = tsc.khz()
        words += ["speed.keep"] + (["tsc_early_khz=%d" % khz] if khz else [])
    return args + ["-append", " ".join(words + [append])]


def entry(name, mode, data=b""):
    """A member of a cpio archive of the kernel's format."""
    name = name.encode() + b"\0"
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    head += b"\0" * (-len(head) % 4)
    return head + data + b"\0" * (-len(data) % 4)


def make_initrd(base, files, out):
    """Appends files, {path in the guest: path here}, to the kernel's initrd: the kernel
    unpacks one archive after another.
    """
    with open(base, "rb") as file:
        archive = file.read()
    archive += b"\0" * (-len(archive) % 4)
    folders = set()
    for name in sorted(files):
        parts = name.strip("/").split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folder not in folders:
                archive += entry(folder, 0o040755)
                folders.add(folder)
        with open(files[name], "rb") as file:
            archive += entry("/".join(parts), 0o100755, file.read())
    archive += entry("TRAILER!!!", 0)
    with open(out, "wb") as file:
        file.write(archive + b"\0" * (-len(archive) % 512))


def serial_ports(ports):
    """The three ports as further serial lines: they need no thread of QEMU's."""
    args = []
    for name, fd in zip(PORTS, ports):
        args += ["-chardev", "file,id=%s,path=/proc/self/fd/%d" % (name, fd),
                 "-serial", "chardev:" + name]
    return args


def devices(disk, run_dir, tree, ports):
    """Disk (writes are thrown away), the two shared folders, three ports."""
    args = ["-drive", "file=%s,if=virtio,format=raw,snapshot=on" % disk.replace(",", ",,"),
            "-device", "virtio-serial-pci"]
    for tag, path in (("speed.run", run_dir), ("speed.tree", tree)):
        name = tag.replace(".", "-")
        args += ["-fsdev", "local,id=%s,path=%s,security_model=none,multidevs=remap"
                 % (name, path.replace(",", ",,")),
                 "-device", "virtio-9p-pci,fsdev=%s,mount_tag=%s" % (name, tag)]
    for number, (name, fd) in enumerate(zip(PORTS, ports), 1):
        args += ["-chardev", "file,id=%s,path=/proc/self/fd/%d" % (name, fd),
                 "-device", "virtserialport,nr=%d,chardev=%s,name=speed.%s" % (number, name, name)]
    return args


def kvm_works(cache, kernel_dir, initrd):
    """Boots a kernel under KVM once for each host kernel and QEMU, and remembers."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    version = subprocess.run([emulator(cache), "--version"], stdout=subprocess.PIPE,
                             check=True, universal_newlines=True).stdout.splitlines()[0]
    key = "%s | %s | " % (os.uname().release, version)
    memory = cache + "/kvm-probe"
    try:
        with open(memory) as file:
            said = file.read()
        if said.startswith(key):
            return said == key + "yes\n"
    except OSError:
        pass
    options, name = accelerator(False, True)
    try:
        output = subprocess.run(boot(kernel_dir, initrd, 1, "512M", name, "speed.probe") + options,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, timeout=PROBE_SECONDS,
                                check=False).stdout
    except subprocess.TimeoutExpired:
        output = b""
    works = b"speed-vm: probe" in output
    with open("%s.%d" % (memory, os.getpid()), "w") as file:
        file.write(key + ("yes\n" if works else "no\n"))
    os.rename(file.name, memory)
    return works
