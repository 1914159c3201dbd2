/** The table and the codecs against a real kube-apiserver: served resources, answers, and storage. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  builtinGroups,
  checkFields,
  decodeProtobuf,
  encodeProtobuf,
  normalise,
  parseJson,
  parseYaml,
  schemaOf,
} from './index.ts';
import type { BuiltinResource } from './index.ts';
import { startRealServer } from './testing/real-server.ts';
import type { RealServer } from './testing/real-server.ts';

let server: RealServer;
before(async () => {
  server = await startRealServer();
});
after(async () => server?.[Symbol.asyncDispose]());

const pathOf = (group: string, version: string): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

async function json<T>(path: string, accept?: string): Promise<T> {
  const { status, body } = await server.request('GET', path, accept === undefined ? {} : { accept });
  assert.equal(status, 200, `${path}: ${body.toString()}`);
  return JSON.parse(body.toString()) as T;
}

interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** As in a resource list of the server. */
function listed(resource: BuiltinResource): ApiResource[] {
  const { name, singular, namespaced, kind, verbs, shortNames, categories } = resource;
  const subresources = resource.subresources.map((one) => ({
    name: `${name}/${one.name}`,
    singularName: '',
    namespaced,
    ...(one.group === resource.group && one.version === resource.version
      ? {}
      : { ...(one.group === '' ? {} : { group: one.group }), version: one.version }),
    kind: one.kind,
    verbs: one.verbs,
  }));
  const main = {
    name,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
  };
  return [main, ...subresources];
}

const served = builtinGroups().flatMap(({ name: group, versions }) =>
  versions
    .filter(({ name }) => /^v\d+$/.test(name))
    .map(({ name: version, resources }) => ({ group, version, resources })),
);

test('the table has what the server serves, with the same names, verbs and subresources', async () => {
  for (const { group, version, resources } of served) {
    const answer = await json<{ resources: (ApiResource & { storageVersionHash?: string })[] }>(pathOf(group, version));
    const found = answer.resources.map(({ storageVersionHash: _hash, ...rest }) =>
      Object.assign(rest, { verbs: [...rest.verbs].sort() }),
    );
    const byName = (a: ApiResource, b: ApiResource): number => (a.name < b.name ? -1 : 1);
    const names = new Set(found.map(({ name }) => name));
    // Some subresources exist only with a feature that is off.
    const expected = resources.flatMap(listed).filter(({ name }) => names.has(name) || !name.includes('/'));
    assert.deepEqual(found.sort(byName), expected.sort(byName), pathOf(group, version));
  }
});

test('the versions that are served by default are the stable ones', async () => {
  const { groups } = await json<{ groups: { name: string; versions: { version: string }[] }[] }>('/apis');
  const found = groups.flatMap(({ name, versions }) => versions.map(({ version }) => `${name}/${version}`));
  const expected = served.filter(({ group }) => group !== '').map(({ group, version }) => `${group}/${version}`);
  assert.deepEqual(found.sort(), expected.sort());
});

test('tables have the columns that the server shows', async () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  let compared = 0;
  for (const { group, version, resources } of served) {
    for (const { name, verbs, columns } of resources) {
      if (!verbs.includes('list')) continue;
      const { columnDefinitions } = await json<{ columnDefinitions: object[] }>(
        `${pathOf(group, version)}/${name}`,
        accept,
      );
      const shown = (columnDefinitions as { name: string; type: string; format: string; priority: number }[]).map(
        (one) => ({ name: one.name, type: one.type, format: one.format, priority: one.priority }),
      );
      assert.deepEqual(columns, shown, `${group}/${version} ${name}`);
      compared++;
    }
  }
  assert.ok(compared > 50);
});

const container = { name: 'a', image: 'a' };
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } };
const selector = { matchLabels: { a: 'b' } };
const objects: Record<string, unknown>[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' }, binaryData: { c: 'AAEC' } },
  { apiVersion: 'v1', kind: 'Secret', stringData: { a: 'b' } },
  { apiVersion: 'v1', kind: 'Node' },
  { apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port: 80, targetPort: 'http' }] } },
  { apiVersion: 'v1', kind: 'Endpoints' },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    spec: { containers: [{ ...container, resources: { requests: { cpu: '1500m' } } }] },
  },
  { apiVersion: 'v1', kind: 'ReplicationController', spec: { selector: { a: 'b' }, template } },
  { apiVersion: 'v1', kind: 'LimitRange', spec: { limits: [] } },
  {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: { namespace: 'default' },
    eventTime: '2026-01-02T03:04:05.123456Z',
    reportingComponent: 'a.b/c',
    reportingInstance: 'c',
    action: 'd',
    reason: 'e',
    type: 'Normal',
  },
  { apiVersion: 'apps/v1', kind: 'Deployment', spec: { selector, template } },
  { apiVersion: 'apps/v1', kind: 'ControllerRevision', revision: 1, data: { any: ['thing'] } },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { containers: [container], restartPolicy: 'Never' } } } },
    },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    spec: { defaultBackend: { service: { name: 'a', port: { number: 1 } } } },
  },
  { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', spec: { renewTime: '2026-01-02T03:04:05.000001Z' } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    rules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  },
  { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'a' },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'example.org',
      scope: 'Cluster',
      names: { plural: 'a', kind: 'A' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                a: { type: 'array', items: { type: 'integer', enum: [1, 2] } },
                b: { type: 'object', additionalProperties: { type: 'string', default: 'x' } },
              },
            },
          },
        },
      ],
    },
  },
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    spec: {
      group: 'x.org',
      version: 'v1',
      groupPriorityMinimum: 1,
      versionPriority: 1,
      insecureSkipTLSVerify: true,
      service: { name: 'a', namespace: 'b' },
    },
  },
];

interface Read {
  readonly binary: Buffer;
  readonly shown: Record<string, unknown>;
}

/** The object in both forms, at one resourceVersion: the server's own controllers write some kinds at any time. */
async function readBoth(path: string): Promise<Read> {
  for (;;) {
    const before = await server.request('GET', path);
    const { body: binary } = await server.request('GET', path, { accept: 'application/vnd.kubernetes.protobuf' });
    const after = await server.request('GET', path);
    if (before.body.equals(after.body)) return { binary, shown: JSON.parse(after.body.toString()) as Read['shown'] };
  }
}

const special: Record<string, string> = { CustomResourceDefinition: 'a.example.org', APIService: 'v1.x.org' };

for (const object of objects) {
  const kind = String(object['kind']);
  test(`${kind}: the server takes our protobuf, gives back what we understand, and stores it where we think`, async () => {
    const apiVersion = String(object['apiVersion']);
    const resource = served
      .flatMap(({ resources }) => resources)
      .find((one) => one.kind === kind && `${one.group}/${one.version}`.replace(/^\//, '') === apiVersion)!;
    const name = special[kind] ?? 'real';
    const metadata = resource.namespaced ? { name, namespace: 'default' } : { name };
    const folder = `${pathOf(resource.group, resource.version)}${resource.namespaced ? '/namespaces/default' : ''}/${resource.name}`;
    const contentType = 'application/vnd.kubernetes.protobuf';
    const created = await server.request('POST', folder, {
      body: encodeProtobuf({ ...object, metadata }),
      contentType,
    });
    assert.equal(created.status, 201, created.body.toString());

    const { binary, shown } = await readBoth(`${folder}/${name}`);
    assert.deepEqual(decodeProtobuf(binary), shown);
    assert.equal(encodeProtobuf(shown).toString('hex'), binary.toString('hex'));
    assert.equal(JSON.stringify(normalise(schemaOf(apiVersion, kind)!, shown)), JSON.stringify(shown));
    assert.deepEqual(checkFields(schemaOf(apiVersion, kind)!, shown), { error: undefined, problems: [] });

    const key = `/registry/${resource.storage!.prefix}/${resource.namespaced ? 'default/' : ''}${name}`;
    assert.ok((await server.keys()).includes(key), key);
  });
}

test('every key of the storage is under a prefix of the table', async () => {
  const prefixes = builtinGroups().flatMap(({ versions }) =>
    versions.flatMap(({ resources }) =>
      resources.flatMap(({ storage }) => (storage ? [`/registry/${storage.prefix}/`] : [])),
    ),
  );
  const strangers = (await server.keys()).filter(
    (key) =>
      !prefixes.some((prefix) => key.startsWith(prefix)) &&
      !/^\/registry\/(ranges|masterleases|peerserverleases)\//.test(key),
  );
  assert.deepEqual(
    strangers.filter((key) => key.startsWith('/registry/')),
    [],
  );
});

const bodies: [name: string, text: string][] = [
  ['a text for a number', '{"spec":{"replicas":"x"}}'],
  ['a fraction', '{"spec":{"replicas":1.5}}'],
  ['a list for a struct', '{"metadata":[]}'],
  ['an element', '{"spec":{"template":{"spec":{"containers":["x"]}}}}'],
  [
    'inside an inlined struct',
    '{"spec":{"template":{"spec":{"containers":[{"livenessProbe":{"httpGet":{"path":7}}}]}}}}',
  ],
  ['an inlined field itself', '{"spec":{"template":{"spec":{"volumes":[{"emptyDir":7}]}}}}'],
  ['a quantity', '{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"x"}}}]}}}}'],
  ["a quantity's suffix", '{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"1e"}}}]}}}}'],
  ['int-or-string after another error', '{"spec":{"replicas":"x","strategy":{"rollingUpdate":{"maxSurge":{}}}}}'],
  ['a time', '{"metadata":{"creationTimestamp":"2020-01-01"}}'],
  ['a day that is not', '{"metadata":{"creationTimestamp":"2021-02-29T00:00:00Z"}}'],
  ['a label that is no text', '{"metadata":{"labels":{"a":true}}}'],
  [
    'unknown fields',
    '{"a":1,"spec":{"b":1,"template":{"spec":{"containers":[{"c":1},{"d":{"e":1}}],"volumes":[{"f":1}]}}}}',
  ],
  ['repeated fields', '{"spec":{"replicas":1,"a":1,"replicas":2,"selector":{"matchLabels":{"x":"1","x":"2"}},"a":2}}'],
  ['malformed JSON', '{"spec":{"replicas":1,}}'],
  ['more after the end', '{} {}'],
  ['an end too early', '{"spec":'],
  ['a bad escape', '{"a":"\\q"}'],
];
for (const [name, text] of bodies) {
  test(`the same complaint as the server's: ${name}`, async () => {
    const path = '/apis/apps/v1/namespaces/default/deployments?dryRun=All&fieldValidation=Strict';
    const { status, body } = await server.request('POST', path, { body: text });
    const { message } = JSON.parse(body.toString()) as { message: string };
    assert.equal(status, 400, message);
    const complaint = complaintOf(text);
    assert.ok(message.includes(`: ${complaint}`), `theirs: ${message}\n  ours: ${complaint}`);
  });
}

function complaintOf(text: string): string {
  try {
    const { value, repeated } = parseJson(text, { findRepeated: true });
    const { error, problems } = checkFields(schemaOf('apps/v1', 'Deployment')!, value, { repeated });
    return error ?? `strict decoding error: ${problems.join(', ')}`;
  } catch (error) {
    return (error as Error).message;
  }
}

const scalars = [
  'y',
  'No',
  'on',
  '"y"',
  '0x1f',
  '017',
  '0o17',
  '1_000',
  '0b11',
  '1e3',
  '.5',
  '1:30',
  '2020-01-01',
  '08',
  '1.',
  '+5',
  '0.',
  '1e',
  '!!str 5',
  '0xg',
];
test('YAML scalars are what the server takes them for', async () => {
  // The managed fields keep any value as it was read.
  for (const scalar of scalars) {
    const text = `apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: yaml}\nrevision: 1\ndata: {x: ${scalar}}\n`;
    const path = '/apis/apps/v1/namespaces/default/controllerrevisions?dryRun=All';
    const { status, body } = await server.request('POST', path, { body: text, contentType: 'application/yaml' });
    const ours = (): unknown => (parseYaml(text).value as { data: unknown }).data;
    if (status === 201) assert.deepEqual(ours(), (JSON.parse(body.toString()) as { data: unknown }).data, scalar);
    else assert.throws(ours, scalar);
  }
});

const quantities = [
  '1',
  '0',
  '1000m',
  '0.5',
  '1.5',
  '1000',
  '1024',
  '1.234',
  '1.2345',
  '+5',
  '1e3',
  '1E3',
  '12e-1',
  '1.50',
  '1Ki',
  '1025Ki',
  '01',
  '0.1n',
  '1u',
  '100000000',
  '1234567890123456789',
  '0.0000000001',
  '1.',
  '.5',
  '1.5Gi',
  '0.5Ki',
  '1023Ki',
  '1Ei',
  '8Ei',
  '5E',
  '1_0',
  ' 1',
  '1 ',
  '0x1',
  '1e',
  '1Ee',
  '1ki',
  '1e+',
  '100e2',
  '1500e-3',
  '1.1Ki',
  '1e99',
  '7Ei',
  'Ki',
  '.',
  '-',
];
test('quantities are rewritten as the server rewrites them', async () => {
  const schema = schemaOf('v1', 'Pod')!;
  const sizeLimitOf = (pod: unknown): unknown =>
    (pod as { spec: { volumes: { emptyDir: { sizeLimit?: string } }[] } }).spec.volumes[0]!.emptyDir.sizeLimit;
  for (const quantity of quantities) {
    const volumes = [{ name: 'v', emptyDir: { sizeLimit: quantity } }];
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'q' }, spec: { volumes, containers: [container] } };
    const path = '/api/v1/namespaces/default/pods?dryRun=All';
    const { status, body } = await server.request('POST', path, { body: JSON.stringify(pod) });
    const answer = JSON.parse(body.toString()) as { message: string };
    const { error } = checkFields(schema, pod);
    if (status === 201) assert.equal(sizeLimitOf(normalise(schema, pod)), sizeLimitOf(answer), quantity);
    else assert.ok(error !== undefined && answer.message.endsWith(error), `${quantity}: ${error} ${answer.message}`);
  }
});

const damaged: [name: string, body: Buffer][] = [
  ['nothing', Buffer.from('')],
  ['no magic', Buffer.from('hello')],
  ['only magic', Buffer.from('k8s\0')],
  ['an envelope that ends', Buffer.from('k8s\0\x0a')],
  ['a message that ends', Buffer.from('k8s\0\x12\x01\x0a')],
  ['a wrong wire type', Buffer.from('k8s\0\x12\x02\x08\x01')],
  ['a wrong wire type deeper', Buffer.from('k8s\0\x12\x04\x0a\x02\x08\x01')],
  ['field zero', Buffer.from('k8s\0\x12\x02\x00\x01')],
];
for (const [name, body] of damaged) {
  test(`the same complaint as the server's about protobuf: ${name}`, async () => {
    const contentType = 'application/vnd.kubernetes.protobuf';
    const answer = await server.request('POST', '/api/v1/namespaces/default/configmaps', { body, contentType });
    const { message } = JSON.parse(answer.body.toString()) as { message: string };
    assert.equal(answer.status, 400, message);
    const expected = { apiVersion: 'v1', kind: 'ConfigMap' };
    assert.throws(
      () => decodeProtobuf(body, expected),
      (error: Error) => {
        assert.ok(message.includes(`: ${error.message}`), `theirs: ${message}\n  ours: ${error.message}`);
        return true;
      },
    );
  });
}

test('YAML with repeated keys is refused in the same words', async () => {
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: abc}\ndata:\n  a: b\n  a: c\n';
  const path = '/api/v1/namespaces/default/configmaps?dryRun=All&fieldValidation=Strict';
  const { body } = await server.request('POST', path, { body: text, contentType: 'application/yaml' });
  const [problem] = parseYaml(text, { findRepeated: true }).problems;
  assert.ok((JSON.parse(body.toString()) as { message: string }).message.includes(problem!), body.toString());
});
