/** `server.json` in the data directory: pid and address of the server that runs there, for messages of a second one. */

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface RunningServer {
  readonly pid: number;
  readonly url: string;
}

const fileIn = (dataDirectory: string): string => join(dataDirectory, 'server.json');

/** Written for messages alone: failures are ignored. */
export async function announce(dataDirectory: string, server: RunningServer): Promise<void> {
  await writeFile(fileIn(dataDirectory), `${JSON.stringify(server)}\n`, { mode: 0o600 }).catch(() => undefined);
}

export async function withdraw(dataDirectory: string): Promise<void> {
  await rm(fileIn(dataDirectory), { force: true }).catch(() => undefined);
}

/** Undefined: none is known. A server that was killed leaves its file, so the pid must be that of the owner of the store. */
export async function announced(dataDirectory: string): Promise<RunningServer | undefined> {
  try {
    const { pid, url } = JSON.parse(await readFile(fileIn(dataDirectory), 'utf8')) as Partial<RunningServer>;
    return typeof pid === 'number' && typeof url === 'string' ? { pid, url } : undefined;
  } catch {
    return undefined;
  }
}
