/**
 * A transport that fails when a test says so: connections that are refused or lost, watches that are cut, that expire or fall
 * silent, requests that hang. Without faults it passes everything on. Time is the injected clock's.
 *
 *   const faults = faultyTransport(cluster.transportOf(), { clock });
 *   const client = new RestClient(faults, { clock });
 *   faults.failNext(3);                   // three requests do not arrive
 *   const hold = faults.hang(isWatch);    // watches wait …
 *   hold.release();                       // … until now
 *   faults.cutWatches();                  // every open watch breaks
 *
 * Of several faults that match a request: it hangs first, is delayed then, and has the failure that was asked for first.
 */

import { ClientError } from '@hangar/client';
import type { ClientErrorCode, HttpAnswer, HttpRequest, HttpTransport } from '@hangar/client';
import { abortError, sleep, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { expiredAnswer, expiredEventAnswer, refusalAnswer } from './answers.ts';
import type { Refusal } from './answers.ts';
import { OpenWatch } from './open-watch.ts';

export type Matching = (request: HttpRequest) => boolean;

export const isWatch: Matching = ({ target }) => /[?&]watch=(true|1)(&|$)/.test(target);

/** Requests to write something. */
export const isWrite: Matching = ({ method }) => method !== 'GET' && method !== 'HEAD';

const everything: Matching = () => true;

/** Requests that wait for the test. */
export interface Hold {
  /** How many wait now. */
  readonly waiting: number;
  /** Lets them go on, and those after them. */
  release(): void;
  /** Ends them with `ConnectionLost`; those after them go on. */
  fail(): void;
}

export interface FaultyTransportOptions {
  readonly clock?: Clock;
}

interface Failure {
  left: number;
  readonly matching: Matching;
  readonly become: (send: () => Promise<HttpAnswer>) => Promise<HttpAnswer>;
}

export class FaultyTransport implements HttpTransport {
  readonly #transport: HttpTransport;
  readonly #clock: Clock;
  readonly #holds = new Set<HoldList>();
  readonly #delays: { readonly matching: Matching; readonly delayMs: number }[] = [];
  readonly #failures: Failure[] = [];
  readonly #watches = new Set<OpenWatch>();
  #sent: HttpRequest[] = [];

  constructor(transport: HttpTransport, { clock = systemClock }: FaultyTransportOptions = {}) {
    this.#transport = transport;
    this.#clock = clock;
  }

  get host(): string {
    return this.#transport.host ?? 'in process';
  }

  /** Every request that was made here since `forget`, also those that failed. */
  get requests(): readonly HttpRequest[] {
    return this.#sent;
  }

  forget(): void {
    this.#sent = [];
  }

  /** Those whose answer has begun and not ended. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** The next `count` requests do not reach the server. `Infinity`: until `heal`. */
  failNext(count = 1, matching: Matching = everything, code: ClientErrorCode = 'ConnectionFailed'): void {
    this.#fail(count, matching, () => Promise.reject(new ClientError(code, 'by the test')));
  }

  /** The next `count` requests are done by the server, but nobody hears of it. Not for watches: they are cut. */
  loseAnswers(count = 1, matching: Matching = everything): void {
    const answered: Matching = (request) => !isWatch(request) && matching(request);
    this.#fail(count, answered, async (send) => {
      await (await send()).body();
      throw new ClientError('ConnectionLost', 'the answer is lost, by the test');
    });
  }

  /** The next `count` requests are answered with this status instead of by the server. */
  refuseNext(refusal: Refusal, count = 1, matching: Matching = everything): void {
    this.#fail(count, matching, () => Promise.resolve(refusalAnswer(refusal)));
  }

  /** The next `count` watches are told that their resourceVersion is too old: at once, or as the first event of a stream. */
  expireWatches(count = 1, how: 'answer' | 'event' = 'answer'): void {
    this.#fail(count, isWatch, () => Promise.resolve(how === 'answer' ? expiredAnswer() : expiredEventAnswer()));
  }

  /** Every open watch breaks off with `ConnectionLost`. Answers how many. */
  cutWatches(): number {
    return this.#everyWatch((watch) => watch.cut());
  }

  /** Every open watch ends in good order, as servers do now and then. */
  endWatches(): number {
    return this.#everyWatch((watch) => watch.end());
  }

  /** Every open watch stays open and says nothing any more, as a half-open connection does: what would come is lost. */
  silenceWatches(): number {
    return this.#everyWatch((watch) => watch.silence());
  }

  /** From now on, requests wait until they are released. */
  hang(matching: Matching = everything): Hold {
    const hold = new HoldList(matching, () => this.#holds.delete(hold));
    this.#holds.add(hold);
    return hold;
  }

  /** From now on, requests take this long to get to the server. */
  delay(delayMs: number, matching: Matching = everything): void {
    this.#delays.push({ matching, delayMs });
  }

  /** Takes back every fault: what hangs goes on. Watches that were cut or silenced stay so. */
  heal(): void {
    for (const hold of this.#holds) hold.release();
    this.#delays.length = 0;
    this.#failures.length = 0;
  }

  async request(request: HttpRequest): Promise<HttpAnswer> {
    const { signal } = request;
    if (signal?.aborted) throw abortError(signal);
    this.#sent.push(request);
    for (const hold of this.#holds) if (hold.matching(request)) await hold.wait(request, this.#clock);
    for (const { matching, delayMs } of this.#delays) if (matching(request)) await sleep(this.#clock, delayMs, signal);
    const failure = this.#failures.find(({ left, matching }) => left > 0 && matching(request));
    const send = (): Promise<HttpAnswer> =>
      isWatch(request) ? this.#watch(request) : this.#transport.request(request);
    if (failure === undefined) return send();
    failure.left--;
    return failure.become(send);
  }

  close(): Promise<void> {
    for (const hold of this.#holds) hold.fail();
    return this.#transport.close();
  }

  async #watch(request: HttpRequest): Promise<HttpAnswer> {
    const watch = new OpenWatch(request, {
      clock: this.#clock,
      onClose: () => this.#watches.delete(watch),
    });
    this.#watches.add(watch);
    return watch.open((signal) => this.#transport.request({ ...request, signal }));
  }

  #everyWatch(act: (watch: OpenWatch) => void): number {
    const all = [...this.#watches];
    for (const watch of all) act(watch);
    return all.length;
  }

  #fail(left: number, matching: Matching, become: Failure['become']): void {
    this.#failures.push({ left, matching, become });
  }
}

export const faultyTransport = (transport: HttpTransport, options?: FaultyTransportOptions): FaultyTransport =>
  new FaultyTransport(transport, options);

class HoldList implements Hold {
  readonly matching: Matching;
  readonly #onEnd: () => void;
  readonly #waiting = new Set<{ resolve(): void; reject(error: Error): void }>();

  constructor(matching: Matching, onEnd: () => void) {
    this.matching = matching;
    this.#onEnd = onEnd;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  async wait({ signal, silenceMs }: HttpRequest, clock: Clock): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry = { resolve, reject };
    const onAbort = (): void => reject(abortError(signal!));
    const tooLong = new ClientError('TimedOut', `no answer within ${silenceMs} ms`);
    const timer = silenceMs === undefined ? undefined : clock.after(silenceMs, () => reject(tooLong));
    this.#waiting.add(entry);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      if (signal?.aborted) throw abortError(signal);
      await promise;
    } finally {
      timer?.cancel();
      signal?.removeEventListener('abort', onAbort);
      this.#waiting.delete(entry);
    }
  }

  release(): void {
    this.#onEnd();
    for (const { resolve } of this.#waiting) resolve();
  }

  fail(): void {
    this.#onEnd();
    for (const { reject } of this.#waiting) reject(new ClientError('ConnectionLost', 'by the test'));
  }
}
