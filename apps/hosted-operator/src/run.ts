/**
 * Runs the operator with the APIs that the management cluster serves. When Cluster API or the Gateway API is installed, upgraded or removed
 * later, the operator stops and starts again with the new set.
 */

import type { Client } from '@hangar/client';
import { asError, sleep, systemClock } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { hostedOperator, hostedWebhooks, servedApis } from '@hangar/hosted-operator';
import type { HostedOperatorOptions, ServedApis } from '@hangar/hosted-operator';
import type { Manager } from '@hangar/runtime';
import { certificateFolder, WebhookServer } from '@hangar/runtime/webhooks';
import { isDeepStrictEqual } from 'node:util';
import type { HostedOperatorProgramOptions } from './options.ts';

const leaseName = 'hangar-hosted-operator';
const discoverEveryMs = 30_000;

export interface RunOptions {
  readonly options: HostedOperatorProgramOptions;
  readonly management: Client;
  /** Namespace of the Lease, unless the options have one. */
  readonly namespace: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  /** Opens a client of a control plane. Absent: a connection over TLS. */
  readonly connect?: HostedOperatorOptions['connect'];
  /** Called with each manager before it runs, and with its webhooks. */
  readonly onManager?: ((manager: Manager, webhooks: WebhookServer | undefined) => void) | undefined;
}

/** Resolves after the signal. Rejects with the fatal error. */
export async function run({ clock = systemClock, ...given }: RunOptions): Promise<void> {
  const { management, log, signal } = given;
  log.debug('options', { ...given.options });
  while (!signal.aborted) {
    const apis = await servedApis(management, { signal });
    log.info('starting the operator of hosted control planes', { ...apis });
    const changed = new AbortController();
    const ending = AbortSignal.any([signal, changed.signal]);
    void apisChanged({ management, apis, clock, log, signal: ending }).then(
      () => changed.abort(),
      () => undefined,
    );
    await managerOf(given, apis).run(ending);
    if (changed.signal.aborted) log.info('the APIs of the management cluster changed, starting again');
  }
}

function managerOf(
  { options, management, namespace, log, connect, onManager }: Omit<RunOptions, 'clock'>,
  apis: ServedApis,
): Manager {
  const { electsLeader, controllerNamespace = namespace, serviceType, reach, concurrency, metrics, health } = options;
  const webhooks = webhooksOf(options, log);
  const manager = hostedOperator({
    management,
    namespace: options.namespace,
    ...apis,
    serviceType,
    reach,
    concurrency,
    metrics,
    health,
    webhooks,
    connect,
    log,
    ...(electsLeader ? { leaderElection: { namespace: controllerNamespace, name: leaseName } } : {}),
  });
  onManager?.(manager, webhooks);
  return manager;
}

function webhooksOf({ webhooks }: HostedOperatorProgramOptions, log: Logger): WebhookServer | undefined {
  if (!webhooks) return undefined;
  const { host, port } = webhooks;
  const server = new WebhookServer({ host, port, certificates: certificateFolder(webhooks.certificateFolder), log });
  for (const hook of hostedWebhooks()) server.register(hook);
  return server;
}

interface Discovery {
  readonly management: Client;
  readonly apis: ServedApis;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Resolves when the cluster serves other APIs. Rejects with `Aborted`. A failed discovery is repeated. */
async function apisChanged({ management, apis, clock, log, signal }: Discovery): Promise<void> {
  for (;;) {
    await sleep(clock, discoverEveryMs, signal);
    try {
      if (!isDeepStrictEqual(await servedApis(management, { signal }), apis)) return;
    } catch (error) {
      signal.throwIfAborted();
      log.debug('discovery failed, retrying', { error: asError(error) });
    }
  }
}
