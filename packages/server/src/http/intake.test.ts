import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { get, headers, hello, RawClient, reset } from './h2/testing/raw-client.ts';
import { listen } from './listener.ts';
import type { Answer, Intake, ServerRequest } from './message.ts';

const answer: Answer = { status: 200, headers: {}, body: Buffer.from('ok') };

/** Handles no request until the test does. */
class Held implements Intake {
  readonly requests: (() => void)[] = [];
  #wake = (): void => {};

  take(_peer: unknown, handle: () => void): void {
    this.requests.push(handle);
    this.#wake();
  }

  async received(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

test('a stream that is reset before it is handled never starts', async () => {
  const held = new Held();
  const started: string[] = [];
  const handler = (request: ServerRequest): Promise<Answer> => {
    started.push(request.header('x-name') ?? '');
    return Promise.resolve(answer);
  };
  await using client = await RawClient.open(handler, systemClock, held);
  client.send(hello, headers(1, [...get, ['x-name', 'first']]));
  await held.received(1);
  client.send(reset(1), headers(3, [...get, ['x-name', 'second']]));
  await held.received(2);
  assert.deepEqual(started, []);
  for (const handle of held.requests) handle();
  await client.frame(({ streamId }) => streamId === 3);
  assert.deepEqual(started, ['second']);
});

test('an HTTP/1.1 request whose client disconnects before it is handled never starts', async () => {
  const authority = createAuthority('test', 1, { clock: systemClock, random: systemRandom });
  const names = { commonName: 'server', hosts: ['127.0.0.1'], usage: 'server', days: 1 } as const;
  const serving = issueCertificate(authority, names, { clock: systemClock, random: systemRandom });
  const held = new Held();
  const started: string[] = [];
  const gone = Promise.withResolvers<void>();
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    ...serving,
    clientCas: authority.certificate,
    clock: systemClock,
    handler: ({ target, passing }) => {
      started.push(target);
      passing!.onGone!(gone.resolve);
      return new Promise(() => {});
    },
    intake: held,
    closeGraceMs: 100,
  });
  const socket = connect({ port: listener.port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.write('GET /first HTTP/1.1\r\nHost:\r\n\r\nGET /second HTTP/1.1\r\nHost:\r\n\r\n');
  await held.received(2);
  held.requests[0]!();
  socket.destroy();
  await gone.promise;
  held.requests[1]!();
  assert.deepEqual(started, ['/first']);
  await listener.close();
});
