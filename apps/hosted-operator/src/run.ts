/**
 * Runs the operator with the APIs that the management cluster serves. When Cluster API, the Gateway API or cert-manager is installed,
 * upgraded or removed later, the operator stops and starts again with the new set. Modules of webhooks and backups are loaded only if they
 * are used: each module costs 20 KB of memory.
 */

import type { Client } from '@hangar/client';
import { asError, sleep, systemClock } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { hostedOperator } from '@hangar/hosted-operator/operator';
import { servedApis } from '@hangar/hosted-operator/served-apis';
import type { ServedApis } from '@hangar/hosted-operator/served-apis';
import type { Manager } from '@hangar/runtime';
import type { WebhookServer } from '@hangar/runtime/webhooks';
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
    const manager = await managerOf(given, apis);
    await manager.run(ending);
    if (changed.signal.aborted) log.info('the APIs of the management cluster changed, starting again');
  }
}

async function managerOf({ options, management, namespace, log }: RunOptions, apis: ServedApis): Promise<Manager> {
  const { electsLeader, controllerNamespace = namespace, concurrency, metrics, health } = options;
  const { serviceType, frontDoor, reach, konnectivity, issuer } = options;
  const webhooks = await webhooksOf(options, log);
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
  if (apis.backups) await addBackups(manager, { options, management });
  return manager;
}

async function addBackups(manager: Manager, { options, management }: Pick<RunOptions, 'options' | 'management'>) {
  const { addBackupControllers } = await import('@hangar/backup-operator');
  const { hostedTarget } = await import('@hangar/hosted-operator/backup');
  const { folder, scratchFolder, image } = options.backups;
  const target = hostedTarget({ client: management, reach: options.reach, scratchFolder, image });
  addBackupControllers(manager, { targets: [target], folder });
}

async function webhooksOf({ webhooks }: HostedOperatorProgramOptions, log: Logger): Promise<WebhookServer | undefined> {
  if (!webhooks) return undefined;
  const { certificateFolder, WebhookServer } = await import('@hangar/runtime/webhooks');
  const { hostedWebhooks } = await import('@hangar/hosted-operator/admission');
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
