// Each line that must be found says so; everything else must not be.
import { exec } from "child_process"; // expect: javascript-child-process
export const View = () => <div>{eval("1")}</div>; // expect: javascript-eval
