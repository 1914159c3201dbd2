/** Runs a fleet with objects in a separate process, so that a benchmark does not measure the memory of the server. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { defineKind } from '@hangar/client';

export const kinds = [
  defineKind({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true }),
  defineKind({ apiVersion: 'v1', kind: 'Secret', plural: 'secrets', isNamespaced: true }),
  defineKind({ apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', isNamespaced: true }),
] as const;

export interface FleetSize {
  readonly clusters: number;
  /** Number of objects of each kind in each cluster. */
  readonly objects: number;
}

export interface FleetServer extends AsyncDisposable {
  /** `*`: all clusters. */
  kubeconfigOf(cluster: string): Promise<string>;
  /** Changes one object in each cluster. */
  touch(value: string): Promise<void>;
}

export async function startFleetServer(size: FleetSize): Promise<FleetServer> {
  const child = fork(fileURLToPath(import.meta.url), [`${size.clusters}`, `${size.objects}`]);
  const ask = async (...message: string[]): Promise<string> => {
    child.send(message);
    const [answer] = (await once(child, 'message')) as [string];
    return answer;
  };
  await once(child, 'message');
  return {
    kubeconfigOf: (cluster) => ask('kubeconfig', cluster),
    touch: async (value) => void (await ask('touch', value)),
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

async function serve({ clusters, objects }: FleetSize): Promise<void> {
  // Imported only in the child process: the parent must not load the server.
  const { startTestFleet } = await import('@hangar/testkit');
  const fleet = await startTestFleet({ clusters, listen: true });
  const namespace = 'default';
  for (const cluster of fleet.clusters) {
    const client = fleet.clientOf(cluster);
    const made = kinds.flatMap((kind) =>
      Array.from({ length: objects }, (_, n) =>
        client.create(kind, {
          metadata: { namespace, name: `object-${n}`, labels: { 'app.kubernetes.io/name': 'bench' } },
        }),
      ),
    );
    await Promise.all(made);
  }
  process.on('message', ([what, value]: [string, string]) => {
    if (what === 'kubeconfig') {
      process.send!(fleet.kubeconfigOf(value));
      return;
    }
    const patch = { type: 'merge', body: { data: { value } } } as const;
    const key = { namespace, name: 'object-0' };
    const all = fleet.clusters.map((cluster) => fleet.clientOf(cluster).patch(kinds[0], key, patch));
    void Promise.all(all).then(() => process.send!('done'));
  });
  process.send!('ready');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await serve({ clusters: Number(process.argv[2]), objects: Number(process.argv[3]) });
}
