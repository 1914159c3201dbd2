/**
 * testing: a client on a faulty network. Requests and responses are late or lost: then the call hangs forever, regardless of its signal. An
 * aborted write may be executed much later.
 */

import { chance, sleep } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type { LeaseClient } from '../lease-lock.ts';
import type { SimulatedProcess } from './simulated-process.ts';

export interface Faults {
  /** Probability that a request or response is lost. */
  loss: number;
  /** Probability that a request or response is late by up to `delayMaxMs`. */
  delay: number;
  delayMaxMs: number;
  /** Delay of every response; requests are not delayed. */
  answerDelayMs: number;
}

export interface FaultyClientOptions {
  readonly client: LeaseClient;
  readonly process: SimulatedProcess;
  readonly world: Clock;
  readonly random: Random;
  /** Returns the current faults; called for each request and response. */
  readonly faults: () => Faults;
}

export function faultyClient({ client, process, world, random, faults }: FaultyClientOptions): LeaseClient {
  const travel = async (isAnswer: boolean): Promise<void> => {
    const { loss, delay, delayMaxMs, answerDelayMs } = faults();
    if (chance(random, loss)) await new Promise<never>(() => {});
    const delayMs = chance(random, delay) ? random.fraction() * delayMaxMs : 1 + random.fraction() * 4;
    await sleep(world, delayMs + (isAnswer ? answerDelayMs : 0));
  };
  const call = async <T>(send: () => Promise<T>): Promise<T> => {
    await travel(false);
    try {
      return await send();
    } finally {
      await travel(true);
      await process.awake();
    }
  };
  return {
    get: (kind, key) => call(() => client.get(kind, key)),
    create: (kind, object) => call(() => client.create(kind, object)),
    update: (kind, object) => call(() => client.update(kind, object)),
  };
}
