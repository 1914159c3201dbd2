/** Clients that record the requests of controllers. */

import { RestClient } from '@hangar/client';
import type { HttpRequest } from '@hangar/client';
import { systemClock, systemRandom } from '@hangar/core';
import type { TestFleet } from '@hangar/testkit';
import { rootCluster } from '../contract.ts';
import type { ControllerWorld } from '../contract.ts';

export interface CountedClients {
  readonly clientOf: ControllerWorld['clientOf'];
  /** `red GET /api/v1/…`. */
  readonly requests: string[];
}

export function countedClients(fleet: TestFleet): CountedClients {
  const requests: string[] = [];
  const world = { clock: systemClock, random: systemRandom };
  const clientOf = (cluster: string): RestClient => {
    const transport = fleet.transportOf(cluster === rootCluster ? undefined : cluster);
    const counted = {
      request: (request: HttpRequest) => {
        requests.push(`${cluster} ${request.method} ${request.target}`);
        return transport.request(request);
      },
      close: () => transport.close(),
    };
    return new RestClient(counted, world);
  };
  return { clientOf, requests };
}
