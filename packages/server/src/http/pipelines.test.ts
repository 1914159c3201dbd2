import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { listen } from './listener.ts';
import type { Answer, ServerRequest } from './message.ts';
import { unansweredMax } from './pipelines.ts';

const world = { clock: systemClock, random: systemRandom };

async function open(handler: (request: ServerRequest) => Promise<Answer>) {
  const authority = createAuthority('test', 1, world);
  const names = { commonName: 'server', hosts: ['127.0.0.1'], usage: 'server', days: 1 } as const;
  const serving = issueCertificate(authority, names, world);
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    key: serving.key,
    certificate: serving.certificate,
    clientCas: authority.certificate,
    clock: systemClock,
    handler,
    closeGraceMs: 100,
  });
  const sockets: TLSSocket[] = [];
  return {
    connect: async (): Promise<TLSSocket> => {
      const socket = connect({
        port: listener.port,
        host: '127.0.0.1',
        rejectUnauthorized: false,
        ALPNProtocols: ['http/1.1'],
      });
      sockets.push(socket);
      await once(socket, 'secureConnect');
      return socket;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await listener.close();
    },
  };
}

const echoed = ({ target }: ServerRequest): Answer => ({ status: 200, headers: {}, body: Buffer.from(`<${target}>`) });
const get = (target: string): string => `GET ${target} HTTP/1.1\r\nHost:\r\n\r\n`;
const gets = (count: number, from = 0): string => Array.from({ length: count }, (_, n) => get(`/${from + n}`)).join('');

/** Targets of the responses, in order of arrival. */
function answersOf(socket: TLSSocket): { until(count: number): Promise<string[]> } {
  let text = '';
  const found = (): string[] => [...text.matchAll(/<\/(\d+)>/g)].map(([, target]) => target!);
  socket.on('data', (data: Buffer) => (text += data.toString('latin1')));
  return {
    until: async (count) => {
      while (found().length < count) await once(socket, 'data', { signal: AbortSignal.timeout(20_000) });
      return found();
    },
  };
}

describe('requests that a client sends before earlier ones are answered', () => {
  test('are answered in order, up to the bound', async () => {
    await using port = await open(async (request) => {
      // The first request is answered last.
      await new Promise((resolve) => setTimeout(resolve, request.target === '/0' ? 50 : 1));
      return echoed(request);
    });
    const socket = await port.connect();
    const answers = answersOf(socket);
    socket.write(gets(unansweredMax));
    const expected = Array.from({ length: unansweredMax }, (_, n) => String(n));
    assert.deepEqual(await answers.until(unansweredMax), expected);
  });

  test('may be any number, as long as answers keep up', async () => {
    await using port = await open(async (request) => echoed(request));
    const socket = await port.connect();
    const answers = answersOf(socket);
    for (let sent = 0; sent < 2_000; sent += 200) {
      socket.write(gets(200, sent));
      await answers.until(sent + 200);
    }
    assert.equal(new Set(await answers.until(2_000)).size, 2_000);
  });

  test('cost their client the connection beyond the bound, and nobody else waits for it', async () => {
    let begun = 0;
    await using port = await open(async (request) => {
      if (request.target === '/quick') return echoed({ ...request, target: '/1' });
      begun++;
      return new Promise(() => {});
    });
    const [flood, other] = [await port.connect(), await port.connect()];
    const answers = answersOf(other);
    const cut = new Promise<void>((resolve) => flood.once('close', () => resolve()).on('error', () => {}));
    flood.write(get('/').repeat(200_000));
    other.write(get('/quick'));
    assert.deepEqual(await answers.until(1), ['1']);
    await cut;
    assert.equal(begun, unansweredMax);
  });
});
