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
  /** Sends a request and reads the whole response, as a fast client does. Resolves with its status. */
  send(request: RequestParts): Promise<number>;
}

/** Responds by the URL of the webhook: see `webhooks.ts`. Cheap, because it runs on the measured thread. */
class InProcessWebhooks extends Outbound {
  #last = Promise.resolve();

  override async request({ url, body = '', bytesMax = Infinity }: OutboundRequest): Promise<OutboundAnswer> {
    // Real responses come from sockets: deliver each in a separate turn of the event loop, even if many are requested at once.
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

/** Slices are as long as in production. Timers are shorter: otherwise requests that wait for a revision would take seconds each. */
const impatientClock: Clock = {
  ...systemClock,
  after: (delayMs, callback) => systemClock.after(delayMs / 1_000, callback),
};

/** The uid is at the start of a review. */
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

/** Encodes a request in advance, so that encoding is not measured. */
export function prepared({ method, target, headers = {}, body }: Step): RequestParts {
  // A listener rejects larger bodies before the server sees them.
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

/** Number of frames to read from a watch. */
const framesMax = 200;
/** An idle watch is closed after this many turns of the event loop. */
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
