// The same deeds in other words. Each line that must be found says so; everything else must not be.
const one = require("child_" + "process"); // expect: javascript-child-process
const two = createRequire(import.meta.url)("child_process"); // expect: javascript-child-process
const three = load("node:child_process"); // expect: javascript-child-process
const four = require("\x63hild_process"); // expect: javascript-escaped-module
const five = await import(`child${""}_process`); // expect: javascript-child-process
const six = require("cluster"); // expect: javascript-child-process
const seven = globalThis["eval"]("1"); // expect: javascript-eval
const eight = globalThis?.eval("1"); // expect: javascript-eval
const nine = (() => {}).constructor("return 1")(); // expect: javascript-function
const ten = [].fill.constructor.constructor("return 1"); // expect: javascript-function
const F = Function; // expect: javascript-function
const g = Reflect.construct(Function, ["return 1"]); // expect: javascript-function
setTimeout("alert(1)", 1); // expect: javascript-eval
await import("data:text/javascript,1"); // expect: javascript-eval
new Worker("code", { eval: true }); // expect: javascript-eval
process["binding"]("spawn_sync"); // expect: javascript-process-binding
Bun.spawn(["ls"]); // expect: javascript-child-process
new Deno.Command("ls"); // expect: javascript-child-process
jest.mock("child_process");
setTimeout(() => {}, 1);
const fine = thing instanceof Function || { type: Function };
require("./child" + name);
new this.constructor(1);
\u0065val("1"); // expect: javascript-escaped-module
