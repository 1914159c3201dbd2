/** `hangar status`: shows the server that runs in a data directory. */

import { existsSync } from 'node:fs';
import { findServer, logFileIn, memoryOf } from '@hangar/core/command-line';
import { humanDuration } from '@hangar/api/ages';
import type { Call, Command } from '../command.ts';
import { explain } from '../explain.ts';
import { ControlPlane } from '../kinds.ts';
import { bytesText } from '../terminal/figures.ts';
import { plain } from '../terminal/plain-text.ts';
import { printedValue } from '../terminal/printed.ts';
import { serverFolder } from './common/server-folder.ts';

interface Status {
  readonly state: 'Running' | 'Stopped';
  readonly dataDirectory: string;
  readonly pid?: number;
  readonly version?: string;
  readonly address?: string;
  readonly startedAt?: string;
  readonly memoryBytes?: number;
  readonly controlPlanes?: number;
  readonly logFile?: string;
  readonly message?: string;
}

export const status: Command = {
  name: 'status',
  summary: 'show the server that runs in a data directory',
  description: 'The exit code is 0 while the server runs, and 1 otherwise.',
  args: [],
  options: [
    {
      name: 'output',
      short: 'o',
      value: 'FORMAT',
      meaning: 'json or yaml (default: text)',
      oneOf: ['json', 'yaml'],
      completes: ['json', 'yaml'],
    },
  ],
  examples: ['status', 'status --data-dir DIR', 'status -o json'],
  isConnected: true,
  async run(call) {
    const { session, given } = call;
    const found = await statusOf(call);
    const format = given.text('output') as 'json' | 'yaml' | undefined;
    if (format !== undefined) session.out.write(printedValue(format, { ...found }));
    else session.out.write(text(found, session.clock.now()));
    return found.state === 'Running' ? 0 : 1;
  },
};

async function statusOf(call: Call): Promise<Status> {
  const dataDirectory = serverFolder(call.session, call.given);
  const found = await findServer(dataDirectory);
  if (found.state === 'none') return { state: 'Stopped', dataDirectory };
  const { pid, url, version, startedAt } = found.server;
  if (found.state === 'stale') {
    const now = found.command === undefined ? 'has exited' : 'is another program now';
    return { state: 'Stopped', dataDirectory, message: `process ${pid}, which served ${url}, ${now}` };
  }
  const memoryBytes = await memoryOf(pid);
  const logFile = logFileIn(dataDirectory);
  return {
    state: 'Running',
    dataDirectory,
    pid,
    ...(version === undefined ? {} : { version }),
    address: url,
    ...(startedAt === undefined ? {} : { startedAt: new Date(startedAt).toISOString() }),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(existsSync(logFile) ? { logFile } : {}),
    ...(await controlPlanes(call)),
  };
}

/** The number of ControlPlanes, or why the server does not answer. A server without the operator has none. */
async function controlPlanes({ client, session }: Call): Promise<Pick<Status, 'controlPlanes' | 'message'>> {
  try {
    const { items } = await (await client()).list(ControlPlane, { signal: session.signal });
    return { controlPlanes: items.length };
  } catch (error) {
    const { message } = explain(error);
    return message === undefined ? {} : { message };
  }
}

function text(found: Status, nowMs: number): string {
  if (found.state === 'Stopped') {
    return plain(`Hangar does not run in ${found.dataDirectory}${found.message ? `: ${found.message}` : ''}`) + '\n';
  }
  const rows: [string, string | undefined][] = [
    ['State', found.state],
    ['PID', String(found.pid)],
    ['Version', found.version],
    ['Address', found.address],
    ['Uptime', found.startedAt === undefined ? undefined : humanDuration(nowMs - Date.parse(found.startedAt))],
    ['Data directory', found.dataDirectory],
    ['Log', found.logFile],
    ['Memory', found.memoryBytes === undefined ? undefined : bytesText(found.memoryBytes)],
    ['Control planes', found.controlPlanes === undefined ? undefined : String(found.controlPlanes)],
    ['Problem', found.message],
  ];
  const shown = rows.filter(([, value]) => value !== undefined);
  return shown.map(([name, value]) => `${`${name}:`.padEnd(17)}${plain(value!)}\n`).join('');
}
