import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { UnknownObject } from '@hangar/client';
import { fastClock } from '@hangar/core/testing';
import { controlPlaneRegistration } from './control-plane-registration.ts';
import type { ControlPlaneRegistrationOptions } from './control-plane-registration.ts';
import { providerConformance } from './testing/conformance.ts';
import type { ProviderWorld } from './testing/conformance.ts';
import { kubeconfig, secretKind, startManagement } from './testing/management.ts';
import type { Management } from './testing/management.ts';
import { Recorder } from './testing/recorder.ts';

const kind = defineKind<UnknownObject>({
  apiVersion: 'controlplane.kplane.dev/v1alpha1',
  kind: 'ControlPlaneRegistration',
  plural: 'controlplaneregistrations',
  isNamespaced: false,
});
const definition = { ...kind, group: 'controlplane.kplane.dev', version: 'v1alpha1' };

interface Wanted {
  readonly registration?: string;
  readonly services?: string[];
  readonly mode?: string;
  readonly status?: object;
  readonly labels?: object;
}

interface World extends ProviderWorld {
  readonly management: Management;
  register(controlPlane: string, wanted?: Wanted): Promise<void>;
}

const secretOf = (name: string) => ({ namespace: `kplane-cp-${name}`, name: `controlplane-${name}-kubeconfig` });
const resolved = (name: string, host = 'example.com') => ({
  ready: true,
  resolvedEndpoint: `https://${name}.${host}`,
  resolvedKubeconfigSecretRef: secretOf(name),
});

async function open(options: Partial<ControlPlaneRegistrationOptions> = {}): Promise<World> {
  const management = await startManagement();
  const { client, watched, faults, clusterOptions } = management;
  await management.define(definition);
  for (const name of ['one', 'two', 'three']) await management.makeNamespace(secretOf(name).namespace);
  const register = async (controlPlane: string, wanted: Wanted = {}): Promise<void> => {
    const {
      registration = controlPlane,
      services = ['Controllers'],
      mode = 'Shared',
      labels = { fleet: 'a' },
    } = wanted;
    const body = {
      metadata: { name: registration, labels },
      spec: { controlPlaneRef: { name: controlPlane }, services, mode },
      status: wanted.status ?? resolved(controlPlane),
    };
    await client.apply(kind, body, { fieldManager: 'test', force: true });
  };
  const putSecret = (name: string): Promise<void> => {
    const { namespace, name: secret } = secretOf(name);
    return management.putSecret(namespace, secret, {
      kubeconfig: kubeconfig(`https://${name}.example.com/clusters/x`),
    });
  };
  return {
    management,
    register,
    provider: controlPlaneRegistration({
      management: watched,
      clusterOptions,
      services: ['controllers'],
      labelSelector: 'fleet=a',
      clock: fastClock(),
      ...options,
    }),
    faults,
    async add(name) {
      await register(name);
      await putSecret(name);
    },
    change: (name) => register(name, { status: resolved(name, 'elsewhere.com') }),
    async touch(name) {
      const body = { metadata: { annotations: { touched: String(Math.random()) } } };
      await client.patch(kind, { name }, { type: 'merge', body });
    },
    hidings: {
      'the label': { hide: (name) => register(name, { labels: {} }), show: (name) => register(name) },
      readiness: {
        hide: (name) => register(name, { status: { ...resolved(name), ready: false } }),
        show: (name) => register(name),
      },
      'the condition': {
        hide: (name) =>
          register(name, { status: { ...resolved(name), conditions: [{ type: 'Ready', status: 'False' }] } }),
        show: (name) => register(name),
      },
      'the service': { hide: (name) => register(name, { services: ['scheduler'] }), show: (name) => register(name) },
      'the reference': {
        hide: (name) => register(name, { status: { ready: true, resolvedEndpoint: 'https://a' } }),
        show: (name) => register(name),
      },
      'the secret': {
        hide: async (name) => void (await client.delete(secretKind, secretOf(name))),
        show: putSecret,
      },
    },
    async remove(name) {
      await client.delete(kind, { name });
    },
    [Symbol.asyncDispose]: () => management[Symbol.asyncDispose](),
  };
}

providerConformance('control-plane-registration', open);

describe('control-plane-registration', () => {
  test('goes by the address that was resolved, whatever the kubeconfig says', async () => {
    await using world = await open();
    await world.add('one');
    await using recorder = new Recorder(world.provider);
    await recorder.untilNames('one');
    await world.change!('one');
    await recorder.untilTold('*one');
    await recorder.clusters.get('one')!.open(new AbortController().signal);
    assert.equal(world.management.configs.get('one')!.server, 'https://one.elsewhere.com/clusters/x');
  });

  test('finds one that was registered before its control plane was ready, without an edit of it', async () => {
    await using world = await open();
    await world.register('one', { status: {} });
    await using recorder = new Recorder(world.provider);
    await recorder.untilTold('synced');
    assert.deepEqual(recorder.names, []);
    await world.register('one');
    const { namespace, name } = secretOf('one');
    await world.management.putSecret(namespace, name, { kubeconfig: kubeconfig('https://one.example.com') });
    await recorder.untilNames('one');
  });

  test('takes services in any case and of several registrations the oldest', async () => {
    await using world = await open({ services: ['WORKLOADS', 'controllers'], mode: 'Shared' });
    await world.add('one');
    await world.register('one', { registration: 'z-later', services: ['Workloads'] });
    await world.register('two', { mode: 'Dedicated' });
    await using recorder = new Recorder(world.provider);
    await recorder.untilTold('synced');
    assert.deepEqual(recorder.names, ['one']);
    // The other registration takes over: another object, so a new cluster.
    await world.remove('one');
    await recorder.untilTold('-one');
    await recorder.untilNames('one');
    await world.management.client.delete(kind, { name: 'z-later' });
    await recorder.untilNames();
  });

  test('follows a registration that names another control plane', async () => {
    await using world = await open();
    await world.add('one');
    await world.add('two');
    await world.remove('two');
    await using recorder = new Recorder(world.provider);
    await recorder.untilNames('one');
    await world.register('two', { registration: 'one' });
    await recorder.untilNames('two');
  });
});
