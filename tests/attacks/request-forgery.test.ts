/**
 * Making the server connect to targets that only it can reach: its own loopback, its link, a cloud's metadata. The administrator of a
 * control plane names targets in webhooks, APIServices and conversions; a canary on loopback must never receive a connection.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { networkInterfaces } from 'node:os';
import { Outbound } from '../../packages/server/src/outbound/index.ts';
import { TenancyServer } from '../../packages/server/src/testing/tenancy-server.ts';
import { Canary } from './testing/canary.ts';
import type { Data, Received } from './testing/client.ts';
import { Victim, mine } from './testing/victim.ts';

const webhooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';

let victim: Victim;
let canary: Canary;
before(async () => {
  canary = await Canary.start((_request, response) => response.end('{}'));
  victim = await Victim.start();
});
after(async () => {
  await victim[Symbol.asyncDispose]();
  await canary[Symbol.asyncDispose]();
});

const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] };
const configuration = (clientConfig: object): object => ({
  metadata: { name: 'bait.example.com' },
  webhooks: [
    {
      name: 'bait.example.com',
      clientConfig,
      rules: [rule],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 5,
    },
  ],
});

/** Sends a creation while this webhook exists; then removes it. */
async function withWebhook(
  by: Victim,
  clientConfig: object,
  wanted: (received: Received) => boolean,
): Promise<Received> {
  await by.administrator.create(webhooks, configuration(clientConfig));
  try {
    let received: Received | undefined;
    for (let attempt = 0; attempt < 200; attempt++) {
      const body = { metadata: { generateName: 'x-' } };
      received = await by.administrator.request('POST', `${mine}/configmaps?dryRun=All`, { body });
      if (wanted(received)) break;
    }
    return received!;
  } finally {
    await by.administrator.expect(200, 'DELETE', `${webhooks}/bait.example.com`);
  }
}

const isRefused = ({ status }: Received): boolean => status === 500;

describe('a webhook does not reach', () => {
  const hosts = [
    '127.0.0.1',
    '127.0.0.53',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '0177.0.0.1',
    '0.0.0.0',
    '0',
    'localhost',
    'LOCALHOST',
    'localhost.',
    '①②⑦.0.0.1',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[0:0:0:0:0:0:0:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '169.254.169.254',
    '[::ffff:169.254.169.254]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '168.63.129.16',
  ];
  for (const host of hosts) {
    test(`https://${host}`, async () => {
      const clientConfig = { url: `https://${host}:${canary.port}/`, caBundle: canary.caBundle };
      const { status, data } = await withWebhook(victim, clientConfig, isRefused);
      assert.equal(status, 500);
      assert.match(
        data.message,
        /failed calling webhook "bait\.example\.com".*(not allowed by this server's policy|no such host|ENOTFOUND)/s,
      );
      assert.equal(canary.connections, 0);
    });
  }

  for (const url of [
    'http://127.0.0.1/',
    'file:///etc/passwd',
    'https://user:password@example.com/',
    'https:///x',
    'ftp://example.com/',
    'https://example.com/#x',
    'https://example.com/?x=y',
    'unix:///var/run/docker.sock',
    'gopher://127.0.0.1:6379/_x',
  ]) {
    test(`${url}, which is no URL of a webhook at all`, async () => {
      const { status } = await victim.administrator.request('POST', webhooks, { body: configuration({ url }) });
      assert.equal(status, 422);
    });
  }

  test('loopback behind a Service that is a name, or whose endpoints are there', async () => {
    const { administrator } = victim;
    await administrator.create(`${mine}/services`, {
      metadata: { name: 'bait' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    });
    const clientConfig = {
      service: { namespace: 'mine', name: 'bait', port: canary.port, path: '/' },
      caBundle: canary.caBundle,
    };
    assert.equal((await withWebhook(victim, clientConfig, isRefused)).status, 500);
    await administrator.expect(200, 'DELETE', `${mine}/services/bait`);
    await administrator.create(`${mine}/services`, {
      metadata: { name: 'bait' },
      spec: { ports: [{ port: canary.port, targetPort: canary.port }] },
    });
    const slice = (address: string): object => ({
      metadata: { name: 'bait', labels: { 'kubernetes.io/service-name': 'bait' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ port: canary.port, protocol: 'TCP' }],
    });
    const slices = '/apis/discovery.k8s.io/v1/namespaces/mine/endpointslices';
    for (const address of ['127.0.0.1', '169.254.169.254', '0.0.0.0', '2130706433']) {
      assert.equal((await administrator.request('POST', slices, { body: slice(address) })).status, 422, address);
    }
    const endpoints = {
      metadata: { name: 'bait' },
      subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: canary.port }] }],
    };
    assert.equal((await administrator.request('POST', `${mine}/endpoints`, { body: endpoints })).status, 422);
    assert.equal(canary.connections, 0);
  });
});

test('an APIService does not reach loopback, and what it would serve is not available', async () => {
  const { administrator } = victim;
  await administrator.create(`${mine}/services`, {
    metadata: { name: 'far' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  await administrator.create(apiServices, {
    metadata: { name: 'v1.bait.example.com' },
    spec: {
      group: 'bait.example.com',
      version: 'v1',
      service: { namespace: 'mine', name: 'far', port: canary.port },
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  });
  let condition: Data;
  for (let attempt = 0; attempt < 500 && condition === undefined; attempt++) {
    const { status } = await administrator.get(`${apiServices}/v1.bait.example.com`);
    condition = status?.conditions?.find(({ type }: Data) => type === 'Available');
  }
  assert.equal(condition?.status, 'False', JSON.stringify(condition));
  const { status } = await administrator.request('GET', '/apis/bait.example.com/v1/secrets');
  assert.equal(status, 503);
  assert.equal(canary.connections, 0);
});

test('a conversion webhook does not reach loopback', async () => {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await victim.administrator.create(definitions, {
    metadata: { name: 'baits.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'baits', kind: 'Bait' },
      versions: [
        { name: 'v1', served: true, storage: true, schema },
        { name: 'v2', served: true, storage: false, schema },
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { url: `https://127.0.0.1:${canary.port}/`, caBundle: canary.caBundle },
          conversionReviewVersions: ['v1'],
        },
      },
    },
  });
  const body = { apiVersion: 'example.com/v2', kind: 'Bait', metadata: { name: 'b' } };
  const { status, data } = await victim.administrator.request('POST', '/apis/example.com/v2/namespaces/mine/baits', {
    body,
  });
  assert.equal(status, 500);
  assert.match(data.message, /not allowed by this server's policy/);
  assert.equal(canary.connections, 0);
});

test('a tenant names no targets: webhooks, APIServices and definitions are the control plane’s', async () => {
  for (const path of [webhooks, apiServices, definitions]) {
    assert.equal((await victim.tenant.request('POST', path, { body: { metadata: { name: 'x' } } })).status, 403, path);
  }
});

test('nodes are not a way out: a proxy to a pod, a service or a node reaches no address of this machine', async () => {
  const { administrator } = victim;
  await administrator.create('/api/v1/nodes', {
    metadata: { name: 'bait' },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: canary.port } },
    },
  });
  await administrator.create(`${mine}/pods`, {
    metadata: { name: 'bait' },
    spec: { nodeName: 'bait', containers: [{ name: 'c', image: 'i' }] },
  });
  for (const path of [
    `/api/v1/nodes/bait/proxy/`,
    `/api/v1/nodes/https:bait:${canary.port}/proxy/`,
    `${mine}/pods/https:bait:${canary.port}/proxy/`,
    `${mine}/services/https:far:${canary.port}/proxy/`,
    `${mine}/pods/bait/log`,
  ]) {
    const { status } = await administrator.request('GET', path);
    assert.ok(status >= 400, `${path}: ${status}`);
  }
  assert.equal(canary.connections, 0);
});

describe('where the administrator allows loopback', () => {
  let allowing: Victim;
  before(async () => {
    allowing = await Victim.start({ flags: () => ['--outbound-allow-cidr=127.0.0.0/8'] });
  });
  after(() => allowing[Symbol.asyncDispose]());

  const reviewed = (answer: (uid: string) => string) => async (request: AsyncIterable<Buffer>, response: Data) => {
    let text = '';
    for await (const chunk of request) text += chunk.toString();
    const { request: asked } = JSON.parse(text) as Data;
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer(asked.uid as string));
  };

  test('a webhook is reached there, and no other address is', async () => {
    const answer = (uid: string) =>
      JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } });
    await using hook = await Canary.start((request, response) => void reviewed(answer)(request, response));
    const clientConfig = { url: `https://127.0.0.1:${hook.port}/`, caBundle: hook.caBundle };
    const { status, text } = await withWebhook(allowing, clientConfig, () => hook.asked.length > 0);
    assert.equal(status, 201, text);
    const others = { url: `https://[::1]:${hook.port}/`, caBundle: hook.caBundle };
    assert.equal((await withWebhook(allowing, others, isRefused)).status, 500);
  });

  test('a redirect is not followed', async () => {
    await using target = await Canary.start((_request, response) => response.end('{}'));
    await using hook = await Canary.start((_request, response) => {
      response.writeHead(307, { location: `https://127.0.0.1:${target.port}/` }).end();
    });
    const clientConfig = { url: `https://127.0.0.1:${hook.port}/`, caBundle: hook.caBundle };
    const { status } = await withWebhook(allowing, clientConfig, isRefused);
    assert.equal(status, 500);
    assert.ok(hook.asked.length > 0);
    assert.equal(target.connections, 0);
  });

  test('warnings of a webhook cannot split the answer that carries them', async () => {
    const warnings = ['a\r\nSet-Cookie: x=y', '\u{1f600}\0', 'x'.repeat(100_000)];
    const answer = (uid: string) =>
      JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid, allowed: true, warnings },
      });
    await using hook = await Canary.start((request, response) => void reviewed(answer)(request, response));
    const clientConfig = { url: `https://127.0.0.1:${hook.port}/`, caBundle: hook.caBundle };
    const { status, headers } = await withWebhook(allowing, clientConfig, () => hook.asked.length > 0);
    assert.equal(status, 201);
    assert.equal(headers['set-cookie'], undefined);
    assert.ok(JSON.stringify(headers).length < 16_000);
  });

  test('an answer with keys of prototypes changes nothing but the object', async () => {
    const patch = Buffer.from(
      JSON.stringify([
        { op: 'add', path: '/metadata/annotations', value: {} },
        { op: 'add', path: '/__proto__/polluted', value: 'yes' },
        { op: 'add', path: '/constructor/prototype/polluted', value: 'yes' },
      ]),
    ).toString('base64');
    const answer = (uid: string) =>
      `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","__proto__":{"polluted":"yes"},` +
      `"response":{"uid":"${uid}","allowed":true,"auditAnnotations":{"__proto__":"x","constructor":"y"},"patchType":"JSONPatch","patch":"${patch}"}}`;
    await using hook = await Canary.start((request, response) => void reviewed(answer)(request, response));
    const mutating = webhooks.replace('validating', 'mutating');
    const clientConfig = { url: `https://127.0.0.1:${hook.port}/`, caBundle: hook.caBundle };
    await allowing.administrator.create(mutating, configuration(clientConfig));
    let received: Received | undefined;
    for (let attempt = 0; attempt < 200 && hook.asked.length === 0; attempt++) {
      received = await allowing.administrator.request('POST', `${mine}/configmaps?dryRun=All`, {
        body: { metadata: { name: 'p' } },
      });
    }
    await allowing.administrator.expect(200, 'DELETE', `${mutating}/bait.example.com`);
    assert.equal(received?.status, 500, received?.text ?? '');
    assert.equal(({} as Data).polluted, undefined);
  });
});

describe('a tenant does not reach', () => {
  // An address that the test declares to be one of the machine's, so that the result depends on no interface of this machine.
  const declared = '198.51.100.7';
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  let outbound: Outbound;
  let server: TenancyServer;
  let plane: string;
  before(async () => {
    outbound = new Outbound({ hostAddresses: () => [...own, declared] });
    server = await TenancyServer.open({ outbound });
    plane = await server.make('red');
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    outbound.close();
  });

  const bracketed = (address: string): string => (address.includes(':') ? `[${address.split('%')[0]}]` : address);
  const spellings = [
    ...new Set(own.map(bracketed)),
    declared,
    '[::ffff:198.51.100.7]',
    '[::198.51.100.7]',
    '[64:ff9b::198.51.100.7]',
    '[2002:c633:6407::1]',
    '3325256711',
    '0xc6.0x33.0x64.0x7',
  ];
  for (const host of spellings) {
    test(`${host} by a webhook, because it is an address of this machine`, async () => {
      const clientConfig = { url: `https://${host}:${canary.port}/`, caBundle: canary.caBundle };
      await server.expect(201, 'POST', `${plane}${webhooks}`, { body: configuration(clientConfig) });
      try {
        const answer = await untilRefused();
        assert.match(answer.data.message, /not allowed by this server's policy/);
        assert.equal(canary.connections, 0);
      } finally {
        await server.expect(200, 'DELETE', `${plane}${webhooks}/bait.example.com`);
      }
    });
  }

  async function untilRefused(): Promise<{ status: number; data: Data }> {
    const path = `${plane}/api/v1/namespaces/default/configmaps?dryRun=All`;
    for (let attempt = 0; attempt < 500; attempt++) {
      const answer = await server.request('POST', path, { body: { metadata: { generateName: 'x-' } } });
      if (answer.status !== 201) return answer;
    }
    return assert.fail('the webhook was not asked');
  }

  test('this machine through an APIService', async () => {
    const service = { namespace: 'default', name: 'far', port: canary.port };
    const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    await server.expect(201, 'POST', `${plane}/api/v1/namespaces/default/services`, {
      body: { metadata: { name: 'far' }, spec: { ports: [{ port: canary.port }] } },
    });
    await server.expect(201, 'POST', `${plane}${slices}`, {
      body: {
        metadata: { name: 'far', labels: { 'kubernetes.io/service-name': 'far' } },
        addressType: 'IPv4',
        endpoints: [{ addresses: [declared], conditions: { ready: true } }],
        ports: [{ port: canary.port, protocol: 'TCP' }],
      },
    });
    const spec = { group: 'bait.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 100 };
    await server.expect(201, 'POST', `${plane}${apiServices}`, {
      body: { metadata: { name: 'v1.bait.example.com' }, spec: { ...spec, service, insecureSkipTLSVerify: true } },
    });
    let condition: Data;
    for (let attempt = 0; attempt < 1_000 && condition?.reason !== 'FailedDiscoveryCheck'; attempt++) {
      const { status } = await server.expect(200, 'GET', `${plane}${apiServices}/v1.bait.example.com`);
      condition = status?.conditions?.find(({ type }: Data) => type === 'Available');
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(condition?.status, 'False', JSON.stringify(condition));
    assert.match(condition.message, /not allowed by this server's policy/);
    assert.equal(canary.connections, 0);
  });
});
