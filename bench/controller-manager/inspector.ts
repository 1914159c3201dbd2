/** Reads the heap of a Node process over its inspector, which is opened by a signal, so the program needs no support for it. */

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** For `NODE_OPTIONS` of the process: any free port, when the signal comes. */
export const inspectorFlag = '--inspect-port=127.0.0.1:0';

const attemptsMax = 200;
const pollMs = 50;

export interface HeapUsage {
  /** Objects, after a full garbage collection. */
  readonly usedKiB: number;
  /** Buffers and other memory outside of the heap. */
  readonly backingKiB: number;
}

interface Answer {
  readonly id?: number;
  readonly result?: { readonly usedSize: number; readonly backingStorageSize?: number };
}

/** `said`: the standard error of the process so far. */
export async function heapOf(pid: number, said: () => string): Promise<HeapUsage> {
  const socket = new WebSocket(await inspectorOf(pid, said));
  await once(socket, 'open');
  let id = 0;
  const call = async (method: string): Promise<Answer> => {
    const own = ++id;
    socket.send(JSON.stringify({ id: own, method }));
    for (;;) {
      const [{ data }] = (await once(socket, 'message')) as [MessageEvent];
      const answer = JSON.parse(String(data)) as Answer;
      if (answer.id === own) return answer;
    }
  };
  try {
    // Weakly held objects are collected in the second round.
    for (let round = 0; round < 3; round++) await call('HeapProfiler.collectGarbage');
    const { result } = await call('Runtime.getHeapUsage');
    return { usedKiB: result!.usedSize / 1024, backingKiB: (result!.backingStorageSize ?? 0) / 1024 };
  } finally {
    socket.close();
  }
}

async function inspectorOf(pid: number, said: () => string): Promise<string> {
  process.kill(pid, 'SIGUSR1');
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const [, url] = /Debugger listening on (ws:\S+)/.exec(said()) ?? [];
    if (url !== undefined) return url;
    await sleep(pollMs);
  }
  throw new Error(`process ${pid} has opened no inspector`);
}
