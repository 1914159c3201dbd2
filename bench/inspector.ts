/**
 * Calls the inspector of another Node process. A signal opens it, so the program needs no support for it.
 *
 *     using inspector = await openInspector(pid, () => standardError);
 *     await inspector.call('HeapProfiler.collectGarbage');
 */

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** For `NODE_OPTIONS` of the process: any free port, when the signal comes. */
export const inspectorFlag = '--inspect-port=127.0.0.1:0';

const attemptsMax = 200;
const pollMs = 50;

export interface Inspector extends Disposable {
  /** One call at a time. Throws if the process refuses it. */
  call<Result = unknown>(method: string, params?: object): Promise<Result>;
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** `said`: the standard error of the process so far. */
export async function openInspector(pid: number, said: () => string): Promise<Inspector> {
  const socket = new WebSocket(await addressOf(pid, said));
  await once(socket, 'open');
  let id = 0;
  return {
    async call<Result>(method: string, params: object = {}): Promise<Result> {
      const own = ++id;
      socket.send(JSON.stringify({ id: own, method, params }));
      for (;;) {
        const [{ data }] = (await once(socket, 'message')) as [MessageEvent];
        const { id: answered, result, error } = JSON.parse(String(data)) as Answer;
        if (answered !== own) continue;
        if (error) throw new Error(`${method}: ${error.message}`);
        return result as Result;
      }
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

async function addressOf(pid: number, said: () => string): Promise<string> {
  process.kill(pid, 'SIGUSR1');
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const [, url] = /Debugger listening on (ws:\S+)/.exec(said()) ?? [];
    if (url !== undefined) return url;
    await sleep(pollMs);
  }
  throw new Error(`process ${pid} has opened no inspector`);
}
