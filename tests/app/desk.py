# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A desk for a test: a virtual X server, a window manager, a bus, a home.

What is started is ended by its process id, and dies with the test."""
import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time

BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=%s</listen><auth>EXTERNAL</auth>
<standard_session_servicedirs/><policy context="default"><allow send_destination="*"/>
<allow receive_sender="*"/><allow own="*"/></policy></busconfig>
"""


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def wait_until(condition, limit_s=20, what="it"):
    """Looks every few milliseconds; fails after @limit_s."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("%s did not happen in %d s" % (what, limit_s))
        time.sleep(0.01)


class Desk:
    def __init__(self, width=1280, height=800, wm="openbox", theme=None):
        self.root = tempfile.mkdtemp(prefix="khadim-desk-")
        self.home = os.path.join(self.root, "home")
        self.run = os.path.join(self.root, "run")
        os.makedirs(self.home, 0o700)
        os.makedirs(self.run, 0o700)
        self.processes = []
        self.env = {key: value for key, value in os.environ.items()
                    if key not in ("WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "NO_AT_BRIDGE",
                                   "XDG_CURRENT_DESKTOP", "AT_SPI_BUS_ADDRESS", "G_DEBUG",
                                   "MALLOC_CHECK_", "MALLOC_PERTURB_", "DISPLAY")}
        self.env.update(HOME=self.home, XDG_RUNTIME_DIR=self.run, GDK_BACKEND="x11",
                        LANG="C.UTF-8", GIO_USE_VFS="local", GSETTINGS_BACKEND="memory",
                        GSK_RENDERER="cairo", ADW_DISABLE_PORTAL="1",
                        KHADIM_HOME=os.path.join(self.root, "khadim"))
        if theme is not None:
            self.env["GTK_THEME"] = theme
        self.start_server(width, height)
        self.start_bus()
        if wm is not None:
            self.start([wm])
            wait_until(self.has_manager, what="the window manager's start")

    def start(self, argv, **options):
        process = subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL,
                                   preexec_fn=die_with_parent,
                                   stdout=options.pop("stdout", subprocess.DEVNULL),
                                   stderr=options.pop("stderr", subprocess.DEVNULL), **options)
        self.processes.append(process)
        return process

    def start_server(self, width, height):
        read, write = os.pipe()
        self.start(["Xvfb", "-displayfd", str(write), "-screen", "0",
                    "%dx%dx24" % (width, height), "-nolisten", "tcp", "-ac", "-noreset"], pass_fds=[write])
        os.close(write)
        with os.fdopen(read) as file:
            number = file.readline().strip()
        assert number, "Xvfb did not start"
        self.env["DISPLAY"] = ":" + number

    def start_bus(self):
        config = os.path.join(self.root, "bus.conf")
        with open(config, "w") as file:
            file.write(BUS_CONFIG % self.root)
        bus = self.start(["dbus-daemon", "--config-file=" + config, "--nofork",
                          "--print-address=1"], stdout=subprocess.PIPE, text=True)
        self.env["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
        assert self.env["DBUS_SESSION_BUS_ADDRESS"], "dbus-daemon did not start"

    def has_manager(self):
        out = self.output(["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"])
        return "window id" in out

    def output(self, argv, **options):
        return subprocess.run(argv, env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=options.pop("timeout", 120), **options).stdout

    def call(self, argv, **options):
        return subprocess.run(argv, env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=options.pop("timeout", 180), **options)

    def close(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.kill()
            process.wait()
        shutil.rmtree(self.root, ignore_errors=True)
