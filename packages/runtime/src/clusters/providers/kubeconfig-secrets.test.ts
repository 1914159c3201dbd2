import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastClock } from '@hangar/core/testing';
import type { ClusterOptions } from './open-cluster.ts';
import { kubeconfigSecretLabel, kubeconfigSecrets } from './kubeconfig-secrets.ts';
import { providerConformance } from './testing/conformance.ts';
import type { ProviderWorld } from './testing/conformance.ts';
import { kubeconfig, secretKind, startManagement } from './testing/management.ts';
import type { Management } from './testing/management.ts';
import { Recorder } from './testing/recorder.ts';

const namespace = 'fleet';
const labels = { [kubeconfigSecretLabel]: 'true' };

const put = (management: Management, name: string, text: string, more: object = labels): Promise<void> =>
  management.putSecret(namespace, name, { kubeconfig: text }, more);

async function open(
  scope: { namespace?: string } = { namespace },
): Promise<ProviderWorld & { management: Management }> {
  const management = await startManagement();
  await management.makeNamespace(namespace);
  const { watched, faults, clusterOptions, client } = management;
  const at = (name: string) => kubeconfig(`https://${name}.example.com`);
  return {
    management,
    provider: kubeconfigSecrets({ management: watched, clusterOptions, clock: fastClock(), ...scope }),
    faults,
    ...(scope.namespace ? {} : { nameOf: (name: string) => `${namespace}/${name}` }),
    add: (name) => put(management, name, at(name)),
    change: (name) => put(management, name, kubeconfig(`https://${name}.elsewhere.com`)),
    async touch(name) {
      const body = { metadata: { annotations: { touched: String(Math.random()) } } };
      await client.patch(secretKind, { namespace, name }, { type: 'merge', body });
    },
    hidings: {
      'the label': {
        hide: (name) => put(management, name, at(name), {}),
        show: (name) => put(management, name, at(name)),
      },
      'the key': {
        hide: (name) => management.putSecret(namespace, name, { other: 'x' }, labels),
        show: (name) => put(management, name, at(name)),
      },
    },
    async remove(name) {
      await client.delete(secretKind, { namespace, name });
    },
    [Symbol.asyncDispose]: () => management[Symbol.asyncDispose](),
  };
}

providerConformance('kubeconfig-secrets', open);
providerConformance('kubeconfig-secrets of all namespaces', () => open({}));

test('a kubeconfig that cannot be used is told, cannot be opened, and may become better', async () => {
  await using world = await open();
  const { management } = world;
  const wrong: Record<string, string> = {
    'no-yaml': '{]',
    'no-kubeconfig': 'hello',
    empty: '',
    exec: kubeconfig('https://a', {
      exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'touch', args: ['/tmp/owned'] },
    }),
    'token-file': kubeconfig('https://a', { tokenFile: '/etc/passwd' }),
    'client-key': kubeconfig('https://a', { 'client-certificate': '/etc/passwd', 'client-key': '/etc/shadow' }),
  };
  for (const [name, text] of Object.entries(wrong)) await put(management, name, text);
  await using recorder = new Recorder(world.provider);
  await recorder.untilTold('synced');
  assert.deepEqual(recorder.names, Object.keys(wrong).sort());
  for (const cluster of recorder.clusters.values()) {
    await assert.rejects(cluster.open(new AbortController().signal), { code: 'Terminal' }, cluster.name);
  }
  assert.equal(management.configs.size, 0);
  await put(management, 'exec', kubeconfig('https://a'));
  await recorder.untilTold('*exec');
  await recorder.clusters.get('exec')!.open(new AbortController().signal);
  assert.equal(management.configs.get('exec')!.server, 'https://a');
});

test('a kubeconfig that says the same in other words is no change', async () => {
  await using world = await open();
  const text = kubeconfig('https://a.example.com');
  await put(world.management, 'a', text);
  await using recorder = new Recorder(world.provider);
  await recorder.untilTold('synced');
  await put(world.management, 'a', `# renewed\n${JSON.stringify(JSON.parse(text), null, 2)}`);
  await world.add('b');
  await recorder.untilNames('a', 'b');
  assert.deepEqual(
    recorder.log.filter((line) => line.endsWith('a')),
    ['+a'],
  );
});

test('a cluster that does not answer, or does not know who asks, is not open, and its client is closed', async () => {
  await using management = await startManagement();
  await management.makeNamespace(namespace);
  await put(management, 'a', kubeconfig('https://a'));
  for (const [status, isOpen] of [
    [200, true],
    [403, true],
    [404, true],
    [401, false],
    [500, false],
    [503, false],
  ] as const) {
    let isClosed = false;
    const answer = { status, header: () => undefined, body: () => Promise.resolve(Buffer.from('{}')) };
    const client = {
      raw: () => Promise.resolve(answer),
      close: () => Promise.resolve((isClosed = true)),
    };
    const clusterOptions = { connect: () => client } as unknown as ClusterOptions;
    await using recorder = new Recorder(kubeconfigSecrets({ management: management.watched, clusterOptions }));
    await recorder.untilTold('synced');
    const opening = recorder.clusters.get('fleet/a')!.open(new AbortController().signal);
    if (isOpen) await opening;
    else await assert.rejects(opening, { code: 'EngageFailed' });
    assert.equal(isClosed, !isOpen, String(status));
  }
});
