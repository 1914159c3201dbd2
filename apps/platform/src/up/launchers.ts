/**
 * The processes between the user and this one. npx and npm exit on a signal without passing it on, so the server checks whether they still
 * run: its parent, and everything up to npm when npm started it.
 *
 *     npm exec hangar up  →  sh -c hangar up  →  node bin/hangar.js up  →  this process
 */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

interface Ancestor {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

export interface Launchers {
  /** The first is the parent. */
  readonly pids: readonly number[];
  readonly isUpToNpm: boolean;
}

const ancestorsMax = 8;

/** Returns the pids to watch. `isByNpm`: up to the npm process; else the parent, and the process above the older Node. */
export async function launchers(isByNpm: boolean): Promise<Launchers> {
  // An older Node starts the bundled one, and passes the pid of its parent.
  const above = Number(process.env['HANGAR_PARENT'] ?? 0);
  const pids = above > 1 ? [process.ppid, above] : [process.ppid];
  if (!isByNpm) return { pids, isUpToNpm: false };
  const chain: Ancestor[] = [];
  for (let pid = process.ppid; pid > 1 && chain.length < ancestorsMax; pid = chain.at(-1)!.parent) {
    const found = await ancestor(pid).catch(() => undefined);
    if (!found) break;
    chain.push(found);
    // Processes above npm belong to the user.
    if (isNpm(found.command)) return { pids: chain.map((one) => one.pid), isUpToNpm: true };
  }
  return { pids, isUpToNpm: false };
}

/** Reports whether all of them run. The children of a process that exits get another parent. */
export const areRunning = (pids: readonly number[]): boolean => process.ppid === pids[0] && pids.every(isRunning);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    // A process of another user runs.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A process that has exited stays in the table until its parent reads its exit code, which some never do. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat[stat.lastIndexOf(')') + 2] === 'Z';
}

/** npm changes its title to `npm exec hangar up`; before that it is `node /usr/bin/npx hangar up`. */
const isNpm = (command: string): boolean => /^np[mx]( |$)|^\S*node\S* \S*[/\\]np[mx](-cli)?(\.js)?( |$)/.test(command);

async function ancestor(pid: number): Promise<Ancestor> {
  if (process.platform === 'linux') {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ]);
    // The second field is the name, in parentheses, which may contain anything.
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid, parent: Number(parent), command: command.split('\0').filter(Boolean).join(' ') };
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'ppid=,command=', '-p', String(pid)], { timeout: 5_000 });
  const [, parent, command] = /^\s*(\d+)\s+(.*)$/m.exec(stdout)!;
  return { pid, parent: Number(parent), command: command! };
}
