import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { systemClock, systemRandom } from '@hangar/core';
import { OwnedPort } from '../../http/owned-port.ts';
import { TenancyServer } from '../../testing/tenancy-server.ts';
import { planeCertificate } from './plane-certificate.ts';

test('connections at the same time get the same certificate', async () => {
  await using server = await TenancyServer.open();
  await server.make('red', { nodes: { enabled: true } });
  const tenant = server.tenancy.tenants.find('red')!;
  let hosts = ['10.7.0.1'];
  const certificate = planeCertificate(
    { store: server.store, storePrefix: '/registry', clock: systemClock, random: systemRandom, hosts: () => hosts },
    () => tenant,
  );
  const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => certificate()));
  for (const one of [...others, await certificate()]) assert.equal(one, first);
  const before = certificate();
  hosts = ['10.7.0.2'];
  const [changed, again] = await Promise.all([certificate(), certificate()]);
  assert.equal(await before, first);
  assert.notEqual(changed, first);
  assert.equal(again, changed);
});

const dayMs = 86_400_000;

test('an open port serves a renewed certificate of the same CA a month before the old one expires', async () => {
  await using server = await TenancyServer.open();
  const path = await server.make('red', { nodes: { enabled: true } });
  await server.expect(200, 'GET', `${path}/api/v1/namespaces`);
  const tenant = server.tenancy.tenants.find('red')!;
  let passedMs = 0;
  const clock = { ...systemClock, now: () => Date.now() + passedMs };
  const world = { store: server.store, storePrefix: '/registry', clock, random: systemRandom };
  const certificate = planeCertificate({ ...world, hosts: () => ['127.0.0.1'] }, () => tenant);
  const tls = {};
  const port = await OwnedPort.open(
    {
      host: '127.0.0.1',
      clock: systemClock,
      handshakeTimeoutMs: 60_000,
      tls: () => tls,
      accept: (socket) => void socket.on('data', (data) => socket.write(data)),
      opened: () => {},
    },
    { port: 0, owner: 'red', certificate },
  );
  const opened: TLSSocket[] = [];
  const presented = async (): Promise<X509Certificate> => {
    const socket = connect({ host: '127.0.0.1', port: port.port, rejectUnauthorized: false });
    opened.push(socket);
    await once(socket, 'secureConnect');
    return socket.getPeerX509Certificate()!;
  };
  try {
    const first = await presented();
    passedMs = 59 * dayMs;
    assert.equal((await presented()).fingerprint256, first.fingerprint256, 'after 59 of 90 days');
    passedMs = 61 * dayMs;
    const second = await presented();
    assert.notEqual(second.fingerprint256, first.fingerprint256, 'after 61 of 90 days');
    assert.ok(Date.parse(second.validTo) > Date.parse(first.validTo) + 60 * dayMs);
    const { keys } = (await server.tenancy.open.peek('red'))!;
    const { publicKey } = new X509Certificate(keys.authority.certificate);
    assert.deepEqual([first.verify(publicKey), second.verify(publicKey)], [true, true]);
    // Connections with the old certificate continue.
    opened[0]!.write('still open');
    assert.equal(String((await once(opened[0]!, 'data'))[0]), 'still open');
  } finally {
    await port.close();
  }
});
