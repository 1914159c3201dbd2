import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { listen } from './listener.ts';

const world = { clock: systemClock, random: systemRandom };

test('a renewed certificate and other CAs count for connections from then on', async () => {
  const [before, after] = ['before', 'after'].map((name) => createAuthority(name, 1, world)) as [KeyPair, KeyPair];
  const serving = (authority: KeyPair): KeyPair =>
    issueCertificate(authority, { commonName: 'server', usage: 'server', hosts: ['localhost'], days: 1 }, world);
  const client = issueCertificate(after, { commonName: 'somebody', usage: 'client', days: 1 }, world);
  const first = serving(before);
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    key: first.key,
    certificate: first.certificate,
    clientCas: before.certificate,
    clock: systemClock,
    handler: async ({ peer }) => ({
      status: 200,
      headers: {},
      body: Buffer.from(peer.certificate?.commonName ?? 'nobody'),
    }),
  });
  const ask = async (ca: string): Promise<string> => {
    const { port } = listener;
    const show = { cert: client.certificate, key: client.key };
    const socket = connect({
      host: '127.0.0.1',
      port,
      ca,
      servername: 'localhost',
      ALPNProtocols: ['http/1.1'],
      ...show,
    });
    await once(socket, 'secureConnect');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    return (await socket.toArray()).join('').split('\r\n\r\n')[1]!;
  };
  try {
    assert.equal(await ask(before.certificate), 'nobody');
    const second = serving(after);
    listener.reload({ key: second.key, certificate: second.certificate });
    assert.equal(await ask(after.certificate), 'nobody');
    listener.reload({ clientCas: after.certificate });
    assert.equal(await ask(after.certificate), 'somebody');
    assert.throws(() => listener.reload({ certificate: 'nonsense' }));
    assert.equal(await ask(after.certificate), 'somebody');
  } finally {
    await listener.close();
  }
});
