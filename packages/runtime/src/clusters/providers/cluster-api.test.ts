import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { UnknownObject } from '@hangar/client';
import { fastClock } from '@hangar/core/testing';
import { clusterApi } from './cluster-api.ts';
import type { ClusterApiOptions, ClusterApiVersion } from './cluster-api.ts';
import { providerConformance } from './testing/conformance.ts';
import type { ProviderWorld } from './testing/conformance.ts';
import { kubeconfig, secretKind, startManagement } from './testing/management.ts';
import type { Management } from './testing/management.ts';
import { Recorder } from './testing/recorder.ts';

const namespace = 'fleet';
const group = 'cluster.x-k8s.io';

const kindOf = (version: ClusterApiVersion) =>
  defineKind<UnknownObject>({
    apiVersion: `${group}/${version}`,
    kind: 'Cluster',
    plural: 'clusters',
    isNamespaced: true,
  });

const condition = (type: string, status: string) => ({ type, status, lastTransitionTime: '2026-01-01T00:00:00Z' });

/** The field of each version. */
const initialised: Record<ClusterApiVersion, (isSo: boolean) => object> = {
  v1beta1: (isSo) => ({
    phase: 'Provisioned',
    conditions: [condition('ControlPlaneInitialized', isSo ? 'True' : 'False')],
  }),
  v1beta2: (isSo) => ({ initialization: { controlPlaneInitialized: isSo }, conditions: [] }),
};

interface World extends ProviderWorld {
  readonly management: Management;
  setStatus(name: string, status: object): Promise<void>;
}

async function open(version: ClusterApiVersion, options: Partial<ClusterApiOptions> = {}): Promise<World> {
  const management = await startManagement();
  const { client, watched, faults, clusterOptions } = management;
  await management.makeNamespace(namespace);
  await management.define({ group, version, kind: 'Cluster', plural: 'clusters', isNamespaced: true });
  const kind = kindOf(version);
  const putSecret = (name: string, host: string): Promise<void> =>
    management.putSecret(
      namespace,
      `${name}-kubeconfig`,
      { value: kubeconfig(`https://${name}.${host}`) },
      {
        [`${group}/cluster-name`]: name,
      },
    );
  const merge = (name: string, body: object) => client.patch(kind, { namespace, name }, { type: 'merge', body });
  const setStatus = async (name: string, status: object): Promise<void> => void (await merge(name, { status }));
  return {
    management,
    setStatus,
    provider: clusterApi({
      management: watched,
      clusterOptions,
      labelSelector: 'fleet=a',
      clock: fastClock(),
      ...options,
    }),
    faults,
    nameOf: (name) => `${namespace}/${name}`,
    async add(name) {
      const metadata = { namespace, name, labels: { fleet: 'a' } };
      await client.create(kind, { metadata, spec: {}, status: initialised[version](true) });
      await putSecret(name, 'example.com');
    },
    change: (name) => putSecret(name, 'elsewhere.com'),
    async touch(name) {
      await merge(name, { metadata: { annotations: { touched: String(Math.random()) } } });
    },
    hidings: {
      'the label': {
        hide: async (name) => void (await merge(name, { metadata: { labels: { fleet: 'b' } } })),
        show: async (name) => void (await merge(name, { metadata: { labels: { fleet: 'a' } } })),
      },
      readiness: {
        hide: (name) => setStatus(name, initialised[version](false)),
        show: (name) => setStatus(name, initialised[version](true)),
      },
      'the secret': {
        hide: async (name) => void (await client.delete(secretKind, { namespace, name: `${name}-kubeconfig` })),
        show: (name) => putSecret(name, 'example.com'),
      },
    },
    async remove(name) {
      await client.delete(kind, { namespace, name });
    },
    [Symbol.asyncDispose]: () => management[Symbol.asyncDispose](),
  };
}

providerConformance('cluster-api v1beta2', () => open('v1beta2'));
providerConformance('cluster-api v1beta1', () => open('v1beta1'));

describe('cluster-api', () => {
  test('reads every place in which versions say that a control plane is initialised', async () => {
    await using world = await open('v1beta1');
    await world.add('a');
    await using recorder = new Recorder(world.provider);
    const shown = [
      { conditions: [condition('ControlPlaneInitialized', 'True')] },
      { conditions: [], v1beta2: { conditions: [condition('ControlPlaneInitialized', 'True')] } },
      { conditions: null, v1beta2: null, initialization: { controlPlaneInitialized: true } },
    ];
    for (const status of shown) {
      await world.setStatus('a', status);
      await recorder.untilNames('fleet/a');
      await world.setStatus('a', { conditions: null, v1beta2: null, initialization: null });
      await recorder.untilNames();
    }
  });

  test('can wait until a whole cluster is available', async () => {
    await using world = await open('v1beta2', { condition: 'Available', namespace });
    await world.add('a');
    await world.add('b');
    await world.setStatus('a', { conditions: [condition('Available', 'True')] });
    await using recorder = new Recorder(world.provider);
    await recorder.untilTold('synced');
    assert.deepEqual(recorder.names, ['a']);
    await world.setStatus('a', { conditions: [condition('Available', 'Unknown')] });
    await recorder.untilNames();
  });

  test('waits for its kinds to be defined', async () => {
    await using management = await startManagement();
    const { watched, clusterOptions, client } = management;
    await using recorder = new Recorder(clusterApi({ management: watched, clusterOptions }));
    await recorder.until('asked', () => true);
    await management.makeNamespace(namespace);
    await management.define({ group, version: 'v1beta1', kind: 'Cluster', plural: 'clusters', isNamespaced: true });
    await client.create(kindOf('v1beta1'), { metadata: { namespace, name: 'a' }, status: initialised.v1beta1(true) });
    await management.putSecret(
      namespace,
      'a-kubeconfig',
      { value: kubeconfig('https://a') },
      {
        [`${group}/cluster-name`]: 'a',
      },
    );
    await recorder.untilNames('fleet/a');
  });
});
