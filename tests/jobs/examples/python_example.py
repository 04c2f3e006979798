# Each line that must be found says so; everything else must not be.
import os as o  # plain
import os
import platform
import subprocess  # expect: python-subprocess
from subprocess import run as r  # expect: python-subprocess
from os import system as s  # expect: python-os-process
from os import path
from asyncio import create_subprocess_exec  # expect: python-asyncio-subprocess
from pickle import loads  # expect: python-pickle
from yaml import load  # expect: python-yaml-load
from builtins import eval as e  # expect: python-eval
import asyncio
import pickle
import yaml
import json
import builtins
import pty

os.system("ls")  # expect: python-os-process
os.popen("ls")  # expect: python-os-process
os.execvp("ls", [])  # expect: python-os-process
os.posix_spawn("ls", [], {})  # expect: python-os-process
later = os.fork  # expect: python-os-process
pty.spawn("sh")  # expect: python-os-process
o.system("ls")  # expect: python-os-alias
platform.system()
os.path.join("a", "b")
getattr(os, "system")("ls")  # expect: python-getattr
getattr(json, "loads")("1")
subprocess.run(["ls"])  # expect: python-subprocess
subprocess.Popen("ls", shell=True)  # expect: python-subprocess python-shell
run_it("ls", shell=True)  # expect: python-shell
run_it("ls", shell=False)
asyncio.create_subprocess_shell("ls")  # expect: python-asyncio-subprocess
eval("1")  # expect: python-eval
exec("1")  # expect: python-eval
builtins.exec("1")  # expect: python-eval
__import__("os")  # expect: python-eval
model.eval()
cursor.execute("select 1")
pickle.loads(b"")  # expect: python-pickle
json.loads("1")
yaml.load("a")  # expect: python-yaml-load
yaml.load("a", Loader=yaml.Loader)  # expect: python-yaml-load
yaml.load("a", Loader=yaml.SafeLoader)
yaml.safe_load("a")
text = "os.system('x')"
