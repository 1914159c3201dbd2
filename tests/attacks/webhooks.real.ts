/**
 * Webhooks of a tenant that answer to cost the server memory or time. Each answer, all answers about one request, and all answers of
 * one control plane have limits; beyond them a webhook has failed, and its failurePolicy decides.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Outbound } from '../../packages/server/src/outbound/index.ts';
import { TenancyServer } from '../../packages/server/src/testing/tenancy-server.ts';
import { Canary } from './testing/canary.ts';
import type { Data } from './testing/client.ts';
import { bestLongestTurnMs } from './testing/longest-turn.ts';

const admission = '/apis/admissionregistration.k8s.io/v1';
const configMaps = '/api/v1/namespaces/default/configmaps';
const megabyte = 1024 * 1024;

let outbound: Outbound;
let server: TenancyServer;
let hook: Canary;
let plane: string;
let answer: (review: Data) => string | Buffer;
let running = 0;
let mostRunning = 0;

before(async () => {
  hook = await Canary.start((request, response) => {
    mostRunning = Math.max(mostRunning, ++running);
    response.on('close', () => running--);
    request.toArray().then(
      (chunks: Buffer[]) => {
        const review = JSON.parse(Buffer.concat(chunks).toString()) as Data;
        response.setHeader('content-type', 'application/json').end(answer(review));
      },
      () => response.destroy(),
    );
  });
  outbound = new Outbound({ allow: ['127.0.0.0/8'] });
  server = await TenancyServer.open({ outbound });
  plane = await server.make('red');
});
after(async () => {
  await server[Symbol.asyncDispose]();
  outbound.close();
  await hook[Symbol.asyncDispose]();
});

const allowed = ({ apiVersion, kind, request }: Data, more: object = {}): string =>
  JSON.stringify({ apiVersion, kind, response: { uid: request.uid, allowed: true, ...more } });

const webhook = (at: number, failurePolicy: string): object => ({
  name: `w${at}.example.com`,
  clientConfig: { url: `https://127.0.0.1:${hook.port}/`, caBundle: hook.caBundle },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  timeoutSeconds: 30,
  failurePolicy,
});

/** Runs with so many webhooks of this kind, after the server has seen them. */
async function withWebhooks(
  kind: 'mutating' | 'validating',
  count: number,
  act: () => Promise<void>,
  failurePolicy = 'Fail',
): Promise<void> {
  const path = `${plane}${admission}/${kind}webhookconfigurations`;
  const webhooks = Array.from({ length: count }, (_, at) => webhook(at, failurePolicy));
  const wanted = answer;
  answer = (review) => allowed(review);
  await server.expect(201, 'POST', path, { body: { metadata: { name: 'evil' }, webhooks } });
  try {
    for (const before = hook.asked.length; hook.asked.length === before;) await create();
    answer = wanted;
    mostRunning = 0;
    await act();
  } finally {
    await server.expect(200, 'DELETE', `${path}/evil`);
  }
}

const create = (data: Record<string, string> = {}): Promise<{ status: number; data: Data }> =>
  server.request('POST', `${plane}${configMaps}?dryRun=All`, { body: { metadata: { generateName: 'x-' }, data } });

describe('answers that are too large', () => {
  const large = (bytes: number) => (review: Data) => `${allowed(review).slice(0, -1)},"x":"${'x'.repeat(bytes)}"}`;

  test('a hundred webhooks that answer 7.9 MB each hold no more than the budget, and fail', async () => {
    answer = large(7.9 * megabyte);
    await withWebhooks('validating', 100, async () => {
      let most = 0;
      const watching = setInterval(() => (most = Math.max(most, outbound.answers.bytes)), 1);
      const { status, data } = await create();
      clearInterval(watching);
      assert.equal(status, 500);
      assert.match(
        data.message,
        /failed calling webhook "w0\.example\.com".*the response is larger than 3145728 bytes/,
      );
      assert.ok(most <= 96 * megabyte, `${most} bytes`);
      assert.ok(mostRunning <= 32, `${mostRunning} calls at the same time`);
      assert.equal(outbound.answers.bytes, 0, 'everything was given back');
    });
  });

  test('many webhooks whose answers are each within the limit fail when all of them are not', async () => {
    answer = large(2 * megabyte);
    await withWebhooks('validating', 20, async () => {
      const { status, data } = await create();
      assert.equal(status, 500);
      assert.match(data.message, /the responses for this request are larger than 16777216 bytes in total/);
    });
  });

  test('failurePolicy Ignore lets the request through', async () => {
    answer = large(4 * megabyte);
    await withWebhooks('validating', 3, async () => assert.equal((await create()).status, 201), 'Ignore');
  });

  test('a patch does not make an object larger than a request may be', async () => {
    const patch = [{ op: 'add', path: '/data', value: { a: 'x'.repeat(1.6 * megabyte) } }];
    const more = [{ op: 'add', path: '/data/b', value: 'x'.repeat(1.6 * megabyte) }];
    answer = (review) => {
      const operations = review.request.object.data?.a ? more : patch;
      return allowed(review, {
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
      });
    };
    await withWebhooks('mutating', 2, async () => {
      const { status, data } = await create();
      assert.equal(status, 500);
      assert.match(data.message, /the patched object is larger than 3145728 bytes/);
    });
  });
});

describe('answers that take long to read', () => {
  const shapes: Record<string, string> = {
    'empty lists': `[${Array(1_000_000).fill('[]').join(',')}]`,
    'many keys': `{${Array.from({ length: 250_000 }, (_, at) => `"k${at}":0`).join(',')}}`,
    numbers: `[${Array(1_400_000).fill('1').join(',')}]`,
    'managed fields': `0,"metadata":{"managedFields":[${Array(300_000).fill('{}').join(',')}]}`,
  };
  for (const [what, text] of Object.entries(shapes)) {
    test(`${what} are refused without being read`, async () => {
      answer = (review) => `${allowed(review).slice(0, -1)},"x":${text}}`;
      await withWebhooks('validating', 1, async () => {
        let received: Data;
        const longestMs = await bestLongestTurnMs(async () => (received = await create()));
        assert.equal(received.status, 500);
        assert.match(received.data.message, /the response has more than 200000 values/);
        // Below 50 ms on a quiet machine. This is wall time, which other processes prolong.
        assert.ok(longestMs < 100, `${longestMs} ms`);
      });
    });
  }
});
