// Each line that must be found says so; everything else must not be.
const one = require("child_process"); // expect: javascript-child-process
const two = require('node:child_process'); // expect: javascript-child-process
const three = await import(`child_process`); // expect: javascript-child-process
const four = process.getBuiltinModule("child_process"); // expect: javascript-child-process
import { exec } from "node:child_process"; // expect: javascript-child-process
import vm from "vm"; // expect: javascript-vm
const five = eval("1"); // expect: javascript-eval
const six = (0, eval)("1"); // expect: javascript-eval
const seven = new Function("a", "return a"); // expect: javascript-function
const eight = Function("return 1"); // expect: javascript-function
const nine = globalThis.eval("1"); // expect: javascript-eval
const ten = process.binding("spawn_sync"); // expect: javascript-process-binding
const text = "child_process";
const fine = evaluate("1") + thing.eval + new FunctionTable();
/regular/.exec("child_process");
