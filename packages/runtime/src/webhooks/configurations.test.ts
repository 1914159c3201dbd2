import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestCluster } from '@hangar/testkit';
import { Deployment } from '@hangar/client/kinds/apps-v1';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@hangar/client/kinds/admissionregistration-v1';
import { Namespace, Pod } from '@hangar/client/kinds/core-v1';
import { mutating, validating } from './admission.ts';
import { configurations, install } from './configurations.ts';
import { conversion } from './conversion.ts';
import { Widget } from './testing/reviews.ts';
import { WebhookServer } from './webhook-server.ts';

const service = { namespace: 'operators', name: 'hooks' };
const spoke = { toHub: (object: never) => object, fromHub: (object: never) => object };

test('what is registered is what an API server is told', () => {
  const server = new WebhookServer().register(
    validating(Deployment, { create: () => {}, delete: () => {} }, { timeoutSeconds: 5, failurePolicy: 'Ignore' }),
    mutating(Pod, () => {}, { objectSelector: { matchLabels: { inject: 'yes' } }, reinvocationPolicy: 'IfNeeded' }),
    validating(Namespace, { update: () => {} }, { subresource: 'status' }),
    conversion({ group: 'example.com', kind: 'Widget' }, { hub: 'v1', convert: { v1beta1: spoke } }),
  );
  const told = configurations(server, { name: 'hooks', service, caBundle: 'PEM', labels: { app: 'x' } });
  const caBundle = Buffer.from('PEM').toString('base64');
  const common = { admissionReviewVersions: ['v1'], matchPolicy: 'Equivalent', sideEffects: 'None' };
  const metadata = { name: 'hooks', labels: { app: 'x' } };
  assert.deepEqual(told, {
    validating: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata,
      webhooks: [
        {
          name: 'validate.deployment.v1.apps',
          clientConfig: { service: { ...service, path: '/validate-apps-v1-deployment' }, caBundle },
          rules: [
            {
              apiGroups: ['apps'],
              apiVersions: ['v1'],
              resources: ['deployments'],
              operations: ['CREATE', 'DELETE'],
              scope: 'Namespaced',
            },
          ],
          failurePolicy: 'Ignore',
          timeoutSeconds: 5,
          ...common,
        },
        {
          name: 'validate.namespace-status.v1.core',
          clientConfig: { service: { ...service, path: '/validate--v1-namespace' }, caBundle },
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              resources: ['namespaces/status'],
              operations: ['UPDATE'],
              scope: 'Cluster',
            },
          ],
          failurePolicy: 'Fail',
          timeoutSeconds: 10,
          ...common,
        },
      ],
    },
    mutating: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata,
      webhooks: [
        {
          name: 'mutate.pod.v1.core',
          clientConfig: { service: { ...service, path: '/mutate--v1-pod' }, caBundle },
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              resources: ['pods'],
              operations: ['CREATE', 'UPDATE'],
              scope: 'Namespaced',
            },
          ],
          failurePolicy: 'Fail',
          timeoutSeconds: 10,
          reinvocationPolicy: 'IfNeeded',
          objectSelector: { matchLabels: { inject: 'yes' } },
          ...common,
        },
      ],
    },
    definitions: [
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'widgets.example.com' },
        spec: {
          conversion: {
            strategy: 'Webhook',
            webhook: {
              clientConfig: { service: { ...service, path: '/convert' }, caBundle },
              conversionReviewVersions: ['v1'],
            },
          },
        },
      },
    ],
  });
});

test('where it is may be a URL, and nothing that is not registered is told', () => {
  const server = new WebhookServer().register(mutating(Widget, () => {}));
  const { validating: none, mutating: some, definitions } = configurations(server, { name: 'a', url: 'https://a:1/' });
  assert.equal(some?.webhooks?.[0]?.clientConfig?.url, 'https://a:1/mutate-example-com-v1-widget');
  assert.deepEqual([none, definitions], [undefined, []]);
});

test('where it is has to be said, once; names are unique', () => {
  const server = new WebhookServer().register(validating(Widget, {}));
  const invalid = { code: 'InvalidOptions' };
  assert.throws(() => configurations(server, { name: 'a' }), invalid);
  assert.throws(() => configurations(server, { name: 'a', url: 'https://a', service }), invalid);
  server.register(validating(Widget, {}, { path: '/other' }));
  assert.throws(() => configurations(server, { name: 'a', service }), invalid);
});

test('an API server takes it, and takes it again when it changed', async () => {
  await using cluster = await startTestCluster();
  const options = { name: 'hooks', service, fieldManager: 'operator' };
  const hooks = new WebhookServer().register(
    validating(Widget, { create: () => {} }),
    mutating(Widget, () => {}),
  );
  await install(cluster.client, hooks, options);
  hooks.register(validating(Pod, { create: () => {} }));
  await install(cluster.client, hooks, options);
  const { webhooks } = await cluster.client.get(ValidatingWebhookConfiguration, { name: 'hooks' });
  assert.deepEqual(
    webhooks?.map(({ name }) => name),
    ['validate.widget.v1.example.com', 'validate.pod.v1.core'],
  );
  await cluster.client.get(MutatingWebhookConfiguration, { name: 'hooks' });
});
