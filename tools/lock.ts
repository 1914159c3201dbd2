/**
 * One worker at a time among processes that share a cache folder: an exclusively created file with the holder's
 * process id. The holder touches it while it works; another process takes over an abandoned one.
 *
 * The lock saves work, it does not guard correctness: results appear by an atomic rename. So two holders, which
 * a suspended machine can cause, only waste time.
 */

import { randomUUID } from 'node:crypto';
import { readFileSync, statSync, unlinkSync } from 'node:fs';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LockHolder {
  pid: number;
  host: string;
  /** Identifies this acquisition. */
  token: string;
}

export interface LockOptions {
  path: string;
  /** Called when the wait for another holder begins and every ten seconds while it lasts. */
  onWait?(holder: LockHolder | undefined, waitedMs: number): void;
  pollMs?: number;
  touchMs?: number;
  /** A lock untouched for this long is abandoned even if its process cannot be seen from here. */
  abandonedMs?: number;
}

const sayEveryMs = 10_000;

/** Runs the work while holding the lock; `waited`: another worker was first. */
export async function withLock<T>(options: LockOptions, work: (waited: boolean) => Promise<T>): Promise<T> {
  const { path, pollMs = 500, touchMs = 5_000, abandonedMs = 60_000 } = options;
  await mkdir(dirname(path), { recursive: true });
  const mine: LockHolder = { pid: process.pid, host: hostname(), token: randomUUID() };
  const begin = performance.now();
  let saidAt = -Infinity;
  let waited = false;
  while (!(await create(path, mine))) {
    if (takeAway(path, abandonedMs)) continue;
    waited = true;
    const now = performance.now();
    if (now - saidAt >= sayEveryMs) {
      options.onWait?.(readHolder(path), now - begin);
      saidAt = now;
    }
    await sleep(pollMs);
  }

  const touch = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {}); // Taken over: the work continues, see above.
  }, touchMs);
  try {
    return await work(waited);
  } finally {
    clearInterval(touch);
    if (readHolder(path)?.token === mine.token) unlinkSync(path);
  }
}

async function create(path: string, holder: LockHolder): Promise<boolean> {
  try {
    await writeFile(path, `${JSON.stringify(holder)}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the lock if it is abandoned. Synchronous: no other code of this process runs between the check and the removal. */
function takeAway(path: string, abandonedMs: number): boolean {
  if (!isAbandoned(path, readHolder(path), abandonedMs)) return false;
  try {
    unlinkSync(path);
  } catch {
    // Released or taken over meanwhile: the next attempt to create it decides.
  }
  return true;
}

function isAbandoned(path: string, holder: LockHolder | undefined, abandonedMs: number): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > abandonedMs) return true;
  } catch {
    return false; // Just released.
  }
  return holder !== undefined && holder.host === hostname() && !isAlive(holder.pid);
}

function readHolder(path: string): LockHolder | undefined {
  try {
    const { pid, host, token } = JSON.parse(readFileSync(path, 'utf8')) as Partial<LockHolder>;
    if (typeof pid !== 'number' || typeof host !== 'string' || typeof token !== 'string') return undefined;
    return { pid, host, token };
  } catch {
    return undefined; // Gone, or its holder has created it and not written it yet.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0); // Signal 0 only checks.
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
