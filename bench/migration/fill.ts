/** Fills a control plane: ConfigMaps of 500 bytes, and CustomResourceDefinitions. */

import { configOfKubeconfig, connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';

export interface Filling {
  readonly configMaps: number;
  readonly definitions: number;
}

export const filledNamespace = 'filled';
const concurrency = 64;

export async function fill(kubeconfig: string, { configMaps, definitions }: Filling): Promise<void> {
  const client = connect(await configOfKubeconfig(kubeconfig));
  try {
    const namespace = filledNamespace;
    await client.create(Namespace, { metadata: { name: namespace } });
    const data = { text: 'x'.repeat(400) };
    await several(configMaps, (at) =>
      client.create(ConfigMap, { metadata: { namespace, name: `filled-${at}` }, data }),
    );
    await several(definitions, (at) => define(client, at));
  } finally {
    await client.close();
  }
}

async function several(count: number, call: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const workers = Array.from({ length: concurrency }, async () => {
    while (next < count) await call(next++);
  });
  await Promise.all(workers);
}

async function define(client: Client, at: number): Promise<void> {
  const [plural, kind, group] = [`things${at}`, `Thing${at}`, 'bench.example.com'];
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer', minimum: 0 } } } },
    },
  };
  await client.create(CustomResourceDefinition, {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
}
