import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, expiresAt, issueCertificate, kubeconfig } from './index.ts';

const world = { clock: systemClock, random: systemRandom };

test('a certificate of an authority names its user, its groups and its hosts', async () => {
  const authority = createAuthority('the authority', 10, world);
  const issued = issueCertificate(
    authority,
    {
      commonName: 'jane, the "first"',
      organizations: ['a', 'b+c'],
      usage: 'server',
      hosts: ['example.com', '127.0.0.1', '::1'],
      days: 5,
    },
    world,
  );
  const certificate = new X509Certificate(issued.certificate);
  assert.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
  assert.equal(certificate.checkIssued(new X509Certificate(authority.certificate)), true);
  const { subject } = certificate.toLegacyObject() as unknown as { subject: { CN: string; O: string[] } };
  assert.equal(subject.CN, 'jane, the "first"');
  assert.deepEqual(subject.O, ['a', 'b+c']);
  assert.ok(certificate.checkHost('example.com') && certificate.checkIP('127.0.0.1') && certificate.checkIP('::1'));
  assert.ok(certificate.checkIP('fe80::1:0:2') === undefined);
  const days = (expiresAt(issued.certificate) - Date.now()) / 86_400_000;
  assert.ok(days > 4.9 && days < 5.1, `${days}`);
});

test('a certificate has the usages of a server, of a client, or of both', () => {
  const authority = createAuthority('the authority', 1, world);
  const usages = (['server', 'client', 'peer'] as const).map((usage) => {
    const { certificate } = issueCertificate(authority, { commonName: 'a', usage, days: 1 }, world);
    // Node calls the extended key usage so.
    return new X509Certificate(certificate).keyUsage;
  });
  const [server, client] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'];
  assert.deepEqual(usages, [[server], [client], [server, client]]);
});

test('TLS accepts a client certificate of the authority and none of another', async () => {
  const [authority, other] = [createAuthority('ours', 1, world), createAuthority('ours', 1, world)];
  const server = issueCertificate(
    authority,
    { commonName: 's', usage: 'server', hosts: ['localhost'], days: 1 },
    world,
  );
  const listener = createServer({
    key: server.key,
    cert: server.certificate,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const seen: boolean[] = [];
  listener.on('secureConnection', (socket) => {
    seen.push(socket.authorized);
    socket.end();
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  try {
    for (const from of [authority, other]) {
      const client = issueCertificate(from, { commonName: 'c', usage: 'client', days: 1 }, world);
      const socket = connect({
        port: (listener.address() as AddressInfo).port,
        host: '127.0.0.1',
        servername: 'localhost',
        ca: authority.certificate,
        cert: client.certificate,
        key: client.key,
      });
      socket.resume();
      await once(socket, 'close');
    }
  } finally {
    listener.close();
  }
  assert.deepEqual(seen, [true, false]);
});

test('a kubeconfig quotes what YAML would take for something else', () => {
  const text = kubeconfig({
    name: 'true',
    user: '12',
    server: 'https://127.0.0.1:1/x',
    authority: 'PEM',
    credentials: { token: 'a: b' },
  });
  assert.match(text, /token: "a: b"/);
  assert.match(text, /- name: "12"/);
  assert.match(text, /server: https:\/\/127\.0\.0\.1:1\/x\n/);
});
