/** `hangar logs`: prints the log of a server that runs in the background. */

import { sleep } from '@hangar/core';
import { findServer, logFileIn } from '@hangar/core/command-line';
import type { Command } from '../command.ts';
import { failed } from '../errors.ts';
import { hangar } from '../hints.ts';
import { exists, lastLines, lineCount, printFrom, tailOption } from './common/log-file.ts';
import { dataDirOption, serverFolder } from './common/server-folder.ts';
import { stayingAlive } from './common/staying-alive.ts';

const pollMs = 200;

export const logs: Command = {
  name: 'logs',
  summary: 'print the log of a server that runs in the background',
  description:
    'The log is hangar.log in the data directory. Above 10 MiB it becomes hangar.log.1, and three old files are kept.',
  args: [],
  options: [
    { name: 'follow', short: 'f', meaning: 'print new lines until the server exits or Ctrl-C' },
    tailOption,
    dataDirOption,
  ],
  examples: ['logs', 'logs -f --tail 20'],
  async run({ session, given }) {
    const linesMax = lineCount(given.text('tail'));
    const folder = serverFolder(session, given);
    const path = logFileIn(folder);
    if (!(await exists(path))) {
      throw failed(`${folder} has no log`, { next: `start a server with a log: ${hangar('up --detach')}` });
    }
    let position = await printFrom(session, path, linesMax === undefined ? 0 : await lastLines(path, linesMax));
    await stayingAlive(async () => {
      while (given.flag('follow') && (await findServer(folder)).state === 'running') {
        await sleep(session.clock, pollMs, session.signal);
        position = await printFrom(session, path, position);
      }
    });
  },
};
