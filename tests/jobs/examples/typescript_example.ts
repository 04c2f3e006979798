// Each line that must be found says so; everything else must not be.
import * as child from "child_process"; // expect: javascript-child-process
import type { Thing } from "./thing";
const one: number = eval("1"); // expect: javascript-eval
const two = new Function("return 1"); // expect: javascript-function
const callback: Function = () => 1;
