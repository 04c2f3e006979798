"""Tests of strangers' projects: an honest one with a child and a thread, and one that tries everything."""

WORKER_TEST = """
const { Worker } = require('worker_threads');
const { fork } = require('child_process');
if (process.argv[2] === 'child') { process.send(require('dep-a')); process.exit(0); }
const child = fork(__filename, ['child']);
child.on('message', (value) => {
  const worker = new Worker("require('worker_threads').parentPort.postMessage(require('dep-dev') + 1)", { eval: true });
  worker.on('message', (sum) => {
    require('fs').writeFileSync('coverage.json', JSON.stringify({ value, sum }));
    console.log('from a child: ' + value + ', from a thread: ' + sum);
    process.exitCode = value === 'a' && sum === 42 && require('fs').existsSync('made-by-pretest') ? 0 : 1;
  });
});
"""

# Everything that a stranger's test might try; each attempt says on stdout how it went.
ATTACK = """
const fs = require('fs'), net = require('net');
const say = (what, how) => console.log(what + ': ' + how);
const attempt = (what, deed) => { try { say(what, deed()); } catch (error) { say(what, error.code); } };
attempt('secret', () => fs.readFileSync(@SECRET@, 'utf8'));
attempt('token', () => process.env.SALLYPORT_TEST_TOKEN || 'none');
attempt('outside', () => { fs.writeFileSync(@CANARY@, 'fired'); return 'written'; });
attempt('repo', () => { fs.writeFileSync('touched', 'x'); fs.unlinkSync('README.md'); return 'changed'; });
attempt('hook', () => { fs.mkdirSync('.husky', { recursive: true }); fs.writeFileSync('.husky/pre-commit', 'evil', { mode: 0o755 });
                        fs.mkdirSync('.vscode'); fs.writeFileSync('.vscode/tasks.json', '{}'); return 'planted'; });
const socket = net.connect(@PORT@, '127.0.0.1');
socket.setTimeout(3000, () => { say('network', 'silence'); process.exit(1); });
socket.on('connect', () => { say('network', 'connected'); process.exit(1); });
socket.on('error', (error) => { say('network', error.code); process.exit(1); });
"""
