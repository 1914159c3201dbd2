/** Runs `scripted-load.ts` as a traced process, on a dedicated data directory. */

import { join } from 'node:path';
import type { TracedProcess } from './strace.ts';

const files = [
  'store.db',
  'store.db-wal',
  'store.db-shm',
  'store.db-journal',
  'acknowledged',
  'owner.lock',
  'owner.pid',
];
const unfinished = ['', '-journal', '-wal', '-shm'].map((suffix) => `store.db.new${suffix}`);

export function scriptedProcess(folder: string, name: string): TracedProcess & { directory: string } {
  const directory = join(folder, name);
  return {
    directory,
    command: [process.execPath, new URL('./scripted-load.ts', import.meta.url).pathname, directory],
    paths: [directory, ...[...files, ...unfinished].map((file) => join(directory, file))],
    outputPath: `${directory}.trace`,
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
  };
}
