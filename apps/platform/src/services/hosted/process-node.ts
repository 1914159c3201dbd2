/**
 * The node of the management plane: a process runtime in this process, with the workload controllers and the scheduler of the management
 * plane as its first pods. Its folder is in the data directory, so the next start finds the data of all pods.
 */

import type { Client } from '@hangar/client';
import { StorageClass } from '@hangar/client/kinds/storage-v1';
import { asError, sleep, systemClock } from '@hangar/core';
import { startProcessRuntime, storageClassName } from '@hangar/process-runtime';
import { insideClients } from '../clients.ts';
import type { ServiceWorld } from '../service-world.ts';
import type { SupervisedService } from '../supervise.ts';
import type { Programs } from './programs.ts';
import { ownProgram } from './own-program.ts';
import { ensureSystemPods } from './system-pods.ts';

export interface ProcessNodeWorld extends ServiceWorld {
  readonly nodeName: string;
  /** Volumes, logs and journals of pods. */
  readonly folder: string;
  readonly programs: Programs;
  /** Called by every run when pods can be scheduled. */
  readonly onReady: () => void;
}

const hostIP = '127.0.0.1';
/** System pods that are missing are created again after this time. */
const checkEveryMs = 5_000;

export const processNodeService = (world: ProcessNodeWorld): SupervisedService => ({
  name: 'process-node',
  async run(signal, running) {
    const { inside, log, nodeName, folder, programs } = world;
    const clients = insideClients(inside, 'process-node');
    try {
      const runtime = await startProcessRuntime({
        client: clients.root,
        log,
        nodeName,
        folder,
        hostIP,
        images: [await ownProgram(folder), programs.source],
        // Pods of hosted control planes have no tolerations.
        taints: [],
        // The only node.
        claimBinding: 'Immediate',
        apiServer: apiServerOf(inside.url),
        kubelet: { clientCa: inside.keys().authority.certificate },
      });
      world.tellMetrics(() => runtime.metrics.registry.text());
      inside.localKubelet.allow(() => {
        const port = runtime.kubeletPort;
        return port === undefined ? undefined : { host: hostIP, port };
      });
      try {
        await makeDefault(clients.root, signal);
        running();
        world.onReady();
        await keepSystemPods(world, clients.root, signal);
      } finally {
        // After a failure the programs continue, and the next run adopts them.
        await runtime.close({ pods: signal.aborted ? 'stop' : 'keep' });
      }
    } finally {
      inside.localKubelet.allow(() => undefined);
      await clients.close();
    }
  },
});

/** Runs until the signal. */
async function keepSystemPods(world: ProcessNodeWorld, client: Client, signal: AbortSignal): Promise<void> {
  const { inside, nodeName, programs, log, electsLeader } = world;
  const options = {
    client,
    nodeName,
    url: inside.url,
    servingCa: inside.servingCa(),
    electsLeader,
    imageOf: (name: string) => programs.imageOf(name),
  };
  while (!signal.aborted) {
    try {
      await ensureSystemPods(options, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn('failed to create the pods of the workload controllers, retrying', { error: asError(error).message });
    }
    await sleep(systemClock, checkEveryMs, signal).catch(() => undefined);
  }
}

const apiServerOf = (url: string): { host: string; port: number } => {
  const { hostname, port } = new URL(url);
  return { host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port || 443) };
};

/** Claims without a class get volumes of the runtime. An administrator who sets the annotation to "false" keeps that. */
async function makeDefault(client: Client, signal: AbortSignal): Promise<void> {
  const annotation = 'storageclass.kubernetes.io/is-default-class';
  const key = { name: storageClassName };
  const { metadata } = await client.get(StorageClass, key, { signal });
  if (metadata.annotations?.[annotation] !== undefined) return;
  const body = { metadata: { annotations: { [annotation]: 'true' } } };
  await client.patch(StorageClass, key, { type: 'merge', body }, { signal });
}
