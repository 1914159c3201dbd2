import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registeredService } from './api-service.ts';
import type { RemoteService } from './api-service.ts';
import { problemOf, servicePart, slicePart } from './availability.ts';
import { forwardedHeaders, identityHeaders, isReturning } from './headers.ts';
import { mergedAggregated, mergedGroupList } from './merged-discovery.ts';
import { mergedOpenApiV2 } from './merged-open-api.ts';

const remote = registeredService({
  kind: 'APIService',
  apiVersion: 'apiregistration.k8s.io/v1',
  metadata: { name: 'v1.a.example', uid: 'u' },
  spec: { group: 'a.example', version: 'v1', service: { namespace: 'ns', name: 'svc', port: 8443 } },
}) as RemoteService;

const service = (spec: object) =>
  new Map([['ns/svc', servicePart({ kind: 'Service', apiVersion: 'v1', metadata: {}, spec })]]);

const slice = (labels: Record<string, string>, content: object) =>
  slicePart({
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { namespace: 'ns', labels },
    ...content,
  });

test('what is missing on the way to a service is named as kube-aggregator names it', () => {
  const own = { 'kubernetes.io/service-name': 'svc' };
  const ports = [{ name: 'https', port: 8443 }];
  const listening = service({ type: 'ClusterIP', ports });
  const ready = slice(own, { endpoints: [{ addresses: ['10.1.1.1'] }], ports: [{ name: 'https', port: 443 }] });
  const away = slice(own, { endpoints: [{ conditions: { ready: false } }], ports: [{ name: 'https', port: 443 }] });
  const other = slice({ 'kubernetes.io/service-name': 'other' }, { endpoints: [{}], ports });
  const cases: [services: ReturnType<typeof service>, slices: ReturnType<typeof slice>[], reason: string][] = [
    [new Map(), [], 'ServiceNotFound'],
    [service({ ports: [{ port: 443 }] }), [], 'ServicePortError'],
    [listening, [], 'EndpointsNotFound'],
    [listening, [other], 'EndpointsNotFound'],
    [listening, [away], 'MissingEndpoints'],
    [listening, [slice(own, { endpoints: [{}], ports: [{ port: 1 }] })], 'MissingEndpoints'],
    [listening, [away, ready], ''],
    [service({ type: 'ExternalName' }), [], ''],
  ];
  for (const [services, slices, reason] of cases) {
    const view = { services, slices: new Map(slices.map((one, at) => [String(at), one])) };
    assert.equal(problemOf(remote, view)?.reason ?? '', reason);
  }
});

const request = (headers: Record<string, string[]>) => ({
  method: 'GET',
  target: '/',
  peer: { address: '10.0.0.9', certificate: undefined },
  header: (name: string) => headers[name]?.join(', '),
  headerValues: (name: string) => headers[name] ?? [],
  headerNames: () => Object.keys(headers),
  body: () => Promise.resolve(new Uint8Array()),
});

test('names and values of an identity are written as headers can carry them', () => {
  const extra = { 'a/b c': ['1', '2'], Ünï: ['x'] };
  const headers = identityHeaders({ name: 'jürgen', uid: 'u', groups: ['g', 'h'], extra });
  assert.deepEqual(headers, {
    'x-remote-user': Buffer.from('jürgen').toString('latin1'),
    'x-remote-uid': 'u',
    'x-remote-group': ['g', 'h'],
    'x-remote-extra-a%2Fb%20c': ['1', '2'],
    'x-remote-extra-%C3%9Cn%C3%AF': ['x'],
  });
});

test('a request that was here before is known by its Via', () => {
  const user = { name: 'u', uid: '', groups: [], extra: {} };
  const first = forwardedHeaders(request({ via: ['1.1 other'] }), user, 'me');
  assert.equal(first['via'], '1.1 other, 1.1 me');
  assert.ok(isReturning(request({ via: [String(first['via'])] }), 'me'));
  assert.ok(!isReturning(request({ via: ['1.1 other, 1.1 me-too'] }), 'me'));
});

const version = (group: string, name: string, groupPriority: number, versionPriority: number) => ({
  group,
  version: name,
  groupPriority,
  versionPriority,
  resources: [],
  isFresh: true,
});

test('groups of other servers stand where their priorities say, beside and inside of our own', () => {
  const entry = (name: string, ...versions: string[]) => ({
    name,
    versions: versions.map((one) => ({ groupVersion: `${name}/${one}`, version: one })),
    preferredVersion: { groupVersion: `${name}/${versions[0]}`, version: versions[0]! },
  });
  const groups = [entry('apiregistration.k8s.io', 'v1'), entry('apps', 'v1'), entry('custom.example', 'v1')];
  const remotes = [
    version('first.example', 'v1', 30_000, 1),
    version('between.example', 'v1', 5_000, 1),
    version('z.example', 'v1', 1_000, 1),
    version('last.example', 'v1', 10, 1),
    version('last.example', 'v2', 10, 1),
    version('custom.example', 'v2', 1_000, 200),
  ];
  const merged = mergedGroupList({ kind: 'APIGroupList', groups }, remotes)['groups'] as ReturnType<typeof entry>[];
  const shown = merged.map(({ name, versions }) => `${name}:${versions.map((one) => one.version).join()}`);
  assert.deepEqual(shown, [
    'apiregistration.k8s.io:v1',
    'first.example:v1',
    'apps:v1',
    'between.example:v1',
    'custom.example:v2,v1',
    'z.example:v1',
    'last.example:v2,v1',
  ]);
  const items = groups.map(({ name }) => ({ metadata: { name }, versions: [{ version: 'v1' }] }));
  const aggregated = mergedAggregated({ items }, remotes)['items'] as { metadata: { name: string } }[];
  assert.deepEqual(
    aggregated.map(({ metadata }) => metadata.name),
    merged.map(({ name }) => name),
  );
});

test('an OpenAPI document takes over what a group-version needs, and keeps names apart', () => {
  const base = { paths: { '/api/': {} }, definitions: { Same: { type: 'string' }, Other: { type: 'string' } } };
  const theirs = {
    paths: {
      '/apis/a.example/v1/things': { get: { schema: { $ref: '#/definitions/Thing' } } },
      '/apis/b.example/v1/things': { get: { schema: { $ref: '#/definitions/Unused' } } },
    },
    definitions: {
      Thing: { properties: { a: { $ref: '#/definitions/Same' }, b: { $ref: '#/definitions/Other' } } },
      Same: { type: 'string' },
      Other: { type: 'integer' },
      Unused: {},
      __proto__: {},
    },
  };
  const bytes = Buffer.from(JSON.stringify(theirs));
  const merged = mergedOpenApiV2(base, [
    { prefix: '/apis/a.example/v1', bytes },
    { prefix: '/apis/c.example/v1', bytes: Buffer.from('{"paths":7') },
  ]);
  assert.deepEqual(Object.keys(merged['paths'] as object), ['/api/', '/apis/a.example/v1/things']);
  assert.deepEqual(Object.keys(merged['definitions'] as object), ['Same', 'Other', 'Thing', 'Other_v2']);
  assert.deepEqual((merged['definitions'] as Record<string, unknown>)['Thing'], {
    properties: { a: { $ref: '#/definitions/Same' }, b: { $ref: '#/definitions/Other_v2' } },
  });
});
