/** Every verb and subresource of the API, as requests that would show or change something of `bob` if they were let in. */

import type { Sent } from './world.ts';
import { inDefault, rbac } from './world.ts';

export interface Attempt extends Sent {
  readonly method: string;
  readonly target: string;
}

const configMap = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'shared' }, data: { stolen: 'yes' } };
const created = { ...configMap, metadata: { name: 'put-there' } };
const patches = [
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
].map((contentType) => ({ contentType, body: configMap }));
const jsonPatch = {
  contentType: 'application/json-patch+json',
  body: [{ op: 'add', path: '/data/stolen', value: 'yes' }],
};

const reading = [
  '/',
  '/api',
  '/apis',
  '/api/v1',
  '/openapi/v2',
  '/openapi/v3',
  '/metrics',
  '/version',
  '/readyz',
  '/livez',
  '/healthz?verbose',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/api/v1/namespaces',
  '/api/v1/configmaps',
  `${inDefault}/configmaps`,
  `${inDefault}/configmaps/shared`,
  `${inDefault}/configmaps?watch=true`,
  '/api/v1/watch/configmaps',
  `${inDefault}/configmaps?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  `${inDefault}/configmaps?limit=1`,
  `${inDefault}/secrets/treasure`,
  `${inDefault}/configmaps?fieldSelector=metadata.name%3Dshared`,
  `${inDefault}/configmaps?resourceVersion=0`,
  `${inDefault}/configmaps/shared?resourceVersion=1`,
  `${rbac}/clusterroles`,
  `${inDefault}/pods/web/log`,
  `${inDefault}/pods/web/exec?command=sh`,
  `${inDefault}/pods/web/attach`,
  `${inDefault}/pods/web/portforward`,
  `${inDefault}/pods/web/proxy/x`,
  `${inDefault}/services/kubernetes/proxy/`,
  '/api/v1/nodes/n/proxy/pods',
  `${inDefault}/pods/web/status`,
  '/apis/apps/v1/namespaces/default/deployments/web/scale',
];

const writing: readonly Attempt[] = [
  { method: 'POST', target: `${inDefault}/configmaps`, body: created },
  { method: 'PUT', target: `${inDefault}/configmaps/shared`, body: configMap },
  ...patches.map((patch) => ({
    method: 'PATCH',
    target: `${inDefault}/configmaps/shared?fieldManager=x&force=true`,
    ...patch,
  })),
  { method: 'PATCH', target: `${inDefault}/configmaps/shared`, ...jsonPatch },
  { method: 'DELETE', target: `${inDefault}/configmaps/shared` },
  { method: 'DELETE', target: `${inDefault}/configmaps` },
  { method: 'POST', target: '/api/v1/namespaces', body: { metadata: { name: 'put-there' } } },
  {
    method: 'PUT',
    target: '/api/v1/namespaces/default/finalize',
    body: { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' }, spec: { finalizers: [] } },
  },
  { method: 'POST', target: `${inDefault}/serviceaccounts/robot/token`, body: { spec: {} } },
  {
    method: 'POST',
    target: `${inDefault}/pods/web/eviction`,
    body: { kind: 'Eviction', apiVersion: 'policy/v1', metadata: { name: 'web' } },
  },
  {
    method: 'POST',
    target: `${inDefault}/pods/web/binding`,
    body: { kind: 'Binding', apiVersion: 'v1', metadata: { name: 'web' }, target: { name: 'n' } },
  },
  { method: 'PUT', target: '/apis/apps/v1/namespaces/default/deployments/web/scale', body: { spec: { replicas: 0 } } },
  {
    method: 'PUT',
    target: '/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval',
    body: { kind: 'CertificateSigningRequest', apiVersion: 'certificates.k8s.io/v1', metadata: { name: 'x' } },
  },
  { method: 'POST', target: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body: {} },
  { method: 'POST', target: '/apis/authentication.k8s.io/v1/tokenreviews', body: { spec: { token: 'x' } } },
  {
    method: 'POST',
    target: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: { spec: { user: 'admin', nonResourceAttributes: { path: '/', verb: 'get' } } },
  },
  { method: 'POST', target: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', body: { spec: {} } },
  { method: 'POST', target: `${inDefault}/pods/web/exec?command=sh` },
  { method: 'POST', target: `${inDefault}/services/kubernetes/proxy/` },
];

export const attempts: readonly Attempt[] = [
  ...reading.flatMap((target) => ['GET', 'HEAD'].map((method) => ({ method, target }))),
  ...writing,
  ...['OPTIONS', 'TRACE', 'PROPFIND', 'watch', 'get'].map((method) => ({
    method,
    target: `${inDefault}/configmaps/shared`,
  })),
];
