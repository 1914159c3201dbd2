/** Webhooks: configurations with many of them, and responses that are large or change much. */

import { chance, pick } from '@hangar/core';
import { expression } from './expressions.ts';
import { configMap, configMaps, list, post, record, size } from './input.ts';
import type { Generator } from './input.ts';

const group = '/apis/admissionregistration.k8s.io/v1';

export const webhooks: Generator = (random) => {
  const count = size(random, 30);
  const kind = pick(random, ['Validating', 'Mutating']);
  const shape = pick(random, Object.keys(answers));
  const amount = size(random, shape === 'spaces' ? 1_000_000 : 3_000);
  const conditions = chance(random, 0.3) ? size(random, 20) : 0;
  const name = `w${random.below(1e9)}`;
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  const hook = (at: number): object => ({
    name: `h${at}.${name}.example.com`,
    clientConfig: { url: `https://hook.example.com/${shape}/${amount}` },
    rules: [rule],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    failurePolicy: pick(random, ['Fail', 'Ignore']),
    ...(conditions > 0 && {
      matchConditions: list(conditions, (place) => ({
        name: `c${place}`,
        expression: `${expression(random, 'object.data')} || true`,
      })),
    }),
  });
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: list(count, hook),
  };
  const collection = `${group}/${kind.toLowerCase()}webhookconfigurations`;
  return {
    name: `${count} ${kind} webhooks, each with ${conditions} conditions, that answer ${shape} of ${amount}`,
    steps: [
      post(collection, configuration),
      post(configMaps, configMap(`${name}-a`, { data: record(size(random, 50), () => 'v') })),
      { method: 'DELETE', target: `${collection}/${name}` },
    ],
  };
};

const encoded = (patch: unknown): object => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
});

/** Response fields of a webhook besides `allowed`, by the path of its URL. */
const answers: Readonly<Record<string, (amount: number) => object>> = {
  warnings: (amount) => ({ warnings: list(amount, (at) => `warning ${at}`) }),
  'audit-annotations': (amount) => ({ auditAnnotations: record(amount, () => 'v') }),
  'added-keys': (amount) => encoded(list(amount, (at) => ({ op: 'add', path: `/data/p${at}`, value: 'v' }))),
  'added-labels': (amount) => encoded([{ op: 'add', path: '/metadata/labels', value: record(amount, () => 'v') }]),
  tests: (amount) => encoded(list(amount, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' }))),
  copies: (amount) =>
    encoded([
      { op: 'add', path: '/data', value: { k0: 'v' } },
      ...list(Math.min(amount, 40), (at) => ({ op: 'copy', from: '/data', path: `/data/c${at}` })),
    ]),
  spaces: () => ({}),
};

const made = new Map<string, string>();

/** Returns the response of a webhook to a review. The part that does not depend on the review is built once. */
export function webhookAnswer({ pathname: key }: URL, uid: string): Buffer {
  const [, shape = '', count] = key.split('/');
  const amount = Number(count ?? 1);
  let response = made.get(key);
  if (response === undefined) {
    const filler = shape === 'spaces' ? ' '.repeat(amount) : '';
    response = JSON.stringify({ allowed: true, ...answers[shape]?.(amount) }).slice(0, -1) + filler;
    if (made.size > 20) made.clear();
    made.set(key, response);
  }
  const head = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":`;
  return Buffer.from(`${head}${response},"uid":"${uid}"}}`);
}
