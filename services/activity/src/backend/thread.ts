/** A thread with a backend: answers calls of `threads.ts` by their number. */

import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '@hangar/core';
import { BatchError } from '../ingest/batch.ts';
import { PolicySet } from '../policy/policy.ts';
import { LocalBackend } from './backend.ts';
import { openDatabase } from './open-database.ts';
import type { Call, Reply, ThreadData } from './threads.ts';

const port = parentPort!;
const { address, policies, retentionMs, databaseBytesMax, isReader } = workerData as ThreadData;
const tell = (reply: Reply): void => port.postMessage(reply);
// Timers of the clock do not keep a thread alive, but the port does.
const clock = systemClock;
const backend = new LocalBackend({
  database: await openDatabase(address, isReader),
  policies: new PolicySet(policies),
  clock,
  retentionMs,
  ...(databaseBytesMax !== undefined && { databaseBytesMax }),
  onError: (error) => tell({ type: 'problem', message: error.message }),
});
backend.onCommit((commit) => tell({ type: 'commit', commit }));

port.on('message', (call: Call) => void answer(call));
tell({ type: 'ready' });
if (!isReader) void backend.startRetention();

async function answer({ id, method, args }: Call): Promise<void> {
  try {
    const result = await (backend[method] as (...all: unknown[]) => Promise<unknown>)(...args);
    tell({ type: 'result', id, result });
    if (method === 'close') port.close();
  } catch (error) {
    tell({ type: 'error', id, message: (error as Error).message, isBatchError: error instanceof BatchError });
  }
}
