#!/usr/bin/env node
// The entry point. Plain JavaScript, so that an old Node reaches the line that reports the required version.
const needed = 22;

if (Number(process.versions.node.split('.')[0]) >= needed) {
  const { main } = await import('../src/generate/command.ts');
  process.exitCode = await main(process.argv.slice(2));
} else {
  console.error(`hangar-types needs Node ${needed} or newer, this is ${process.version}.`);
  process.exitCode = 1;
}
