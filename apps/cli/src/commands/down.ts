/** `hangar down`: stops the server of a data directory. */

import { sleep } from '@hangar/core';
import { findServer, logFileIn, withdraw } from '@hangar/core/command-line';
import type { Command } from '../command.ts';
import { failed } from '../errors.ts';
import type { Session } from '../session.ts';
import { dataDirOption, serverFolder } from './common/server-folder.ts';
import { stayingAlive } from './common/staying-alive.ts';
import { timeoutMs, timeoutOption } from './common/timeout.ts';

const pollMs = 100;

export const down: Command = {
  name: 'down',
  summary: 'stop the server that runs in a data directory',
  description:
    'Sends SIGTERM to the server, which answers requests under way and closes its store, and waits until it has exited. Works for a server that "hangar up --detach" started and for one in a terminal.',
  args: [],
  options: [dataDirOption, timeoutOption],
  examples: ['down', 'down --data-dir DIR'],
  async run({ session, given }) {
    const folder = serverFolder(session, given);
    const limitMs = timeoutMs(given);
    const found = await findServer(folder);
    if (found.state === 'stale') await withdraw(folder);
    if (found.state !== 'running') return session.out.write(`Hangar does not run in ${folder}\n`);
    const { pid } = found.server;
    try {
      process.kill(pid, 'SIGTERM');
    } catch (error) {
      const isGone = (error as NodeJS.ErrnoException).code === 'ESRCH';
      if (!isGone) throw failed(`process ${pid} belongs to another user`, { next: 'run this command as that user' });
    }
    await stayingAlive(() => exited(session, folder, { pid, limitMs }));
    await withdraw(folder);
    session.out.write(`stopped process ${pid}, which served ${found.server.url}\n`);
  },
};

async function exited(
  { clock, signal }: Session,
  folder: string,
  { pid, limitMs }: { readonly pid: number; readonly limitMs: number },
): Promise<void> {
  const endMs = clock.monotonicMs() + limitMs;
  while ((await findServer(folder)).state === 'running') {
    if (clock.monotonicMs() > endMs) {
      const next = `see why: ${logFileIn(folder)}\nkill it, as a power failure would: kill -9 ${pid}`;
      throw failed(`process ${pid} has not exited after ${limitMs / 1_000} s`, { next });
    }
    await sleep(clock, pollMs, signal);
  }
}
