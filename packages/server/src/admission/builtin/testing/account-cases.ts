/** ServiceAccount: the default account, its token and secrets, and denied references. */

import type { Step } from '../../../testing/both-servers.ts';
import { container, get, inNamespace, merge, namespace, pod, post } from './steps.ts';

const pods = inNamespace('accounts', 'pods');
const account = (name: string, rest: object = {}): Step =>
  post(inNamespace('accounts', 'serviceaccounts'), { metadata: { name }, ...rest });
const mounted = { automountServiceAccountToken: true };
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const secretEnv = { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } }] };

export const accountSetup: readonly Step[] = [
  namespace('accounts'),
  namespace('without-account'),
  account('default', { imagePullSecrets: [{ name: 'pull' }] }),
  account('quiet', { automountServiceAccountToken: false }),
  {
    ...account('strict'),
    body: {
      metadata: { name: 'strict', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
      secrets: [{ name: 'mine' }],
      imagePullSecrets: [{ name: 'pull' }],
    },
  },
];

const strict = (name: string, spec: object): Step => post(pods, pod(name, { serviceAccountName: 'strict', ...spec }));
const mirror = (name: string, spec: object): Step =>
  post(pods, pod(name, { nodeName: 'n', ...spec }, { annotations: { 'kubernetes.io/config.mirror': 'x' } }));

export const accounts: readonly Step[] = [
  post(pods, pod('plain')),
  post(pods, pod('token', { ...mounted, initContainers: [container('i')] }), {
    keep: { token: 'spec.volumes.0.name' },
  }),
  post(
    pods,
    pod('elsewhere', {
      ...mounted,
      containers: [container('c', { volumeMounts: [{ name: 'v', mountPath }] })],
      volumes: [{ name: 'v', emptyDir: {} }],
    }),
  ),
  post(pods, pod('given', { ...mounted, volumes: [{ name: 'kube-api-access-mine', emptyDir: {} }] })),
  post(pods, pod('quiet', { serviceAccountName: 'quiet', automountServiceAccountToken: null })),
  post(pods, pod('old-name', { serviceAccount: 'quiet' })),
  post(pods, pod('nobody', { serviceAccountName: 'nobody' })),
  post(pods, {
    metadata: { generateName: 'nobody-' },
    spec: { serviceAccountName: 'nobody', containers: [container('c')] },
  }),
  post(pods, pod('own-pull', { imagePullSecrets: [{ name: 'own' }] })),
  post(inNamespace('without-account', 'pods'), pod('a')),
  strict('strict', { volumes: [{ name: 'v', secret: { secretName: 'mine' } }] }),
  strict('strict-volume', { volumes: [{ name: 'v', secret: { secretName: 'other' } }] }),
  strict('strict-env', { containers: [container('c', secretEnv)] }),
  strict('strict-init', { initContainers: [container('i', secretEnv)] }),
  strict('strict-from', { containers: [container('c', { envFrom: [{ secretRef: { name: 'other' } }] })] }),
  strict('strict-pull', { imagePullSecrets: [{ name: 'pull' }, { name: 'other' }] }),
  merge(inNamespace('accounts', 'pods/strict/ephemeralcontainers'), {
    spec: { ephemeralContainers: [container('e', secretEnv)] },
  }),
  mirror('mirror', {}),
  mirror('mirror-account', { serviceAccountName: 'default' }),
  mirror('mirror-secret', { volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
  mirror('mirror-env', { containers: [container('c', secretEnv)] }),
  mirror('mirror-projected', {
    volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
  }),
  get(inNamespace('accounts', 'pods/plain')),
];
