import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { ClusterDialer, DialTarget } from './cluster-network.ts';
import type { Resolver } from './connector.ts';
import { OutboundError } from './errors.ts';
import { NameLookups, TotalLookups } from './name-lookups.ts';
import { Outbound } from './outbound.ts';

const world = { clock: systemClock, random: systemRandom };
const authority = createAuthority('test', 1, world);
const serving = issueCertificate(
  authority,
  { commonName: 'hook', hosts: ['hook.shop.svc'], usage: 'server', days: 1 },
  world,
);
const server = createServer({ key: serving.key, cert: serving.certificate }, (_, response) => response.end('reached'));
let port: number;
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
after(() => {
  server.closeAllConnections();
  server.close();
});

/** Connects every address to the server, as the network of a cluster would. */
class TestNetwork implements ClusterDialer {
  readonly dialed: string[] = [];

  async dial({ host, port: wanted }: DialTarget) {
    this.dialed.push(`${host}:${wanted}`);
    if (host === '10.0.0.9') throw new OutboundError('Unreachable', 'dial tcp 10.0.0.9:443: connect: no route to host');
    return connect(port, '127.0.0.1');
  }
}

const resolvingTo =
  (address: string): Resolver =>
  (_name, _options, callback) =>
    callback(null, [{ address, family: 4 }]);

const asked = (host: string) => ({
  url: 'https://hook.shop.svc/',
  address: { host, port: 443 },
  serverName: 'hook.shop.svc',
  ca: authority.certificate,
  timeoutMs: 5_000,
  isService: true,
});

describe('calls to Services', () => {
  test('go through the tunnel of the tenant, with reuse of connections', async () => {
    const network = new TestNetwork();
    const tenant = new Outbound().forTenant(() => network);
    for (let i = 0; i < 3; i++) {
      const { status, body } = await tenant.request(asked('10.0.0.1'));
      assert.deepEqual([status, body.toString()], [200, 'reached']);
    }
    assert.deepEqual(network.dialed, ['10.0.0.1:443']);
    const socket = await tenant.open(
      { ...asked('10.0.0.1'), host: '10.0.0.1', port: 443 },
      { timeoutMs: 5_000, isService: true },
    );
    assert.equal(socket.authorized, true);
    socket.destroy();
    assert.equal(network.dialed.length, 2);
    tenant.close();
  });

  test('report the error of the tunnel', async () => {
    const tenant = new Outbound().forTenant(() => new TestNetwork());
    const expected = { code: 'Unreachable', message: 'dial tcp 10.0.0.9:443: connect: no route to host' };
    await assert.rejects(tenant.request(asked('10.0.0.9')), expected);
    const destination = { host: '10.0.0.9', port: 443 };
    await assert.rejects(tenant.open(destination, { timeoutMs: 5_000, isService: true }), expected);
    tenant.close();
  });

  test('never reach loopback or metadata addresses of the other network', async () => {
    const network = new TestNetwork();
    const tenant = new Outbound().forTenant(() => network);
    for (const host of ['127.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1']) {
      await assert.rejects(tenant.request(asked(host)), { code: 'Refused' });
      await assert.rejects(tenant.open({ host, port: 443 }, { timeoutMs: 5_000, isService: true }), {
        code: 'Refused',
      });
    }
    assert.deepEqual(network.dialed, []);
    tenant.close();
  });

  test('of external names and of URLs are direct', async () => {
    const network = new TestNetwork();
    const resolver = resolvingTo('127.0.0.1');
    const tenant = new Outbound({ resolver }).forTenant(() => network);
    await assert.rejects(tenant.request(asked('outside.example')), { code: 'Refused' });
    await assert.rejects(tenant.request({ ...asked('127.0.0.1'), isService: false }), { code: 'Refused' });
    assert.deepEqual(network.dialed, []);
    tenant.close();
  });
});

describe('the egress of the administrator', () => {
  const lookups = new NameLookups({ plane: 'red', clock: systemClock, total: new TotalLookups() });
  const anywhere = { rule: { refusal: () => undefined }, timeoutMs: 5_000, lookups };

  test('carries calls of the management plane to Services, but no calls of tenants', async () => {
    const egress = new TestNetwork();
    const outbound = new Outbound({ egress });
    assert.equal((await outbound.request(asked('10.0.0.1'))).body.toString(), 'reached');
    assert.deepEqual(egress.dialed, ['10.0.0.1:443']);
    const tenant = outbound.forTenant();
    // Direct: this address is unreachable or refused, but not through the proxy.
    await assert.rejects(tenant.request({ ...asked('127.0.0.1') }), { code: 'Refused' });
    assert.equal(egress.dialed.length, 1);
    tenant.close();
    outbound.close();
  });

  test('carries connections to nodes, to the address that was checked', async () => {
    const egress = new TestNetwork();
    const resolver = resolvingTo('10.0.0.2');
    const tenant = new Outbound({ egress, resolver }).forTenant();
    (await tenant.openTcp({ host: 'node-1', port: 10250 }, anywhere)).destroy();
    (await tenant.openTcp({ host: '10.0.0.3', port: 10250 }, anywhere)).destroy();
    assert.deepEqual(egress.dialed, ['10.0.0.2:10250', '10.0.0.3:10250']);
    const refusing = { ...anywhere, rule: { refusal: () => new OutboundError('Refused', 'not in the networks') } };
    await assert.rejects(tenant.openTcp({ host: '10.0.0.3', port: 1 }, refusing), { code: 'Refused' });
    await assert.rejects(tenant.openTcp({ host: '127.0.0.1', port: 1 }, anywhere), { code: 'Refused' });
    assert.equal(egress.dialed.length, 2);
    tenant.close();
  });
});
