// Fills Node's cache of compiled code, so that servers on a read-only file system start as fast as on their second start. Run while
// the image is built, as the user who runs the servers: `node compile.js FOLDER`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = process.argv[2];
const data = mkdtempSync(join(tmpdir(), 'hangar-compile-'));
const patienceMs = 60_000;

// A whole platform, until it serves and has made its first control plane: what writes need is read with the first of them.
// The controller manager serves it meanwhile, with the engine that needs no other program: all of its code but for a few files.
await run(['up', '--store=memory', '--listen=127.0.0.1:0', `--data-dir=${data}`], /^ready /m, () =>
  run(
    [
      'controller-manager',
      '--engine=essential',
      `--kubeconfig=${data}/admin.kubeconfig`,
      `--work-dir=${data}/work`,
      '--bind-address=127.0.0.1',
      '--secure-port=0',
    ],
    /^ready /m,
  ),
);
// The store of production, as far as it gets without one: its code is read when it is asked for.
await run(['up', '--store=etcd', '--etcd-endpoints=http://127.0.0.1:1', '--listen=127.0.0.1:0', `--data-dir=${data}`]);
await run(['pki', '--help']);
rmSync(data, { recursive: true });
const kept = readdirSync(join(folder, 'node_modules/.cache/hangar'), { recursive: true });
console.log(`${kept.length} files of compiled code`);
if (kept.length < 100) throw new Error('nothing was kept');

/** Ends it when it has printed what is waited for, which it must when there is such a thing, and `meanwhile` is over. */
function run(args, sign, meanwhile = async () => {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(folder, 'bin/hangar.js'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    let printed = '';
    let isReady = false;
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      if (isReady || !sign?.test(printed)) return;
      isReady = true;
      meanwhile()
        .catch(reject)
        .finally(() => child.kill('SIGTERM'));
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      if (signal === 'SIGKILL' || (sign && (code !== 0 || !isReady))) {
        reject(new Error(`hangar ${args[0]} ended with ${signal ?? code}: ${printed}`));
      } else resolve();
    });
  });
}
