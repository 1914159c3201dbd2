/**
 * A process that runs one program and that a test kills or stops: `parent.ts WORK_DIR REMAINING_MS`. Prints the start and the end of the
 * program, one line of JSON each.
 */

import { systemClock } from '@hangar/core';
import { newPrograms } from '../programs.ts';
import { owned, scripted, silentLog, waiting } from './programs.ts';

const [workDir, remainingMs] = process.argv.slice(2);
const programs = newPrograms({
  workDir: workDir!,
  ports: { from: 22_000, to: 22_999 },
  clock: systemClock,
  log: silentLog,
  writeLines() {},
});
try {
  const leftBehind = await programs.cleanUp();
  const { pid, folder, ended } = await programs.start(scripted(waiting, { ownership: owned(Number(remainingMs)) }));
  console.log(JSON.stringify({ leftBehind, pid, folder }));
  console.log(JSON.stringify(await ended));
} catch (error) {
  console.log(JSON.stringify({ code: (error as { code?: string }).code, message: (error as Error).message }));
}
