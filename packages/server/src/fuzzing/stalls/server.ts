/** The server of the stall fuzzer: a control plane in this process whose webhooks answer without a socket. */

import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import { isStreaming } from '../../http/message.ts';
import type { Sink, Streaming } from '../../http/message.ts';
import { Outbound, OutboundError } from '../../outbound/index.ts';
import type { OutboundAnswer, OutboundRequest } from '../../outbound/index.ts';
import { bodyBytesMax } from '../../limits.ts';
import { openServer, serverRequest } from '../../testing/open-server.ts';
import type { RequestParts } from '../../testing/open-server.ts';
import { administrator } from '../../testing/authentication.ts';
import type { Step } from './input.ts';
import { webhookAnswer } from './webhooks.ts';

export interface StallServer extends AsyncDisposable {
  /** Sends a request and reads the whole answer, as a fast client does. Resolves with its status. */
  send(request: RequestParts): Promise<number>;
}

/** Answers by the URL of the webhook: see `webhooks.ts`. Cheap, because it runs on the thread that is measured. */
class InProcessWebhooks extends Outbound {
  #last = Promise.resolve();

  override async request({ url, body = '', bytesMax = Infinity }: OutboundRequest): Promise<OutboundAnswer> {
    // An answer comes from a socket: each in a turn of the event loop of its own, although many are asked at once.
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    await this.#last;
    const start = Buffer.from((typeof body === 'function' ? body() : body).slice(0, reviewStartBytes)).toString(
      'latin1',
    );
    const uid = /"uid":"([^"]+)"/.exec(start)?.[1] ?? '';
    const answer = webhookAnswer(new URL(url), uid);
    if (answer.length > bytesMax) throw new OutboundError('TooLarge', 'the answer is too large');
    return { status: 200, headers: { 'content-type': 'application/json' }, body: answer };
  }
}

/** Slices are as long as in production. Timers are not: requests that wait for a revision would take seconds each. */
const impatientClock: Clock = {
  ...systemClock,
  after: (delayMs, callback) => systemClock.after(delayMs / 1_000, callback),
};

/** A review names its uid first. */
const reviewStartBytes = 500;

export async function openStallServer(): Promise<StallServer> {
  const store = await openMemoryStore();
  const { server, close } = await openServer(store, { clock: impatientClock, outbound: new InProcessWebhooks() });
  return {
    async send({ method, target, headers, body }) {
      const answer = await server.handle(serverRequest({ method, target, headers, body }));
      if (isStreaming(answer.body)) await drained(answer.body, /[?&]watch=/.test(target) ? framesMax : Infinity);
      return answer.status;
    },
    async [Symbol.asyncDispose]() {
      close();
      await store.close();
    },
  };
}

/** Makes the bytes of a request, so that making them is not measured. */
export function prepared({ method, target, headers = {}, body }: Step): RequestParts {
  // A listener refuses more before the server sees it.
  const bytes = bytesOf(body).subarray(0, bodyBytesMax);
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const all = { authorization: `Bearer ${administrator.token}`, accept: 'application/json', ...type, ...headers };
  return { method, target, headers: new Map(Object.entries(all).map(([name, one]) => [name, [one]])), body: bytes };
}

function bytesOf(body: Step['body']): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A watch does not end: so many frames of it are enough. */
const framesMax = 200;
/** A watch that has nothing more to say is left after so many turns of the event loop. */
const quietTurnsMax = 20;

function drained(body: Streaming, writesMax: number): Promise<void> {
  return new Promise((resolve) => {
    let [left, quiet, isOver] = [writesMax, 0, false];
    let onClose = (): void => {};
    const finish = (): void => {
      if (isOver) return;
      isOver = true;
      onClose();
      resolve();
    };
    const sink: Sink = {
      write: () => {
        quiet = 0;
        if (--left <= 0) setImmediate(finish);
        return true;
      },
      end: finish,
      onDrain: () => {},
      onClose: (callback) => void (onClose = callback),
    };
    body.start(sink);
    const watch = (): void => {
      if (isOver) return;
      if (++quiet > quietTurnsMax && writesMax !== Infinity) finish();
      else setImmediate(watch);
    };
    setImmediate(watch);
  });
}
