/**
 * Runs the operator with the APIs that the management cluster serves. When Cluster API, the Gateway API or cert-manager is installed,
 * upgraded or removed later, the operator stops and starts again with the new set.
 */

import { addBackupControllers } from '@hangar/backup-operator';
import type { Client } from '@hangar/client';
import { asError, sleep, systemClock } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { hostedOperator, hostedTarget, hostedWebhooks, servedApis } from '@hangar/hosted-operator';
import type { ServedApis } from '@hangar/hosted-operator';
import type { Manager } from '@hangar/runtime';
import { certificateFolder, WebhookServer } from '@hangar/runtime/webhooks';
import { isDeepStrictEqual } from 'node:util';
import type { HostedOperatorProgramOptions } from './options.ts';
import type { ProgramRun } from './program.ts';

const leaseName = 'hangar-hosted-operator';
const discoverEveryMs = 30_000;

type RunOptions = ProgramRun<HostedOperatorProgramOptions>;

/** Resolves after the signal. Rejects with the fatal error. */
export async function run(given: RunOptions): Promise<void> {
  const { options, management, log, signal } = given;
  log.debug('options', { ...options });
  while (!signal.aborted) {
    const apis = await servedApis(management, { signal });
    log.info('starting the operator of hosted control planes', { ...apis });
    const changed = new AbortController();
    const ending = AbortSignal.any([signal, changed.signal]);
    void apisChanged({ management, apis, log, signal: ending }).then(
      () => changed.abort(),
      () => undefined,
    );
    await managerOf(given, apis).run(ending);
    if (changed.signal.aborted) log.info('the APIs of the management cluster changed, starting again');
  }
}

function managerOf({ options, management, namespace, log }: RunOptions, apis: ServedApis): Manager {
  const { electsLeader, controllerNamespace = namespace, concurrency, metrics, health } = options;
  const { serviceType, frontDoor, reach, konnectivity, issuer } = options;
  const webhooks = webhooksOf(options, log);
  const manager = hostedOperator({
    management,
    namespace: options.namespace,
    ...apis,
    serviceType,
    frontDoor,
    reach,
    konnectivity,
    ...(apis.certManager && issuer === 'CertManager' ? { certManager: 'default' } : {}),
    concurrency,
    metrics,
    health,
    webhooks,
    log,
    ...(electsLeader ? { leaderElection: { namespace: controllerNamespace, name: leaseName } } : {}),
  });
  if (apis.backups) {
    const { folder, scratchFolder, image } = options.backups;
    const target = hostedTarget({ client: management, reach, scratchFolder, image });
    addBackupControllers(manager, { targets: [target], folder });
  }
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
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Resolves when the cluster serves other APIs. Rejects with `Aborted`. A failed discovery is repeated. */
async function apisChanged({ management, apis, log, signal }: Discovery): Promise<void> {
  for (;;) {
    await sleep(systemClock, discoverEveryMs, signal);
    try {
      if (!isDeepStrictEqual(await servedApis(management, { signal }), apis)) return;
    } catch (error) {
      signal.throwIfAborted();
      log.debug('discovery failed, retrying', { error: asError(error) });
    }
  }
}
