/** Agents of tenants, at the ports of the tenants over real TLS. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { issueCertificate } from '@hangar/pki';
import { ask, PortedServer } from '../../tenancy/ports/testing.ts';
import type { PortedTenant } from '../../tenancy/ports/testing.ts';
import { world } from '../../http/testing/test-port.ts';
import { tenants } from '../../testing/tenancy-server.ts';
import { startKubelet } from '../testing/kubelet.ts';
import { startWebhook } from '../../testing/webhook-server.ts';
import { agentAudience } from './agent-user.ts';
import { TestAgent } from './testing/test-agent.ts';
import type { TestAgentOptions } from './testing/test-agent.ts';
import { startTarget } from './testing/tunnel-port.ts';

const merge = 'application/merge-patch+json';
const accounts = '/api/v1/namespaces/kube-system/serviceaccounts';

async function tokenOf(tenant: PortedTenant, audience: string, name = 'konnectivity-agent'): Promise<string> {
  const send = async (path: string, body: object) => {
    const { status, text } = await ask(tenant, path, { method: 'POST', body, ...tenant.admin });
    assert.ok(status === 201 || status === 409, text);
    return JSON.parse(text);
  };
  await send(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
  const spec = { audiences: [audience], expirationSeconds: 3600 };
  const review = await send(`${accounts}/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec,
  });
  return review.status.token;
}

const nodeAddress = '10.9.0.5';
const podAddress = '10.9.1.7';
const pods = '/api/v1/namespaces/default/pods';
const podLog = `${pods}/web/log`;

/** Creates a Node and a pod on it. */
async function populate(tenant: PortedTenant): Promise<void> {
  const send = async (path: string, body: object): Promise<void> => {
    const { status, text } = await ask(tenant, path, { method: 'POST', body, ...tenant.admin });
    assert.equal(status, 201, text);
  };
  await send('/api/v1/nodes', {
    metadata: { name: 'node-a' },
    status: {
      addresses: [{ type: 'InternalIP', address: nodeAddress }],
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
    },
  });
  const spec = { nodeName: 'node-a', containers: [{ name: 'main', image: 'image' }] };
  await send(pods, { metadata: { name: 'web' }, spec });
}

const connect = (tenant: PortedTenant, options: Omit<TestAgentOptions, 'port'>): Promise<TestAgent> =>
  TestAgent.open({ port: tenant.port, serves: true, ...options, tls: { ca: tenant.ca, ...options.tls } });

const tunnelOf = async (server: PortedServer, name: string) => (await server.server.tenancy.open.peek(name))!.tunnel;

describe('an agent of a tenant', () => {
  test('opens connections for its tenant only', async () => {
    await using server = await PortedServer.open();
    const [red, blue] = [await server.make('red'), await server.make('blue')];
    const token = await tokenOf(red, agentAudience);
    using agent = await connect(red, { token });
    assert.equal(agent.head[':status'], 200);
    await tokenOf(blue, agentAudience);
    const [reds, blues] = [await tunnelOf(server, 'red'), await tunnelOf(server, 'blue')];
    assert.deepEqual([reds.isConnected, blues.isConnected], [true, false]);
    assert.match(server.server.tenancy.metricsText(), /^hangar_tunnel_agents 1$/m);
    await using target = await startTarget((socket) => socket.end('from the network of red'));
    const connection = await reds.dial(target.target);
    assert.equal(String((await once(connection, 'data'))[0]), 'from the network of red');
    await assert.rejects(blues.dial(target.target), /no konnectivity agent of control plane "blue" is connected/);
  });

  test('is not accepted at the port of another tenant, and its token is not accepted by the API', async () => {
    await using server = await PortedServer.open();
    const [red, blue] = [await server.make('red'), await server.make('blue')];
    const token = await tokenOf(red, agentAudience);
    await tokenOf(blue, agentAudience);
    using stranger = await connect(blue, { token });
    assert.equal(stranger.head[':status'], 401);
    assert.equal((await tunnelOf(server, 'blue')).isConnected, false);
    const { status } = await ask(red, '/api/v1/namespaces', { headers: { authorization: `Bearer ${token}` } });
    assert.equal(status, 401);
  });

  test('needs a token for the tunnel, of the service account of agents', async () => {
    await using server = await PortedServer.open();
    const red = await server.make('red');
    using forApi = await connect(red, { token: await tokenOf(red, 'https://kubernetes.default.svc') });
    assert.equal(forApi.head[':status'], 401);
    using other = await connect(red, { token: await tokenOf(red, agentAudience, 'other') });
    assert.equal((await other.ended()).status, '7');
    assert.match((await other.ended()).message, /system:serviceaccount:kube-system:other/);
  });

  test('may use a client certificate of the tenant instead', async () => {
    await using server = await PortedServer.open();
    const [red, blue] = [await server.make('red'), await server.make('blue')];
    await tokenOf(red, agentAudience);
    const { keys } = (await server.server.tenancy.open.peek('red'))!;
    const certificate = (commonName: string) => {
      const pair = issueCertificate(keys.authority, { commonName, usage: 'client', days: 1 }, world);
      return { token: '', tls: { cert: pair.certificate, key: pair.key } };
    };
    for (const name of ['system:konnectivity-agent', 'system:konnectivity-agent:node-1']) {
      using agent = await connect(red, certificate(name));
      assert.equal(agent.head['servercount'], '1', name);
    }
    using user = await connect(red, certificate('system:konnectivity-agents'));
    assert.equal((await user.ended()).status, '7');
    using stranger = await connect(blue, certificate('system:konnectivity-agent'));
    assert.equal(stranger.head[':status'], 401);
  });

  test('carries requests to kubelets, which no other tenant can send through it', async () => {
    await using server = await PortedServer.open();
    const [red, blue] = [await server.make('red'), await server.make('blue')];
    for (const tenant of [red, blue]) await populate(tenant);
    const refusal = await ask(red, podLog, red.admin);
    assert.equal(refusal.status, 503);
    assert.match(refusal.text, /spec.nodes.networks is empty, and no tunnel agent is connected/);
    const { keys } = (await server.server.tenancy.open.peek('red'))!;
    await using kubelet = await startKubelet({
      authority: keys.authority,
      hosts: [nodeAddress],
      handler: (_, response) => response.end('a line\n'),
    });
    const routes = new Map([[`${nodeAddress}:10250`, kubelet.port]]);
    using agent = await connect(red, { token: await tokenOf(red, agentAudience), routes });
    const log = await ask(red, podLog, red.admin);
    assert.deepEqual([log.status, log.text], [200, 'a line\n']);
    assert.equal(kubelet.requests[0]!.user, 'kube-apiserver-kubelet-client');
    assert.equal((await ask(blue, podLog, blue.admin)).status, 503);
    assert.equal(kubelet.requests.length, 1);
    agent[Symbol.dispose]();
  });

  test('carries requests to pods, one after the other and at the same time', async () => {
    await using server = await PortedServer.open();
    const red = await server.make('red');
    await populate(red);
    const status = { podIP: podAddress, podIPs: [{ ip: podAddress }] };
    const patched = await ask(red, `${pods}/web/status`, {
      method: 'PATCH',
      body: { status },
      headers: { 'content-type': merge },
      ...red.admin,
    });
    assert.equal(patched.status, 200, patched.text);
    const web = createServer((request, response) => response.end(`answer to ${request.url}`));
    web.listen(0, '127.0.0.1');
    await once(web, 'listening');
    try {
      const routes = new Map([[`${podAddress}:8080`, (web.address() as AddressInfo).port]]);
      using agent = await connect(red, { token: await tokenOf(red, agentAudience), routes });
      const get = async (path: string): Promise<string> =>
        (await ask(red, `${pods}/web:8080/proxy/${path}`, red.admin)).text;
      for (const path of ['a', 'b']) assert.equal(await get(path), `answer to /${path}`);
      const paths = ['c', 'd', 'e', 'f'];
      assert.deepEqual(
        await Promise.all(paths.map(get)),
        paths.map((path) => `answer to /${path}`),
      );
      assert.equal(agent.stream.closed, false);
    } finally {
      web.closeAllConnections();
      web.close();
    }
  });

  test('carries calls to webhooks of services', async () => {
    await using server = await PortedServer.open();
    const red = await server.make('red');
    await using hook = await startWebhook(({ request: { uid } }) => ({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid, allowed: false, status: { message: 'refused in the network of red' } },
    }));
    const routes = new Map([['10.9.1.7:8443', hook.port]]);
    using agent = await connect(red, { token: await tokenOf(red, agentAudience), routes });
    const send = async (path: string, body: object) => ask(red, path, { method: 'POST', body, ...red.admin });
    const metadata = { name: 'hook', labels: { 'kubernetes.io/service-name': 'hook' } };
    await send('/api/v1/namespaces/default/services', { metadata, spec: { ports: [{ port: 443, targetPort: 8443 }] } });
    await send('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
      metadata,
      addressType: 'IPv4',
      ports: [{ name: '', port: 8443 }],
      endpoints: [{ addresses: ['10.9.1.7'] }],
    });
    const { status, text } = await send('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      metadata,
      webhooks: [
        {
          name: 'hook.example.com',
          clientConfig: { service: { namespace: 'default', name: 'hook' }, caBundle: hook.caBundle },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    assert.equal(status, 201, text);
    for (let i = 0; i < 3; i++) {
      const refused = await send('/api/v1/namespaces/default/configmaps', { metadata: { name: 'any' } });
      assert.equal(refused.status, 400, refused.text);
      assert.match(refused.text, /refused in the network of red/);
    }
    assert.ok(agent.packets.some(({ address }) => address === '10.9.1.7:8443'));
  });

  test('keeps the tenant open, and is disconnected when the tenant is suspended', async () => {
    await using server = await PortedServer.open();
    const red = await server.make('red');
    using agent = await connect(red, { token: await tokenOf(red, agentAudience) });
    const tunnel = await tunnelOf(server, 'red');
    await using target = await startTarget((socket) => socket.pipe(socket));
    const connection = await tunnel.dial(target.target);
    const failed = once(connection, 'error');
    await server.server.expect(200, 'PATCH', `${tenants}/red`, {
      body: { spec: { suspension: 'Offline' } },
      contentType: merge,
    });
    await agent.ended();
    await failed;
    assert.equal(tunnel.isConnected, false);
  });

  test('is not accepted by a tenant without nodes', async () => {
    await using server = await PortedServer.open();
    const red = await server.make('red');
    const token = await tokenOf(red, agentAudience);
    const connectTarget = '/clusters/red/control-plane/AgentService/Connect';
    const sent = { token, headers: { 'content-type': 'application/grpc', agentid: 'a' } };
    // A request in process has no stream.
    const { headers } = await server.server.request('POST', connectTarget, sent);
    assert.equal(headers['grpc-status'], '12');
    const body = { spec: { nodes: { enabled: false } } };
    await server.server.expect(200, 'PATCH', `${tenants}/red`, { body, contentType: merge });
    assert.equal((await server.server.request('POST', connectTarget, sent)).status, 401);
  });
});
