import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { listen } from './listener.ts';
import type { Answer } from './message.ts';

const world = { clock: systemClock, random: systemRandom };
const sentMax = 20_000;

test('a client that sends requests without end is read no further until they are answered, and then to the last', async () => {
  const authority = createAuthority('test', 1, world);
  const names = { commonName: 'server', hosts: ['127.0.0.1'], usage: 'server', days: 1 } as const;
  const serving = issueCertificate(authority, names, world);
  const waiting: ((answer: Answer) => void)[] = [];
  let begun = 0;
  let isOpen = false;
  const empty: Answer = { status: 200, headers: {}, body: new Uint8Array() };
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    ...{ key: serving.key, certificate: serving.certificate, clientCas: authority.certificate },
    clock: systemClock,
    handler: () => {
      begun++;
      return isOpen ? Promise.resolve(empty) : new Promise((resolve) => waiting.push(resolve));
    },
    closeGraceMs: 100,
  });
  const socket = connect({
    port: listener.port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  });
  await once(socket, 'secureConnect');
  let received = 0;
  socket.on('data', (data: Buffer) => (received += data.toString('latin1').split('HTTP/1.1 200').length - 1));
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(sentMax));
  let before = -1;
  for (; before !== begun || begun === 0; await new Promise((resolve) => setTimeout(resolve, 100))) before = begun;
  assert.ok(begun < sentMax / 4, `${begun} were begun`);
  isOpen = true;
  for (const answer of waiting) answer(empty);
  const endMs = Date.now() + 20_000;
  while (begun < sentMax && Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(begun, sentMax);
  while (received < sentMax && Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 10));
  // A head may come in two pieces.
  assert.ok(received > sentMax - 100, `${received} were answered`);
  socket.destroy();
  await listener.close();
});
