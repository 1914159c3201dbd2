/** Entry of `npm run tools`. */

import { commandLine } from './command-line.ts';
import { systemWorld } from './world.ts';

process.exitCode = await commandLine(
  process.argv.slice(2),
  systemWorld((line) => console.error(line)),
  { result: (line) => console.log(line), problem: (line) => console.error(line) },
);
