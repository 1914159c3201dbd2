/**
 * testing: a client on a bad network. Requests and answers are late, or lost: then the call hangs for ever, whatever its signal
 * says. A write that was given up may be done much later.
 */

import { chance, sleep } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type { LeaseClient } from '../lease-lock.ts';
import type { SimulatedProcess } from './simulated-process.ts';

export interface Faults {
  /** Of a request or an answer to be lost. */
  loss: number;
  /** Of a request or an answer to be late by up to `delayMaxMs`. */
  delay: number;
  delayMaxMs: number;
  /** Of every answer, when its request arrived at once. */
  answerDelayMs: number;
}

export interface FaultyClientOptions {
  readonly client: LeaseClient;
  readonly process: SimulatedProcess;
  readonly world: Clock;
  readonly random: Random;
  /** As it is when a request or an answer is sent. */
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
