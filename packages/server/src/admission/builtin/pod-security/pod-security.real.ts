import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import { seededRandom } from '@hangar/core';
import { compareServers } from '../../../testing/both-servers.ts';
import type { Step } from '../../../testing/both-servers.ts';
import { startInProcess } from '../../../testing/in-process.ts';
import type { InProcessServer } from '../../../testing/in-process.ts';
import { container, inNamespace, merge, namespace, pod, post, put } from '../testing/steps.ts';
import { randomTemplate } from './testing/random-pod.ts';

let real: RealServer;
let hangar: InProcessServer;

const labelled = (labels: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [`pod-security.kubernetes.io/${name}`, value]));

const spaces: Readonly<Record<string, Record<string, string>>> = {
  'baseline-latest': { enforce: 'baseline' },
  'restricted-latest': { enforce: 'restricted' },
  'restricted-old': { enforce: 'restricted', 'enforce-version': 'v1.21' },
  'restricted-older': { enforce: 'restricted', 'enforce-version': 'v1.0' },
  'baseline-old': { enforce: 'baseline', 'enforce-version': 'v1.18', warn: 'restricted', 'warn-version': 'v1.24' },
  'restricted-future': { enforce: 'restricted', 'enforce-version': 'v1.99' },
  warned: { warn: 'restricted' },
  mixed: { enforce: 'privileged', warn: 'baseline', 'warn-version': 'v1.30', audit: 'restricted' },
};

before(async () => {
  real = await startRealServer(['--allow-privileged=true']);
  hangar = await startInProcess();
  const setup = Object.entries(spaces).map(([name, labels]) => namespace(name, labelled(labels)));
  assert.deepEqual(await compareServers(real, hangar, setup), []);
  await sleep(1_000);
});

after(async () => {
  await real?.[Symbol.asyncDispose]();
  await hangar?.[Symbol.asyncDispose]();
});

test('pods of every kind are refused, warned about and let in as by kube-apiserver', async () => {
  const random = seededRandom(4);
  const names = Object.keys(spaces);
  const steps = Array.from({ length: 400 }, (_, at): Step => {
    const { metadata, spec } = randomTemplate(random);
    const body = { metadata: { name: `p${at}`, ...metadata }, spec };
    // Dry run: only the response of admission matters.
    return post(`${inNamespace(names[at % names.length]!, 'pods')}?dryRun=All`, body, {
      ignore: ['metadata.managedFields'],
    });
  });
  assert.deepEqual(await compareServers(real, hangar, steps), []);
});

const controllers: readonly (readonly [path: string, name: string])[] = [
  ['apis/apps/v1', 'deployments'],
  ['apis/apps/v1', 'replicasets'],
  ['apis/apps/v1', 'statefulsets'],
  ['apis/apps/v1', 'daemonsets'],
  ['apis/batch/v1', 'jobs'],
];

test('what makes pods is warned about as by kube-apiserver', async () => {
  const random = seededRandom(5);
  const steps = Array.from({ length: 60 }, (_, at): Step => {
    const [path, resource] = controllers[at % controllers.length]!;
    const { metadata, spec } = randomTemplate(random, resource === 'jobs' ? 'Never' : 'Always');
    const labels = { app: 'a' };
    const template = { metadata: { ...metadata, labels }, spec };
    const selector = resource === 'jobs' ? {} : { selector: { matchLabels: labels } };
    const space = ['warned', 'mixed', 'restricted-latest', 'baseline-old'][at % 4]!;
    const body = { metadata: { name: `c${at}` }, spec: { ...selector, template } };
    return post(`/${path}/namespaces/${space}/${resource}?dryRun=All`, body, { ignore: ['metadata', 'spec'] });
  });
  assert.deepEqual(await compareServers(real, hangar, steps), []);
});

test('labels and changes of them are answered as by kube-apiserver', async () => {
  const label = (labels: Record<string, string | null>): Step =>
    merge('/api/v1/namespaces/changing', { metadata: { labels: labelled(labels as Record<string, string>) } });
  const pods = inNamespace('changing', 'pods');
  const setup = [
    namespace('changing'),
    post(pods, pod('b', { hostNetwork: true })),
    post(pods, pod('a', { hostNetwork: true })),
    post(pods, pod('c', { hostPID: true, containers: [container('c', { securityContext: { privileged: true } })] })),
    post(pods, pod('d')),
  ];
  assert.deepEqual(await compareServers(real, hangar, setup), []);
  await sleep(500);
  const steps = [
    label({ enforce: 'baseline' }),
    label({ 'enforce-version': 'v1.20' }),
    label({ enforce: 'restricted' }),
    label({ enforce: 'privileged' }),
    label({ enforce: 'strict' }),
    label({ enforce: 'baseline', 'enforce-version': '1.20' }),
    label({ warn: 'x', audit: 'y', 'warn-version': 'v1', 'audit-version': 'v2.1' }),
    namespace('wrong', labelled({ enforce: 'x', 'enforce-version': 'latest1' })),
    label({ enforce: 'restricted', 'enforce-version': null }),
  ];
  assert.deepEqual(await compareServers(real, hangar, steps), []);
  await sleep(500);
  const update = [
    merge(`${pods}/a`, { metadata: { labels: { a: 'b' } } }),
    merge(`${pods}/a`, { spec: { containers: [container('c', { image: 'other' })] } }),
    merge(`${pods}/a/ephemeralcontainers`, { spec: { ephemeralContainers: [container('e')] } }),
    merge(`${pods}/d/status`, { status: { phase: 'Running' } }),
    put('/api/v1/namespaces/changing/finalize', { metadata: { name: 'changing' }, spec: {} }, { codeOnly: true }),
  ];
  assert.deepEqual(await compareServers(real, hangar, update), []);
});
