"""Links between this machine and a network namespace, whose packets are delayed, lost or stopped.

Usage: link.py NAMESPACE PREFIX COUNT. Makes the namespace and COUNT links. Link N has the TUN device PREFIX + Nh here with
198.18.N.1, and PREFIX + Ns in the namespace with 198.18.N.2. Prints "ready". Then reads lines from standard input:

    LINK DELAY_MS JITTER_MS LOSS_PERCENT

Each applies to packets in either direction; a loss of 100 is a partition. The order of packets is kept. At the end of its
input, it ends the processes in the namespace and removes it: also after a kill -9 of the program that started it. In place
of `tc netem`, which many kernels of containers and virtual machines do not have.
"""

import collections
import contextlib
import fcntl
import os
import random
import select
import signal
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN_WITHOUT_HEADER = 0x1001
LARGEST_PACKET = 65536
# As a switch has, so that a flood does not fill the memory.
LONGEST_QUEUE = 20000


def run(*words):
    subprocess.run(words, check=True)


def open_tun(name):
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN_WITHOUT_HEADER))
    return tun


class Direction:
    """Packets that were read at one end and wait to be written at the other."""

    def __init__(self, source, target):
        self.source = source
        self.target = target
        self.waiting = collections.deque()

    def take(self, fault):
        try:
            packet = os.read(self.source, LARGEST_PACKET)
        except BlockingIOError:
            return
        delay_ms, jitter_ms, loss_percent = fault
        if random.random() * 100 < loss_percent or len(self.waiting) >= LONGEST_QUEUE:
            return
        due = time.monotonic() + max(0, delay_ms + random.uniform(-jitter_ms, jitter_ms)) / 1000
        if self.waiting:
            due = max(due, self.waiting[-1][0])
        self.waiting.append((due, packet))

    def pass_on(self):
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            # A device that is full or down loses the packet.
            with contextlib.suppress(OSError):
                os.write(self.target, self.waiting.popleft()[1])


def make_link(namespace, prefix, number):
    here, there = f"{prefix}{number}h", f"{prefix}{number}s"
    ends = open_tun(here), open_tun(there)
    run("ip", "link", "set", there, "netns", namespace)
    run("ip", "addr", "add", f"198.18.{number}.1/30", "dev", here)
    run("ip", "link", "set", here, "up")
    run("ip", "-n", namespace, "addr", "add", f"198.18.{number}.2/30", "dev", there)
    run("ip", "-n", namespace, "link", "set", there, "up")
    return Direction(*ends), Direction(*reversed(ends))


def read_faults(faults):
    """Reads lines of faults; false at the end of the input."""
    text = os.read(0, LARGEST_PACKET).decode()
    for line in text.splitlines():
        number, *values = line.split()
        faults[int(number)] = [float(value) for value in values]
    return text != ""


def forward(directions):
    faults = {number: [0, 0, 0] for number in directions}
    sources = {each.source: (number, each) for number, pair in directions.items() for each in pair}
    while True:
        due = [each.waiting[0][0] for _, each in sources.values() if each.waiting]
        pause = max(0, min(due) - time.monotonic()) if due else None
        readable, _, _ = select.select([0, *sources], [], [], pause)
        for source in readable:
            if source == 0:
                if not read_faults(faults):
                    return
            else:
                number, direction = sources[source]
                direction.take(faults[number])
        for _, direction in sources.values():
            direction.pass_on()


def main():
    namespace, prefix, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    run("ip", "netns", "add", namespace)
    try:
        run("ip", "-n", namespace, "link", "set", "lo", "up")
        directions = {number: make_link(namespace, prefix, number) for number in range(1, count + 1)}
        print("ready", flush=True)
        forward(directions)
    finally:
        listed = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True)
        for process in listed.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        run("ip", "netns", "delete", namespace)


main()
