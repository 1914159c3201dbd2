import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { UnknownObject } from '@hangar/client';
import { fastClock } from '@hangar/core/testing';
import { controlPlaneEndpoint } from './control-plane-endpoint.ts';
import { addressOf, endpointServices, servicesAnnotation } from './control-plane-kinds.ts';
import type { ControlPlaneEndpointOptions } from './control-plane-endpoint.ts';
import { managementNamespace, secretTemplate } from './secret-template.ts';
import { providerConformance } from './testing/conformance.ts';
import type { ProviderWorld } from './testing/conformance.ts';
import { kubeconfig, secretKind, startManagement } from './testing/management.ts';
import type { Management } from './testing/management.ts';
import { Recorder } from './testing/recorder.ts';

const kind = defineKind<UnknownObject>({
  apiVersion: 'controlplane.kplane.dev/v1alpha1',
  kind: 'ControlPlaneEndpoint',
  plural: 'controlplaneendpoints',
  isNamespaced: false,
});
const definition = { ...kind, group: 'controlplane.kplane.dev', version: 'v1alpha1' };
const namespace = 'fleet';

interface World extends ProviderWorld {
  readonly management: Management;
  /** Creates or changes the object. */
  put(name: string, body: object): Promise<void>;
  putSecret(name: string, text: string): Promise<void>;
}

async function open(options: Partial<ControlPlaneEndpointOptions> = {}): Promise<World> {
  const management = await startManagement();
  const { client, watched, faults, clusterOptions } = management;
  await management.makeNamespace(namespace);
  await management.define(definition);
  const put = async (name: string, body: object): Promise<void> => {
    const whole = { ...body, metadata: { name, labels: { fleet: 'a' }, ...(body as { metadata?: object }).metadata } };
    await client.apply(kind, whole, { fieldManager: 'test', force: true });
  };
  const putSecret = (name: string, text: string): Promise<void> =>
    management.putSecret(namespace, `controlplane-${name}-kubeconfig`, {
      kubeconfig: text,
      'kubeconfig-external': text,
    });
  const at = (name: string, host = 'example.com') => ({ spec: { endpoint: `https://${name}.${host}` } });
  const server = (name: string) => kubeconfig(`https://${name}.example.com/clusters/${name}/control-plane`);
  return {
    management,
    put,
    putSecret,
    provider: controlPlaneEndpoint({
      management: watched,
      clusterOptions,
      namespace,
      labelSelector: 'fleet=a',
      clock: fastClock(),
      ...options,
    }),
    faults,
    async add(name) {
      await put(name, at(name));
      await putSecret(name, server(name));
    },
    change: (name) => put(name, at(name, 'elsewhere.com')),
    async touch(name) {
      const body = { metadata: { annotations: { touched: String(Math.random()) } } };
      await client.patch(kind, { name }, { type: 'merge', body });
    },
    hidings: {
      'the label': {
        hide: (name) => put(name, { ...at(name), metadata: { labels: { fleet: 'b' } } }),
        show: (name) => put(name, at(name)),
      },
      readiness: {
        hide: (name) => put(name, { ...at(name), status: { conditions: [{ type: 'Ready', status: 'False' }] } }),
        show: (name) => put(name, { ...at(name), status: { conditions: [{ type: 'Ready', status: 'True' }] } }),
      },
      'the address': { hide: (name) => put(name, { spec: {} }), show: (name) => put(name, at(name)) },
      'the secret': {
        hide: async (name) =>
          void (await client.delete(secretKind, { namespace, name: `controlplane-${name}-kubeconfig` })),
        show: (name) => putSecret(name, server(name)),
      },
    },
    async remove(name) {
      await client.delete(kind, { name });
    },
    [Symbol.asyncDispose]: () => management[Symbol.asyncDispose](),
  };
}

providerConformance('control-plane-endpoint', open);

describe('the address of an endpoint', () => {
  const spec = { endpoint: 'spec', externalEndpoint: 'spec-external', joinEndpoint: 'spec-join' };
  const table: [object, object, [string, string, string]][] = [
    [{}, {}, ['', '', '']],
    [{ endpoint: 'spec' }, {}, ['spec', 'spec', 'spec']],
    [spec, {}, ['spec', 'spec-external', 'spec-join']],
    [spec, { endpoint: 'status' }, ['status', 'spec-external', 'spec-join']],
    [spec, { externalEndpoint: 'seen' }, ['spec', 'seen', 'spec-join']],
    [{ endpoint: 'spec', externalEndpoint: 'out' }, {}, ['spec', 'out', 'out']],
    [{ endpoint: '' }, { endpoint: 'status' }, ['status', 'status', 'status']],
    [{ endpoint: 'spec' }, { endpoint: '' }, ['spec', 'spec', 'spec']],
    [{ endpoint: 'spec', externalEndpoint: '' }, {}, ['spec', 'spec', 'spec']],
    [{ endpoint: 'spec' }, { externalEndpoint: '', joinEndpoint: '' }, ['spec', 'spec', 'spec']],
    [{ externalEndpoint: '', joinEndpoint: '' }, { endpoint: 'status' }, ['status', 'status', 'status']],
    [{ endpoint: 'spec', externalEndpoint: 'out', joinEndpoint: '' }, {}, ['spec', 'out', 'out']],
    [spec, { externalEndpoint: '', joinEndpoint: '' }, ['spec', 'spec-external', 'spec-join']],
  ];
  for (const [given, status, expected] of table) {
    test(`of ${JSON.stringify(given)} and ${JSON.stringify(status)} is ${expected.join(', ')}`, () => {
      const found = (['internal', 'external', 'join'] as const).map((type) => addressOf({ spec: given, status }, type));
      assert.deepEqual(found, expected);
    });
  }

  test('counts, with the credentials of the kubeconfig, and its path unless it has one', async () => {
    await using world = await open();
    const signal = new AbortController().signal;
    await using recorder = new Recorder(world.provider);
    for (const [address, from, expected] of [
      [
        'https://new.example.com:8443',
        'https://old.example.com/clusters/a/control-plane',
        'https://new.example.com:8443/clusters/a/control-plane',
      ],
      [
        'https://new.example.com/clusters/b/control-plane/',
        'https://old.example.com',
        'https://new.example.com/clusters/b/control-plane',
      ],
      ['new.example.com:6443', 'https://old.example.com', 'https://new.example.com:6443'],
    ] as const) {
      await world.put('a', { spec: { endpoint: address } });
      await world.putSecret('a', kubeconfig(from));
      await recorder.untilNames('a');
      await recorder.clusters.get('a')!.open(signal);
      const { server, credentials } = world.management.configs.get('a')!;
      assert.equal(server, expected);
      assert.deepEqual(await credentials!.headers(), { authorization: 'Bearer secret' });
      await world.remove('a');
      await recorder.untilNames();
    }
  });

  test('that would give the credentials away is refused', async () => {
    await using world = await open();
    const trusting = (cluster: object): string => {
      const { clusters, ...others } = JSON.parse(kubeconfig('https://a.example.com'));
      const { server } = clusters[0].cluster;
      return JSON.stringify({ ...others, clusters: [{ ...clusters[0], cluster: { server, ...cluster } }] });
    };
    const table: [string, string][] = [
      ['http://a.example.com', kubeconfig('https://a.example.com')],
      ['https://evil.example.com', trusting({ 'insecure-skip-tls-verify': true })],
      ['https://evil.example.com', trusting({ 'insecure-skip-tls-verify': true, 'tls-server-name': 'a.example.com' })],
      ['https://evil.example.com', trusting({})],
      ['https://a.example.com:444', trusting({})],
      ['ftp://a.example.com', kubeconfig('https://a.example.com')],
      ['https://user:password@a.example.com', kubeconfig('https://a.example.com')],
      ['::', kubeconfig('https://a.example.com')],
    ];
    for (const [at, [address, text]] of table.entries()) {
      await world.put(`a${at}`, { spec: { endpoint: address } });
      await world.putSecret(`a${at}`, text);
    }
    await using recorder = new Recorder(world.provider);
    await recorder.untilTold('synced');
    assert.equal(recorder.names.length, table.length);
    for (const cluster of recorder.clusters.values()) {
      await assert.rejects(cluster.open(new AbortController().signal), { code: 'Terminal' }, cluster.name);
    }
    assert.equal(world.management.configs.size, 0);
  });
});

describe('the secret of a control plane', () => {
  test('is found by a template', () => {
    const long = 'x'.repeat(60);
    assert.deepEqual(secretTemplate()('a'), { namespace: 'kplane-cp-a', name: 'controlplane-a-kubeconfig' });
    assert.deepEqual(secretTemplate(undefined, 'fleet')('a'), {
      namespace: 'fleet',
      name: 'controlplane-a-kubeconfig',
    });
    assert.deepEqual(secretTemplate('{name}-kc', 'fleet')('a'), { namespace: 'fleet', name: 'a-kc' });
    assert.deepEqual(secretTemplate('cp-{name}/admin')('a'), { namespace: 'cp-a', name: 'admin' });
    assert.deepEqual(secretTemplate('{namespace}/admin')('a'), { namespace: 'kplane-cp-a', name: 'admin' });
    assert.equal(managementNamespace(long).length, 49);
    assert.match(managementNamespace(long), /^kplane-cp-x{30}-[0-9a-f]{8}$/);
    assert.match(managementNamespace('a.b'), /^kplane-cp-a-b-[0-9a-f]{8}$/);
    assert.notEqual(managementNamespace(`${long}a`), managementNamespace(`${long}b`));
  });

  test('is not the same for all, nor nonsense', () => {
    for (const [template, scope] of [
      ['fleet/admin', undefined],
      ['admin', 'fleet'],
      ['{namespace}/admin', 'fleet'],
      ['a/{name}/c', undefined],
      ['/{name}', undefined],
      ['{name}/', undefined],
      ['{name}-{cluster}', undefined],
    ] as const) {
      assert.throws(() => secretTemplate(template, scope), { code: 'InvalidOptions' }, template);
    }
    const management = {} as never;
    assert.throws(() => controlPlaneEndpoint({ management, address: 'outside' as never }), { code: 'InvalidOptions' });
  });
});

test('an endpoint is for the services of its annotation, else of its label, else for controllers', () => {
  const said = (services: string) => ({ [servicesAnnotation]: services });
  assert.deepEqual(endpointServices({ metadata: {} }), ['controllers']);
  assert.deepEqual(endpointServices({ metadata: { labels: said('Scheduler') } }), ['scheduler']);
  const both = { annotations: said('scheduler, Controllers'), labels: said('none') };
  assert.deepEqual(endpointServices({ metadata: both }), ['scheduler', 'controllers']);
  assert.ok(!endpointServices({ metadata: { annotations: said('') } }).includes('controllers'));
});
