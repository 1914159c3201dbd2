/** From the moment that a CustomResourceDefinition is sent to the moment that its first object is accepted. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.ts';
import type { Server } from './servers.ts';

const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer', minimum: 1 }, color: { type: 'string' } } },
  },
};

export async function definitionLatencyMs({ port, token, name: who }: Server, round: number): Promise<number> {
  const connection = await Connection.open({ port, token, protocol: 'h2' });
  try {
    const group = `round${round}.bench.example`;
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    };
    const widget = {
      apiVersion: `${group}/v1`,
      kind: 'Widget',
      metadata: { name: 'first' },
      spec: { size: 1, color: 'red' },
    };
    const begun = performance.now();
    const posted = await connection.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      body: Buffer.from(JSON.stringify(definition)),
    });
    if (posted.status !== 201) throw new Error(`${who}: ${posted.status} ${posted.body.toString()}`);
    for (;;) {
      const { status } = await connection.request('POST', `/apis/${group}/v1/namespaces/default/widgets`, {
        body: Buffer.from(JSON.stringify(widget)),
      });
      if (status === 201) return performance.now() - begun;
      if (performance.now() - begun > 30_000) throw new Error(`${who}: no custom resource after 30 s`);
      await sleep(1);
    }
  } finally {
    connection.close();
  }
}
