import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { UnknownObject } from '@hangar/client';
import { fastClock } from '@hangar/core/testing';
import { miloProjects } from './milo-projects.ts';
import type { MiloProjectsOptions } from './milo-projects.ts';
import { providerConformance } from './testing/conformance.ts';
import type { ProviderWorld } from './testing/conformance.ts';
import { startManagement } from './testing/management.ts';
import type { Management } from './testing/management.ts';
import { Recorder } from './testing/recorder.ts';

const kinds = {
  external: { group: 'resourcemanager.miloapis.com', kind: 'Project', plural: 'projects', isNamespaced: false },
  internal: {
    group: 'infrastructure.miloapis.com',
    kind: 'ProjectControlPlane',
    plural: 'projectcontrolplanes',
    isNamespaced: true,
  },
};
const gates = { external: 'Ready', internal: 'ControlPlaneReady' };
const projectRestConfig = { server: 'https://milo.example.com', ca: 'pem' };

async function open(
  mode: 'external' | 'internal',
  options: Partial<MiloProjectsOptions> = {},
): Promise<ProviderWorld & { management: Management }> {
  const management = await startManagement();
  const { client, watched, faults, clusterOptions } = management;
  const names = { ...kinds[mode], version: 'v1alpha1' };
  await management.define(names);
  const kind = defineKind<UnknownObject>({ ...names, apiVersion: `${names.group}/v1alpha1` });
  const keyOf = (name: string) => (names.isNamespaced ? { namespace: 'default', name } : { name });
  const merge = async (name: string, body: object): Promise<void> =>
    void (await client.patch(kind, keyOf(name), { type: 'merge', body }));
  const ready = (status: string, type = gates[mode]) => ({ status: { conditions: [{ type, status }] } });
  return {
    management,
    provider: miloProjects({
      management: watched,
      projectRestConfig,
      internalServiceDiscovery: mode === 'internal',
      labelSelector: 'fleet=a',
      clusterOptions,
      clock: fastClock(),
      ...options,
    }),
    faults,
    async add(name) {
      await client.create(kind, { metadata: { ...keyOf(name), labels: { fleet: 'a' } }, ...ready('True') });
    },
    touch: (name) => merge(name, { metadata: { annotations: { touched: String(Math.random()) } } }),
    hidings: {
      'the label': {
        hide: (name) => merge(name, { metadata: { labels: { fleet: null } } }),
        show: (name) => merge(name, { metadata: { labels: { fleet: 'a' } } }),
      },
      readiness: { hide: (name) => merge(name, ready('False')), show: (name) => merge(name, ready('True')) },
      'the condition': { hide: (name) => merge(name, { status: null }), show: (name) => merge(name, ready('True')) },
      'another condition': {
        hide: (name) => merge(name, ready('True', 'ResourceCleanup')),
        show: (name) => merge(name, ready('True')),
      },
    },
    async remove(name) {
      await client.delete(kind, keyOf(name));
    },
    [Symbol.asyncDispose]: () => management[Symbol.asyncDispose](),
  };
}

providerConformance('milo-projects, external', () => open('external'));
providerConformance('milo-projects, internal', () => open('internal'));

describe('milo-projects', () => {
  for (const [mode, address] of [
    ['external', 'https://milo.example.com/apis/resourcemanager.miloapis.com/v1alpha1/projects/one/control-plane'],
    ['internal', 'https://milo-apiserver.project-one.svc.cluster.local:6443'],
  ] as const) {
    test(`are reached at ${address}`, async () => {
      await using world = await open(mode);
      await world.add('one');
      await using recorder = new Recorder(world.provider);
      await recorder.untilNames('one');
      await recorder.clusters.get('one')!.open(new AbortController().signal);
      const { server, ca } = world.management.configs.get('one')!;
      assert.deepEqual([server, ca], [address, 'pem']);
    });
  }

  test('are reached through the management client when nothing else is said', async () => {
    await using world = await open('external', { projectRestConfig: undefined as never });
    const { watched, faults } = world.management;
    const provider = miloProjects({
      management: watched,
      labelSelector: 'fleet=a',
      clusterOptions: { isProbed: false },
    });
    await world.add('one');
    await using recorder = new Recorder(provider);
    await recorder.untilNames('one');
    const cluster = await recorder.clusters.get('one')!.open(new AbortController().signal);
    faults.forget();
    await (await cluster.client.raw({ method: 'GET', target: '/version' })).body();
    const path = '/apis/resourcemanager.miloapis.com/v1alpha1/projects/one/control-plane/version';
    assert.deepEqual(
      faults.requests.map(({ target }) => target).filter((target) => target.endsWith('/version')),
      [path],
    );
    // It does not close shared connections.
    await cluster.client.close();
    await (await watched.raw({ method: 'GET', target: '/version' })).body();
  });

  test('whose name is no label are not reached inside: the address would be of another namespace', async () => {
    await using world = await open('internal');
    await world.add('a.evil');
    await using recorder = new Recorder(world.provider);
    await recorder.untilNames('a.evil');
    const opening = recorder.clusters.get('a.evil')!.open(new AbortController().signal);
    await assert.rejects(opening, { code: 'Terminal' });
    assert.equal(world.management.configs.size, 0);
  });

  test('are below an address that ends with a slash, too', async () => {
    await using world = await open('external', { projectRestConfig: { server: 'https://milo.example.com/base/' } });
    await world.add('one');
    await using recorder = new Recorder(world.provider);
    await recorder.untilNames('one');
    await recorder.clusters.get('one')!.open(new AbortController().signal);
    assert.match(world.management.configs.get('one')!.server, /^https:\/\/milo\.example\.com\/base\/apis\//);
  });

  test('have the address of the given template inside', async () => {
    const internalServiceTemplate = 'https://api.{name}.svc:8443/{name}';
    await using world = await open('internal', { internalServiceTemplate });
    await world.add('one');
    await using recorder = new Recorder(world.provider);
    await recorder.untilNames('one');
    await recorder.clusters.get('one')!.open(new AbortController().signal);
    assert.equal(world.management.configs.get('one')!.server, 'https://api.one.svc:8443/one');
  });

  test('need credentials of their own inside, and a template with the name', () => {
    const management = {} as never;
    const fixed = { management, projectRestConfig, internalServiceTemplate: 'https://api.svc' };
    assert.throws(() => miloProjects(fixed), { code: 'InvalidOptions' });
    assert.throws(() => miloProjects({ management, internalServiceDiscovery: true }), { code: 'InvalidOptions' });
  });
});
