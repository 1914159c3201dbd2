/** A whole server in the test's process, composed as by `hangar up`, on a store in memory. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger, systemClock } from '@hangar/core';
import { start } from '../../compose/start.ts';
import type { Inside } from '../../compose/inside.ts';
import { readOptions } from '../../options/options.ts';
import { insideClients } from '../clients.ts';
import type { InsideClients } from '../clients.ts';

export interface TestServer extends AsyncDisposable {
  readonly folder: string;
  readonly inside: Inside;
  readonly clients: InsideClients;
  readonly log: Logger;
  /** Log lines. */
  readonly lines: readonly string[];
}

export async function startTestServer(...args: readonly string[]): Promise<TestServer> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'hangar-services-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const options = readOptions(['--store=memory', '--port=0', `--data-dir=${folder}`, ...args]);
  if (typeof options === 'string') throw new Error(options);
  const lines: string[] = [];
  const log = new Logger({ level: 'info', format: 'text', clock: systemClock, write: (line) => lines.push(line) });
  const running = await start(options, log);
  opened.defer(() => running.close());
  const clients = insideClients(running.inside, 'test');
  opened.defer(() => clients.close());
  const all = opened.move();
  return {
    folder,
    inside: running.inside,
    clients,
    log,
    lines,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
