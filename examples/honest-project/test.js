const assert = require('assert');
const { Worker, isMainThread, parentPort } = require('worker_threads');

if (!isMainThread) {
  parentPort.postMessage(require('./answer.json').answer);
} else {
  new Worker(__filename).on('message', (answer) => {
    assert.strictEqual(answer, 42);
    console.log('ok 1 - a worker gives the answer');
  });
}
