import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap, Container, Pod, Secret } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { environmentOf } from './environment.ts';
import type { ConfigReader } from './environment.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'team', name: 'web-0', uid: 'u', labels: { app: 'web' } },
  spec: { containers: [] },
};
const place = { podIP: '127.64.0.2', hostIP: '127.0.0.1', nodeName: 'local', allocatable: { cpu: '2', memory: '4Gi' } };
const config: ConfigReader = {
  configMap: async (_namespace, name) =>
    name === 'settings'
      ? ({ metadata: { name }, data: { MODE: 'fast', 'a=b': 'x' } } as unknown as ConfigMap)
      : undefined,
  secret: async (_namespace, name) =>
    name === 'keys' ? ({ metadata: { name }, data: { TOKEN: 'aHVudGVyMg==' } } as unknown as Secret) : undefined,
};
const environment = (container: Partial<Container>) =>
  environmentOf({
    pod,
    container: { name: 'main', ...container },
    place,
    config,
    services: { WEB_SERVICE_HOST: '127.128.0.1' },
    image: { PATH: '/image', MODE: 'image' },
  });

test('variables come from the image, Services, envFrom and env, and later ones override earlier ones', async () => {
  const { all, expandable, warnings } = await environment({
    envFrom: [{ configMapRef: { name: 'settings' } }, { prefix: 'S_', secretRef: { name: 'keys' } }],
    env: [
      { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'APP', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
      { name: 'URL', value: 'http://$(WEB_SERVICE_HOST)/$(NAME)/$(S_TOKEN)/$(LATER)' },
      { name: 'LATER', valueFrom: { secretKeyRef: { name: 'keys', key: 'TOKEN' } } },
      { name: 'NONE', valueFrom: { secretKeyRef: { name: 'none', key: 'x', optional: true } } },
    ],
  });
  assert.deepEqual(all, {
    PATH: '/image',
    MODE: 'fast',
    S_TOKEN: 'hunter2',
    WEB_SERVICE_HOST: '127.128.0.1',
    NAME: 'web-0',
    APP: 'web',
    URL: 'http://127.128.0.1/web-0/hunter2/$(LATER)',
    LATER: 'hunter2',
  });
  assert.equal(expandable['PATH'], undefined);
  assert.match(warnings[0]!, /Keys \[a=b\] from the EnvFrom ConfigMap team\/settings were skipped/);
});

test('resources are whole numbers of the divisor, rounded up, and default to the node', async () => {
  const resources = { limits: { cpu: '1500m' }, requests: { memory: '1.5Gi' } };
  const container: Container = {
    name: 'main',
    resources,
    env: [
      { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      { name: 'MILLI', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
      { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'requests.memory', divisor: '1Mi' } } },
      { name: 'NODE', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Gi' } } },
    ],
  };
  const options = { pod: { ...pod, spec: { containers: [container] } }, container, place, config, services: {} };
  const { all } = await environmentOf(options);
  assert.deepEqual(all, { CPU: '2', MILLI: '1500', MEMORY: '1536', NODE: '4' });
});

test('a missing object or key has the message of the kubelet', async () => {
  const cases: [Partial<Container>, RegExp][] = [
    [{ envFrom: [{ secretRef: { name: 'none' } }] }, /^secret "none" not found$/],
    [
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'x' } } }] },
      /^configmap "none" not found$/,
    ],
    [
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'x' } } }] },
      /^couldn't find key x in Secret team\/keys$/,
    ],
  ];
  for (const [container, message] of cases) {
    await assert.rejects(environment(container), (error: Error) => {
      assert.match(error.message, message);
      return hasCode(error, 'CreateContainerConfigError');
    });
  }
});
