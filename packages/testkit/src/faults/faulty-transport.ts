/**
 * A transport that injects faults: refused and lost connections, watches that disconnect, expire or become silent, requests that hang.
 * Without faults it forwards all requests. It uses the injected clock.
 *
 *     const faults = faultyTransport(cluster.transportOf(), { clock });
 *     const client = new RestClient(faults, { clock });
 *     faults.failNext(3);                   // the next three requests fail
 *     const hold = faults.hang(isWatch);    // watches hang …
 *     hold.release();                       // … until now
 *     faults.cutWatches();                  // disconnects every open watch
 *
 * If several faults match a request, it first hangs, then is delayed, and then fails with the fault that was injected first.
 */

import { ClientError } from '@hangar/client';
import type { ClientErrorCode, HttpAnswer, HttpRequest, HttpTransport } from '@hangar/client';
import { abortError, sleep, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { expiredAnswer, expiredEventAnswer, refusalAnswer } from './answers.ts';
import type { Refusal } from './answers.ts';
import { OpenWatch } from './open-watch.ts';

/** Selects requests. */
export type Matching = (request: HttpRequest) => boolean;

/** Matches watches. */
export const isWatch: Matching = ({ target }) => /[?&]watch=(true|1)(&|$)/.test(target);

/** Matches writes. */
export const isWrite: Matching = ({ method }) => method !== 'GET' && method !== 'HEAD';

const everything: Matching = () => true;

/** Requests that hang until the test releases them. */
export interface Hold {
  /** Number of hanging requests. */
  readonly waiting: number;
  /** Releases the hanging requests. Later requests do not hang. */
  release(): void;
  /** Fails the hanging requests with `ConnectionLost`. Later requests do not hang. */
  fail(): void;
}

/** Options of `faultyTransport`. */
export interface FaultyTransportOptions {
  /** Clock for delays and timeouts. Absent: the system clock. */
  readonly clock?: Clock;
}

interface Failure {
  left: number;
  readonly matching: Matching;
  readonly become: (send: () => Promise<HttpAnswer>) => Promise<HttpAnswer>;
}

/** A transport with injected faults. See `faultyTransport`. */
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

  /** All requests since the last `forget`, including failed ones. */
  get requests(): readonly HttpRequest[] {
    return this.#sent;
  }

  /** Clears `requests`. */
  forget(): void {
    this.#sent = [];
  }

  /** Number of open watches. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** Fails the next `count` requests before they reach the server. `Infinity`: until `heal`. */
  failNext(count = 1, matching: Matching = everything, code: ClientErrorCode = 'ConnectionFailed'): void {
    this.#fail(count, matching, () => Promise.reject(new ClientError(code, 'injected by the test')));
  }

  /** Lets the server process the next `count` requests, but drops the responses. Does not match watches; use `cutWatches` for them. */
  loseAnswers(count = 1, matching: Matching = everything): void {
    const answered: Matching = (request) => !isWatch(request) && matching(request);
    this.#fail(count, answered, async (send) => {
      await (await send()).body();
      throw new ClientError('ConnectionLost', 'response lost, injected by the test');
    });
  }

  /** Responds to the next `count` requests with this error without calling the server. */
  refuseNext(refusal: Refusal, count = 1, matching: Matching = everything): void {
    this.#fail(count, matching, () => Promise.resolve(refusalAnswer(refusal)));
  }

  /** Responds to the next `count` watches that their resourceVersion is too old: as the response, or as the first event of the stream. */
  expireWatches(count = 1, how: 'answer' | 'event' = 'answer'): void {
    this.#fail(count, isWatch, () => Promise.resolve(how === 'answer' ? expiredAnswer() : expiredEventAnswer()));
  }

  /** Disconnects every open watch with `ConnectionLost`. Returns their number. */
  cutWatches(): number {
    return this.#everyWatch((watch) => watch.cut());
  }

  /** Closes every open watch without an error, as servers do from time to time. Returns their number. */
  endWatches(): number {
    return this.#everyWatch((watch) => watch.end());
  }

  /** Drops all further events of every open watch without closing it, like a half-open connection. Returns their number. */
  silenceWatches(): number {
    return this.#everyWatch((watch) => watch.silence());
  }

  /** Lets all matching requests hang until they are released. */
  hang(matching: Matching = everything): Hold {
    const hold = new HoldList(matching, () => this.#holds.delete(hold));
    this.#holds.add(hold);
    return hold;
  }

  /** Delays all matching requests by this time. */
  delay(delayMs: number, matching: Matching = everything): void {
    this.#delays.push({ matching, delayMs });
  }

  /** Removes all faults and releases hanging requests. Disconnected and silenced watches stay so. */
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

/** Returns a transport that injects faults into the given one. */
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
    const tooLong = new ClientError('TimedOut', `no response within ${silenceMs} ms`);
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
    for (const { reject } of this.#waiting) reject(new ClientError('ConnectionLost', 'injected by the test'));
  }
}
