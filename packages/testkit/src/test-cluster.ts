/**
 * A fake client that behaves like the server because it is the server: a whole control plane on a store in memory, asked without
 * a socket. Without controllers, like envtest: nobody makes pods of deployments here, unless a test does.
 */

import { InProcessTransport, RestClient } from '@hangar/client';
import type { Client, InProcessHandler } from '@hangar/client';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { ApiServer, CertificateAuthenticator, openControlPlane, privilegedGroup } from '@hangar/server';
import { openMemoryStore } from '@hangar/store';

export interface TestClusterOptions {
  /** Absent: the machine's. A `Scheduler` is virtual time, which the test moves. */
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface TestUser {
  readonly name: string;
  readonly groups?: readonly string[];
}

export interface TestCluster extends AsyncDisposable {
  /** May do everything. */
  readonly client: Client;
  /** For transports and proxies of the test's own. */
  readonly handler: InProcessHandler;
  clientOf(user: TestUser): Client;
}

const administrator: TestUser = { name: 'administrator', groups: ['system:masters'] };

export async function startTestCluster({
  clock = systemClock,
  random = systemRandom,
}: TestClusterOptions = {}): Promise<TestCluster> {
  const opening = open({ clock, random });
  return clock instanceof Scheduler ? clock.run(opening) : opening;
}

async function open({ clock, random }: Required<TestClusterOptions>): Promise<TestCluster> {
  const store = await openMemoryStore({ clock });
  const { plane, close } = await openControlPlane({
    name: 'root',
    prefix: '/registry',
    store,
    clock,
    random,
    admission: { disabled: ['ServiceAccount'] },
    bootstrap: {
      serviceAddress: '10.0.0.1',
      serviceCidr: '10.0.0.0/24',
      endpoint: { address: '127.0.0.1', port: 6443 },
    },
  });
  const server = new ApiServer({
    plane,
    authenticators: [new CertificateAuthenticator(clock)],
    authorizers: [privilegedGroup],
    health: { livez: [], readyz: [] },
    address: () => '127.0.0.1:6443',
    onError: (error) => process.emitWarning(error),
  });
  const handler: InProcessHandler = (request) => server.handle(request);
  const clientOf = ({ name, groups = [] }: TestUser): Client => {
    const certificate = { commonName: name, organizations: groups, expiresAt: Infinity };
    return new RestClient(new InProcessTransport({ handler, peer: { address: '127.0.0.1', certificate } }));
  };
  return {
    client: clientOf(administrator),
    handler,
    clientOf,
    async [Symbol.asyncDispose]() {
      close();
      const closed = store.close();
      await (clock instanceof Scheduler ? clock.run(closed) : closed);
    },
  };
}
