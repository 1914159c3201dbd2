/**
 * @hangar/programs runs external programs: finds executables, identifies processes, and has the keeper, a script that terminates a program
 * when its supervisor does not renew the time that the program may run.
 */

import { fileURLToPath } from 'node:url';

export { findExecutable, isExecutable } from './find-executable.ts';
export type { SearchOptions } from './find-executable.ts';
export * from './processes.ts';

/** Path of `keeper.sh`; its first lines describe its arguments and file descriptors. */
export const keeperScript: string = fileURLToPath(new URL('keeper.sh', import.meta.url));
