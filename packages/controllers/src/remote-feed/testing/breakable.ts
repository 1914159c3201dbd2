/** A server with injected faults: streams that break, close or go silent, and outages with a possibly different server afterwards. */

import { InProcessTransport, RestClient } from '@hangar/client';
import type { Client, InProcessHandler } from '@hangar/client';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { administrator } from '@hangar/testkit';
import type { TestUser } from '@hangar/testkit';

type Answer = Awaited<ReturnType<InProcessHandler>>;
type Sink = Parameters<Extract<Answer['body'], { start: unknown }>['start']>[0];

export interface BreakableOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly user?: TestUser;
}

export class Breakable {
  /** Undefined: the server is down. */
  handler: InProcessHandler | undefined;
  /** `GET /apis/…`, with the body. */
  readonly requests: string[] = [];
  readonly client: Client;
  readonly #streams = new Set<Sink & { isSilent: boolean }>();

  constructor(handler: InProcessHandler, { clock = systemClock, random = systemRandom, user }: BreakableOptions = {}) {
    this.handler = handler;
    const { name, groups = [] } = user ?? administrator;
    const certificate = { commonName: name, organizations: groups, expiresAt: Infinity };
    const transport = new InProcessTransport({
      handler: (request) => this.#answer(request),
      peer: { address: '127.0.0.1', certificate },
      clock,
    });
    this.client = new RestClient(transport, { clock, random, retry: false });
  }

  get streams(): number {
    return this.#streams.size;
  }

  cut(): void {
    for (const sink of this.#streams) sink.abort();
  }

  end(): void {
    for (const sink of this.#streams) sink.end();
  }

  /** Drops all writes from now on, as on a connection whose peer vanished silently. */
  silence(): void {
    for (const sink of this.#streams) sink.isSilent = true;
  }

  async #answer(request: Parameters<InProcessHandler>[0]): Promise<Answer> {
    const body = Buffer.from(await request.body(2 ** 20)).toString();
    this.requests.push(`${request.method} ${request.target}${body && ` ${body}`}`);
    if (!this.handler) throw new Error('nobody answers');
    const answer = await this.handler(request);
    const streaming = answer.body;
    if (!('start' in streaming)) return answer;
    return { ...answer, body: { start: (sink) => streaming.start(this.#followed(sink)) } };
  }

  #followed(sink: Sink): Sink {
    const followed = {
      isSilent: false,
      write: (chunk: Uint8Array) => followed.isSilent || sink.write(chunk),
      end: () => sink.end(),
      abort: () => sink.abort(),
      onDrain: (callback: () => void) => sink.onDrain(callback),
      onClose: (callback: () => void) => sink.onClose(callback),
    };
    this.#streams.add(followed);
    sink.onClose(() => this.#streams.delete(followed));
    return followed;
  }
}
