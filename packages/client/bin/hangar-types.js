#!/usr/bin/env node
// The entry point. Plain JavaScript on purpose: an old Node must get as far as the one line that says so.
const needed = 22;

if (Number(process.versions.node.split('.')[0]) >= needed) {
  const { main } = await import('../src/generate/command.ts');
  process.exitCode = await main(process.argv.slice(2));
} else {
  console.error(`hangar-types needs Node ${needed} or newer, this is ${process.version}.`);
  process.exitCode = 1;
}
