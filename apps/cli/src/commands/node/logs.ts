/** `hangar node logs NODE`: prints the output of the programs of a node. */

import { join } from 'node:path';
import { sleep } from '@hangar/core';
import type { Call } from '../../command.ts';
import { failed } from '../../errors.ts';
import { insistOnState, isRunning, supervisorLog } from '../../local-nodes/state.ts';
import { quoted } from '../../terminal/plain-text.ts';
import { exists, lastLines, lineCount, printFrom } from '../common/log-file.ts';
import { serverFolder } from '../common/server-folder.ts';
import { stayingAlive } from '../common/staying-alive.ts';

const pollMs = 200;

export async function printNodeLogs({ session, given }: Call): Promise<void> {
  const dataFolder = serverFolder(session, given);
  const linesMax = lineCount(given.text('tail'));
  const state = await insistOnState(dataFolder, given.args[1]!);
  const program = given.text('program') ?? 'kubelet';
  const path =
    program === 'node' ? supervisorLog(dataFolder, state.name) : join(state.folder, 'logs', `${program}.log`);
  if (!(await exists(path))) {
    throw failed(`node ${quoted(state.name)} has no log of ${program}`, {
      next: program === 'node' ? 'a node in the foreground prints its messages' : 'the program has not started yet',
    });
  }
  let position = await printFrom(session, path, linesMax === undefined ? 0 : await lastLines(path, linesMax));
  await stayingAlive(async () => {
    while (given.flag('follow') && isRunning(state) && (await exists(path))) {
      await sleep(session.clock, pollMs, session.signal);
      if (await exists(path)) position = await printFrom(session, path, position);
    }
  });
}
