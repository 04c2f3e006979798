# The same deeds in other words. Each line that must be found says so; everything else must not be.
import sys, os as q  # plain
import os
import builtins as b
import pickle as p
import yaml as y
import ctypes
import importlib
import operator
import runpy
from os import *  # expect: python-os-process
from importlib import import_module
import _posixsubprocess  # expect: python-subprocess

q.system("ls")  # expect: python-os-alias
handed = os  # expect: python-os-handed
first, second = os, sys  # expect: python-os-handed
kept: object = os  # expect: python-os-handed
if (walrus := os):  # expect: python-os-handed
    pass
def later(module=os):  # expect: python-os-handed
    return module
os.__dict__["system"]("ls")  # expect: python-getattr
vars(os)["system"]("ls")  # expect: python-getattr
os.__getattribute__("system")("ls")  # expect: python-getattr
sys.modules["os"].system("ls")  # expect: python-getattr python-os-process
sys.modules.get("subprocess")  # expect: python-getattr
operator.methodcaller("system", "ls")(os)  # expect: python-getattr
operator.attrgetter("popen")(os)  # expect: python-getattr
importlib.import_module("subprocess")  # expect: python-getattr
import_module("os").popen("ls")  # expect: python-getattr python-os-process
importlib.import_module("json")
ctypes.CDLL(None).system(b"ls")  # expect: python-os-process
libc = ctypes.CDLL(None)
libc.system(b"ls")  # expect: python-os-alias
run_it("ls", **{"shell": True})  # expect: python-shell
run_it("ls", **{"shell": False})
run = eval  # expect: python-eval
call_with(exec, "1")  # expect: python-eval
__builtins__["eval"]("1")  # expect: python-eval
b.exec("1")  # expect: python-eval-alias
runpy.run_path("x.py")  # expect: python-eval
compile("1", "x", "exec")  # expect: python-eval
p.loads(b"")  # expect: python-pickle-alias
pandas.read_pickle("x")  # expect: python-pickle
y.load("a", y.Loader)  # expect: python-yaml-alias
yaml.load("SafeLoader", yaml.Loader)  # expect: python-yaml-load
yaml.load(text,  # SafeLoader  # expect: python-yaml-load
          Loader=yaml.Loader)
yaml.load(text, yaml.CSafeLoader)
yaml.load(text, Loader=SafeLoader)
class Model:
    def eval(self, exec=None):
        return self.eval(exec=1)
re.compile("x")
os.environ.get("HOME")
hasattr(os, "fork")
os.ｓystem("ls")  # expect: python-disguise
𝐞val("1")  # expect: python-disguise
# coding: unicode_escape  # expect: python-disguise
grüße = 1
