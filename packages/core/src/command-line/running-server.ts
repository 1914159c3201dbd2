/**
 * `server.json` in the data directory: the server that runs there. `hangar up` writes it; `hangar status`, `down` and `logs` read it. A server
 * that was killed leaves its file behind, and the system may give its pid to another program, so readers verify the process.
 */

import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isHangarCommand } from './listening-process.ts';

export interface RunningServer {
  readonly pid: number;
  readonly url: string;
  readonly version?: string;
  /** Milliseconds since 1970. */
  readonly startedAt?: number;
}

export type ServerState =
  | { readonly state: 'running'; readonly server: RunningServer }
  /** The process of the file has exited, or its pid now belongs to another program. */
  | { readonly state: 'stale'; readonly server: RunningServer; readonly command?: string }
  | { readonly state: 'none' };

/** The log of a server that `hangar up --detach` started. */
export const logFileIn = (dataDirectory: string): string => join(dataDirectory, 'hangar.log');

const fileIn = (dataDirectory: string): string => join(dataDirectory, 'server.json');

/** Failures are ignored: the server runs without the file. */
export async function announce(dataDirectory: string, server: RunningServer): Promise<void> {
  await writeFile(fileIn(dataDirectory), `${JSON.stringify(server)}\n`, { mode: 0o600 }).catch(() => undefined);
}

export async function withdraw(dataDirectory: string): Promise<void> {
  await rm(fileIn(dataDirectory), { force: true }).catch(() => undefined);
}

/** Returns the content of the file, or undefined without a valid one. The server may have exited. */
export async function announced(dataDirectory: string): Promise<RunningServer | undefined> {
  try {
    const server = JSON.parse(await readFile(fileIn(dataDirectory), 'utf8')) as Partial<RunningServer>;
    const { pid, url } = server;
    const isValid = Number.isSafeInteger(pid) && pid! > 1 && typeof url === 'string';
    return isValid ? { ...server, pid: pid!, url } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the server of the data directory, and whether its process still runs. */
export async function findServer(dataDirectory: string): Promise<ServerState> {
  const server = await announced(dataDirectory);
  if (!server) return { state: 'none' };
  const command = await commandOf(server.pid);
  if (command === undefined) return { state: 'stale', server };
  return isHangarCommand(command) ? { state: 'running', server } : { state: 'stale', server, command };
}

/** Returns the command line of a process, or undefined when it has exited. */
export async function commandOf(pid: number): Promise<string | undefined> {
  try {
    if (process.platform !== 'linux') return await processField(pid, 'command');
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    // The command line of a process that has exited and that its parent did not wait for is empty.
    return command.split('\0').filter(Boolean).join(' ') || undefined;
  } catch {
    return undefined;
  }
}

/** Returns the resident memory of a process in bytes, or undefined when the system does not report it. */
export async function memoryOf(pid: number): Promise<number | undefined> {
  try {
    if (process.platform !== 'linux') return Number(await processField(pid, 'rss')) * 1024;
    const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

async function processField(pid: number, field: string): Promise<string | undefined> {
  const { stdout } = await promisify(execFile)('ps', ['-o', `${field}=`, '-p', String(pid)], { timeout: 5_000 });
  return stdout.trim() || undefined;
}
