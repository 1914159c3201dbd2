/** Runs `demo` as a service of the process: creates it on the first start, lets the starter wait for it, and follows it until the end. */

import { aborted, orAborted, settledWithin, systemClock } from '@hangar/core';
import type { Logger } from '@hangar/core';
import type { Inside } from '../compose/inside.ts';
import { insideClients } from './clients.ts';
import { Demo } from './demo.ts';
import type { SupervisedService } from './supervise.ts';

export interface DemoServiceOptions {
  readonly inside: Inside;
  readonly log: Logger;
  readonly demoFile: string;
  /** Resolves when the kinds are served. */
  readonly installed: Promise<void>;
}

export interface DemoService extends SupervisedService {
  /** True: it is ready. False: there is none, or it takes too long. Never rejects. */
  readonly isUsable: Promise<boolean>;
}

/** Maximum time that `hangar up` waits for it: when it is created, and when it exists. */
const timeoutMs = { first: 30_000, later: 5_000 };

export function demoService({ inside, log, demoFile, installed }: DemoServiceOptions): DemoService {
  const { firstStart, internalUrl: url } = inside;
  const waitMs = firstStart.isPending ? timeoutMs.first : timeoutMs.later;
  const usable = Promise.withResolvers<boolean>();
  return {
    name: 'demo',
    async run(signal, running) {
      const clients = insideClients(inside, 'platform');
      try {
        const demo = new Demo({ client: clients.root, firstStart, url, file: demoFile, clock: systemClock, log });
        await orAborted(installed, signal);
        const isThere = (await demo.begin(signal)) && (await demo.usable(signal));
        running();
        usable.resolve(isThere);
        await (isThere ? demo.follow(signal) : aborted(signal));
      } finally {
        if (signal.aborted) usable.resolve(false);
        await clients.close();
      }
    },
    isUsable: settledWithin(systemClock, waitMs, usable.promise).then((isInTime) => {
      if (isInTime) return usable.promise;
      log.warn('the control plane demo is not ready yet', { waitMs });
      return false;
    }),
  };
}
