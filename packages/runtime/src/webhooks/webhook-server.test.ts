import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as plainConnect } from 'node:net';
import { connect } from 'node:tls';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { testAuthority } from '@hangar/testkit';
import { MetricsRegistry } from '../metrics/registry.ts';
import { validating } from './admission.ts';
import type { ValidatingHandlers } from './admission.ts';
import { certificateFolder } from './certificates/folder.ts';
import type { WebhookServerOptions } from './server-options.ts';
import { post } from './testing/https.ts';
import { admissionReview, responseOf, Widget, widget } from './testing/reviews.ts';
import { WebhookServer } from './webhook-server.ts';

const authority = testAuthority();
const ca = authority.certificate;
const path = '/validate-example-com-v1-widget';
const review = admissionReview('CREATE', { object: widget() });

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await isSo()); waited += 5) {
    assert.ok(waited < 10_000, 'not so in time');
    await pause(5);
  }
}

interface Running extends AsyncDisposable {
  readonly server: WebhookServer;
  readonly port: number;
  /** Stops the server; resolves when it has stopped. */
  end(): Promise<void>;
}

async function running(
  handlers: ValidatingHandlers<Widget> = {},
  options: WebhookServerOptions = {},
): Promise<Running> {
  const server = new WebhookServer({
    port: 0,
    host: '127.0.0.1',
    certificates: authority.serving(),
    ...options,
  }).register(validating(Widget, handlers));
  const ended = new AbortController();
  const serving = server.start(ended.signal);
  await Promise.race([until(() => server.port > 0), serving]);
  const end = (): Promise<void> => {
    ended.abort();
    return serving;
  };
  return { server, port: server.port, end, [Symbol.asyncDispose]: end };
}

test('a review over TLS is answered', async () => {
  await using hooks = await running({ create: () => ['careful'] });
  assert.deepEqual(responseOf(await post(path, review, { port: hooks.port, ca })).warnings, ['careful']);
  assert.equal((await post('/nothing', review, { port: hooks.port, ca })).status, 404);
});

test('who waits until it listens is told when it does, or why it never will', async () => {
  const [hooks, broken, stopped] = [
    { port: 0, certificates: authority.serving() },
    {},
    { certificates: authority.serving() },
  ].map((options) => new WebhookServer({ host: '127.0.0.1', ...options })) as [
    WebhookServer,
    WebhookServer,
    WebhookServer,
  ];
  const ended = new AbortController();
  const listening = hooks.listening();
  const serving = hooks.start(ended.signal);
  await listening;
  assert.ok(hooks.port > 0);
  ended.abort();
  await serving;
  await assert.rejects(broken.start(new AbortController().signal), { code: 'InvalidOptions' });
  await assert.rejects(broken.listening(), { code: 'InvalidOptions' });
  await stopped.start(ended.signal);
  await assert.rejects(stopped.listening(), { code: 'NotServing' });
});

test('it is started when it can be reached, and not before or after', async () => {
  const hooks = await running();
  const notServing = { code: 'NotServing' };
  await assert.rejects(new WebhookServer().started(), notServing);
  await hooks.server.started();
  await hooks.end();
  await assert.rejects(hooks.server.started(), notServing);
});

test('it is not started without a certificate, with a wrong one, or on a port that is taken', async () => {
  const { signal } = new AbortController();
  await assert.rejects(new WebhookServer({ port: 0 }).start(signal), { code: 'InvalidOptions' });
  const certificates = { ...authority.serving(), key: authority.serving().key };
  await assert.rejects(new WebhookServer({ port: 0, certificates }).start(signal), { code: 'CertificateFailed' });
  await using hooks = await running();
  const second = new WebhookServer({ port: hooks.port, host: '127.0.0.1', certificates: authority.serving() });
  await assert.rejects(second.start(signal), { code: 'EADDRINUSE' });
  await assert.rejects(hooks.server.start(signal), { code: 'InvalidOptions' });
});

test('a new certificate serves new connections, and old ones stay; a broken one changes nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-webhooks-'));
  const put = async (pair: { certificate: string; key: string }): Promise<void> => {
    for (const [name, text] of [
      ['tls.key', pair.key],
      ['tls.crt', pair.certificate],
    ] as const) {
      await writeFile(join(folder, `${name}.new`), text);
      await rename(join(folder, `${name}.new`), join(folder, name));
    }
  };
  const serialOf = ({ certificate }: { certificate: string }): string => new X509Certificate(certificate).serialNumber;
  const [first, second] = [authority.serving(), authority.serving()];
  await put(first);
  const metrics = new MetricsRegistry();
  const counted = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics.text())?.[1]);
  await using hooks = await running({}, { certificates: certificateFolder(folder), metrics });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const kept = (): Promise<string> => post(path, review, { port: hooks.port, ca, agent }).then(({ serial }) => serial);
  const fresh = (): Promise<string> => post(path, review, { port: hooks.port, ca }).then(({ serial }) => serial);
  assert.equal(await kept(), serialOf(first));
  await put(second);
  await until(async () => (await fresh()) === serialOf(second));
  assert.equal(await kept(), serialOf(first));
  const errors = counted('certwatcher_read_certificate_errors_total');
  await put({ certificate: 'nonsense', key: 'nonsense' });
  await until(() => counted('certwatcher_read_certificate_errors_total') > errors);
  assert.equal(await fresh(), serialOf(second));
  assert.ok(counted('certwatcher_read_certificate_total') >= 3);
  agent.destroy();
  await rm(folder, { recursive: true });
});

test('it ends in good order: not ready, then what is under way is finished, then nothing is accepted', async () => {
  let finish: () => void = () => {};
  let isAsked = false;
  const hooks = await running({
    async create() {
      isAsked = true;
      await new Promise<void>((resolve) => (finish = resolve));
    },
  });
  const answering = post(path, review, { port: hooks.port, ca, agent: new Agent({ keepAlive: true }) });
  await until(() => isAsked);
  const ending = hooks.end();
  await assert.rejects(hooks.server.started(), { code: 'NotServing' });
  await assert.rejects(post(path, review, { port: hooks.port, ca }), { code: 'ECONNREFUSED' });
  finish();
  const answer = await answering;
  assert.equal(responseOf(answer).allowed, true);
  assert.equal(answer.headers['connection'], 'close');
  await ending;
});

test('while it waits for everybody to hear of its end, it goes on serving', async () => {
  const hooks = await running({}, { shutdownDelayMs: 300 });
  const ending = hooks.end();
  await assert.rejects(hooks.server.started(), { code: 'NotServing' });
  assert.equal(responseOf(await post(path, review, { port: hooks.port, ca })).allowed, true);
  await ending;
});

test('a handler that never ends holds the end up only so long', async () => {
  let isTold = false;
  let isAsked = false;
  const hooks = await running(
    {
      create({ signal }) {
        isAsked = true;
        signal.addEventListener('abort', () => (isTold = true));
        return new Promise(() => {});
      },
    },
    { shutdownGraceMs: 50 },
  );
  const answering = post(path, review, { port: hooks.port, ca });
  const lost = assert.rejects(answering);
  await until(() => isAsked);
  await hooks.end();
  await lost;
  assert.equal(isTold, true);
});

test('with an authority for clients, only its clients are served, and of them only those that are named', async () => {
  const clients = testAuthority('clients');
  const options = { clientCa: clients.certificate, clientNames: ['apiserver'] };
  await using hooks = await running({}, options);
  const as = (pair: { certificate: string; key: string }) =>
    post(path, review, { port: hooks.port, ca, cert: pair.certificate, key: pair.key });
  assert.equal((await as(clients.client('apiserver'))).status, 200);
  assert.equal((await as(clients.client('somebody'))).status, 403);
  await assert.rejects(as(authority.client('apiserver')));
  await assert.rejects(post(path, review, { port: hooks.port, ca }));
  await hooks.server.started();
});

test('a body that is too long is refused without being read to its end', async () => {
  await using hooks = await running();
  const long = 'x'.repeat(20 * 1024 * 1024);
  const refused = await post(path, long, { port: hooks.port, ca }).catch((error: { code: string }) => error);
  // A client that still writes may see the closed connection first.
  if ('status' in refused) assert.equal(refused.status, 413);
  else assert.match(refused.code, /EPIPE|ECONNRESET/);
  assert.equal((await post(path, review, { port: hooks.port, ca })).status, 200);
});

test('all bodies together have a bound, which is given back', async () => {
  const wholeBytes = Buffer.byteLength(JSON.stringify(review));
  let finish: () => void = () => {};
  let isAsked = false;
  await using hooks = await running(
    {
      async create() {
        isAsked = true;
        await new Promise<void>((resolve) => (finish = resolve));
      },
    },
    { bodiesMaxBytes: wholeBytes + 10 },
  );
  const first = post(path, review, { port: hooks.port, ca });
  await until(() => isAsked);
  assert.equal((await post(path, review, { port: hooks.port, ca })).status, 503);
  finish();
  assert.equal((await first).status, 200);
  isAsked = false;
  const third = post(path, review, { port: hooks.port, ca });
  await until(() => isAsked);
  finish();
  assert.equal((await third).status, 200);
});

test('clients that hang up, at whatever point, leave nothing behind', async () => {
  const metrics = new MetricsRegistry();
  let waiting = 0;
  await using hooks = await running(
    {
      create: ({ signal }) =>
        new Promise((_, reject) => {
          waiting++;
          signal.addEventListener('abort', () => {
            waiting--;
            reject(new Error('gone'));
          });
        }),
    },
    { metrics, bodiesMaxBytes: 1024 * 1024 },
  );
  const body = JSON.stringify(review);
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  for (const text of ['', 'nonsense\r\n\r\n', head.slice(0, 30), head, head + body.slice(0, 100), head + body]) {
    const socket = connect({ port: hooks.port, host: '127.0.0.1', ca, servername: 'localhost' });
    await once(socket, 'secureConnect');
    socket.on('error', () => {});
    socket.write(text);
    if (text.endsWith('}')) await until(() => waiting === 1);
    socket.destroy();
  }
  await until(() => waiting === 0);
  await until(() => /requests_in_flight\{[^}]*\} 0/.test(metrics.text()));
  assert.match(metrics.text(), /panics_total 0/);
});

test('a client that sends slowly does not get to hold its connection', async () => {
  await using hooks = await running({}, { headTimeoutMs: 100, requestTimeoutMs: 200 });
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n`;
  for (const text of [head.slice(0, 40), `${head}{`]) {
    const socket = connect({ port: hooks.port, host: '127.0.0.1', ca, servername: 'localhost' });
    await once(socket, 'secureConnect');
    socket.on('error', () => {}).resume();
    socket.write(text);
    await once(socket, 'close');
  }
  const silent = plainConnect({ port: hooks.port, host: '127.0.0.1' });
  silent.on('error', () => {}).resume();
  await once(silent, 'close');
  assert.equal((await post(path, review, { port: hooks.port, ca })).status, 200);
});
