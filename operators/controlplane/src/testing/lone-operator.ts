/**
 * Some controllers of the operator on a management plane in the test's process, without the one of ControlPlanes: the test plays its part,
 * in any order. Counts the requests of the operator.
 */

import { RestClient } from '@hangar/client';
import type { Client, HttpTransport } from '@hangar/client';
import { Logger, systemClock } from '@hangar/core';
import { Manager } from '@hangar/runtime';
import { startTestFleet } from '@hangar/testkit';
import { installDefinitions } from '../api/install.ts';
import { managementCache } from '../management-cache.ts';

export interface LoneOperator extends AsyncDisposable {
  /** As an administrator. */
  readonly client: Client;
  /** `PATCH /apis/…`, without reads, since `forget`. */
  readonly writes: readonly string[];
  forget(): void;
  /** Stops it, and starts another one; runs `meanwhile` in between. */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
}

const silent = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

export interface LoneOperatorParts {
  readonly manager: Manager;
  /** Requests to the management plane, counted. */
  readonly client: Client;
  readonly log: Logger;
}

export async function startLoneOperator(add: (parts: LoneOperatorParts) => void): Promise<LoneOperator> {
  await using opened = new AsyncDisposableStack();
  const fleet = opened.use(await startTestFleet({ clusters: [] }));
  await installDefinitions(fleet.client);
  let requests: string[] = [];
  const transport: HttpTransport = fleet.transportOf();
  const counted: HttpTransport = {
    request(request) {
      requests.push(`${request.method} ${request.target}`);
      return transport.request(request);
    },
    close: () => Promise.resolve(),
  };
  const start = (): (() => Promise<void>) => {
    const ending = new AbortController();
    const client = new RestClient(counted);
    const manager = new Manager({ client, cache: managementCache, metrics: false, health: false, log: silent });
    add({ manager, client, log: silent });
    const running = manager.run(ending.signal);
    return () => {
      ending.abort();
      return running;
    };
  };
  let stop = start();
  opened.defer(() => stop());
  const closing = opened.move();
  return {
    client: fleet.client,
    get writes() {
      return requests.filter((one) => !one.startsWith('GET '));
    },
    forget: () => (requests = []),
    async restart(meanwhile) {
      await stop();
      await meanwhile?.();
      stop = start();
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
