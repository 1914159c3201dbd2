/**
 * Paths that mean one thing to the authorizer and another to the store. A tenant with all permissions in `mine` and none in `theirs` tries
 * every spelling of a path; none may lead to objects in `theirs`, over either protocol.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from './testing/client.ts';
import { Victim, mine, theirs, treasure } from './testing/victim.ts';

let victim: Victim;
before(async () => void (victim = await Victim.start()));
after(() => victim[Symbol.asyncDispose]());

/** 403: forbidden; 400 and 404: allowed, but there is nothing. */
const tricks: readonly (readonly [path: string, status: number])[] = [
  // Dot segments, plain and escaped, anywhere.
  ['/api/v1/namespaces/mine/../theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine/configmaps/../../theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine/configmaps/..', 400],
  ['/api/v1/namespaces/mine/configmaps/../treasure', 403],
  ['/api/v1/namespaces/mine/configmaps/.', 400],
  ['/api/v1/namespaces/mine/./../theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine/%2e%2e/theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine/configmaps/%2e%2e', 400],
  ['/api/v1/namespaces/mine/configmaps/%2E%2E%2Ftheirs%2Ftreasure', 400],
  ['/api/v1/namespaces/mine/configmaps/..%2f..%2ftheirs%2fconfigmaps%2ftreasure', 400],
  ['/api/v1/namespaces/mine/configmaps/..%252ftheirs%252ftreasure', 400],
  ['/api/v1/namespaces/mine/configmaps/%252e%252e', 400],
  ['/api/v1/namespaces/mine%2f..%2ftheirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/..%2ftheirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/%2e%2e/theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine/..;/theirs/configmaps/treasure', 403],
  ['/../api/v1/namespaces/theirs/configmaps/treasure', 403],
  ['/api/v1/../v1/namespaces/theirs/configmaps/treasure', 403],
  ['/version/../api/v1/namespaces/theirs/configmaps/treasure', 403],
  ['/healthz/../api/v1/namespaces/theirs/configmaps/treasure', 404],
  ['/healthz/%2e%2e/api/v1/namespaces/theirs/configmaps/treasure', 404],
  ['/apis/../api/v1/namespaces/theirs/configmaps/treasure', 403],
  // Slashes: escaped, doubled, turned around.
  ['/api/v1/namespaces/theirs%2fconfigmaps%2ftreasure', 403],
  ['/api/v1/namespaces/mine/configmaps/%2ftheirs%2ftreasure', 400],
  ['/api/v1/namespaces/mine%2fconfigmaps/theirs/treasure', 403],
  ['//api/v1/namespaces/theirs/configmaps/treasure', 403],
  ['/api//v1/namespaces/theirs/configmaps/treasure', 403],
  ['/api/v1//namespaces/theirs/configmaps/treasure', 404],
  ['/api/v1/namespaces//theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/theirs//configmaps/treasure', 403],
  ['/api/v1/namespaces/theirs/configmaps//treasure', 403],
  ['/api/v1/namespaces/theirs/configmaps/treasure/', 403],
  ['/api/v1/namespaces/mine//configmaps/treasure', 404],
  ['/api/v1/namespaces//configmaps/treasure', 403],
  ['/api/v1/namespaces//configmaps', 403],
  ['/api/v1/namespaces/mine\\..\\theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine%5c..%5ctheirs/configmaps/treasure', 403],
  // Parameters, ends of texts, other spellings of letters.
  ['/api/v1/namespaces/theirs;a=b/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine;/../theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/theirs/configmaps/treasure;x', 403],
  ['/api/v1/namespaces/theirs%00/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine%00theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine/configmaps/trinket%00/../../theirs', 403],
  ['/api/v1/namespaces/theirs%20/configmaps/treasure', 403],
  ['/api/v1/namespaces/THEIRS/configmaps/treasure', 403],
  ['/api/v1/NAMESPACES/theirs/configmaps/treasure', 403],
  ['/API/V1/namespaces/theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/theirs/ConfigMaps/treasure', 403],
  ['/api/v1/namespaces/theirs/CONFIGMAPS/treasure', 403],
  ['/api/v1/namespaces/theirs/configmap/treasure', 403],
  ['/api/v1/namespaces/theirs/cm/treasure', 403],
  ['/api/v1/namespaces/theirs/%63onfigmaps/treasure', 403],
  ['/%61pi/v1/namespaces/theirs/configmaps/treasure', 403],
  ['/api/v1/%6eamespaces/theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/%74heirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/the%69rs/configmaps/tre%61sure', 403],
  ['/api/v1/namespaces/%c0%aetheirs/configmaps/treasure', 400],
  ['/api/v1/namespaces/%zz/configmaps/treasure', 400],
  ['/api/v1/namespaces/mine%23/../theirs/configmaps/treasure', 403],
  // Another resource, group or verb in front of it.
  ['/api/v1/watch/namespaces/theirs/configmaps/treasure', 403],
  ['/api/v1/watch/namespaces/theirs/configmaps', 403],
  ['/api/v1/watch/configmaps', 403],
  ['/api/v1/configmaps', 403],
  ['/api/v1/configmaps?namespace=mine', 403],
  ['/api/v1/configmaps?fieldSelector=metadata.namespace%3Dmine', 403],
  ['/api/v1/configmaps/treasure', 403],
  ['/api/v1/proxy/namespaces/theirs/configmaps/treasure', 403],
  ['/apis/v1/namespaces/theirs/configmaps/treasure', 403],
  ['/apis//v1/namespaces/theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine/namespaces/theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine/configmaps/trinket/namespaces/theirs/configmaps/treasure', 403],
  ['/api/v1/namespaces/mine/services/x/proxy/../../../../theirs/configmaps/treasure', 404],
  ['/api/v1/namespaces/mine/__proto__/treasure', 403],
  ['/apis/__proto__/v1/namespaces/theirs/configmaps/treasure', 403],
];

/** Neither a success nor a part of the content. */
function isNothing(received: { status: number; text: string }, what: string, status: number): void {
  assert.ok(!received.text.includes(treasure), `${what} shows the treasure`);
  assert.equal(received.status, status, `${what}: ${received.text.slice(0, 300)}`);
}

describe('a path never leads a tenant to another namespace', () => {
  for (const [path, status] of tricks) {
    test(`GET ${path}`, async () => {
      isNothing(await victim.tenant.request('GET', path), path, status);
      isNothing(await victim.tenant.request2('GET', path), `${path} over HTTP/2`, status);
    });
  }

  test('nor lets it write, remove or replace there: the same paths with every other method', async () => {
    const metadata = { name: 'treasure' };
    for (const [path] of tricks) {
      for (const method of ['PUT', 'PATCH', 'DELETE', 'POST']) {
        const sent = { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { secret: 'replaced' } } };
        const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
        // The body names an object in `theirs`: the path decides. 415 and 405 are refusals, too.
        const { status, text } = await victim.tenant.request(method, path, { ...sent, contentType });
        assert.ok(status >= 400 && status < 500, `${method} ${path}: ${status} ${text}`);
      }
    }
    await victim.isUntouched();
    const { items } = await victim.administrator.get(`${mine}/configmaps`);
    assert.deepEqual(
      items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ['trinket'],
    );
  });

  test('nor to secrets, where the same words are another resource', async () => {
    for (const path of [
      `${theirs}/secrets/treasure`,
      '/api/v1/secrets',
      '/api/v1/namespaces/mine/configmaps/..%2f..%2f..%2fsecrets%2ftheirs%2ftreasure',
      '/api/v1/namespaces/mine/configmaps/..%2f..%2fsecrets%2ftheirs%2ftreasure',
    ]) {
      const { status, text } = await victim.tenant.request('GET', path);
      assert.ok(status === 403 || status === 404 || status === 400, `${path}: ${status}`);
      assert.ok(!text.includes(Buffer.from(treasure).toString('base64')));
    }
  });
});

describe('names that would be keys of others in the store', () => {
  const bad = [
    '..',
    '.',
    '../theirs/treasure',
    'a/b',
    '../../secrets/theirs/treasure',
    'a%2fb',
    'a\u0000b',
    '%2e%2e',
    '',
  ];
  for (const name of bad) {
    test(`no object is created under the name ${JSON.stringify(name)}`, async () => {
      const body = { metadata: { name }, data: { secret: 'replaced' } };
      const { status } = await victim.tenant.request('POST', `${mine}/configmaps`, { body });
      assert.equal(status, 422);
      const namespaced = { metadata: { name: 'x', namespace: name === '' ? 'theirs' : name } };
      assert.equal((await victim.tenant.request('POST', `${mine}/configmaps`, { body: namespaced })).status, 400);
      const { status: generated } = await victim.tenant.request('POST', `${mine}/configmaps`, {
        body: { metadata: { generateName: `${name}/` } },
      });
      assert.equal(generated, 422);
      await victim.isUntouched();
    });
  }
});

describe('targets that are no path of this server', () => {
  const answer = (client: Client, target: string, more = ''): Promise<string> =>
    client.raw(`GET ${target} HTTP/1.1\r\nHost: x\r\n${client.credentials}${more}Connection: close\r\n\r\n`);

  test('an absolute target is not handed on, nor read as the path that is in it', async () => {
    for (const target of [
      `https://127.0.0.1:${victim.port}${theirs}/configmaps/treasure`,
      `http://169.254.169.254/latest/meta-data`,
      `https://x${theirs}/configmaps/treasure`,
      `//x${theirs}/configmaps/treasure`,
    ]) {
      const text = await answer(victim.tenant, target);
      assert.match(text, /^HTTP\/1\.1 40[034] /, target);
      assert.ok(!text.includes(treasure));
    }
  });

  test('an asterisk and an authority are nothing', async () => {
    assert.match(await answer(victim.tenant, '*'), /^HTTP\/1\.1 40[034] /);
    const text = await victim.tenant.raw(
      `CONNECT 127.0.0.1:${victim.port} HTTP/1.1\r\nHost: x\r\n${victim.tenant.credentials}\r\n`,
      { until: (text) => text.includes('\r\n\r\n') },
    );
    assert.ok(text === '' || /^HTTP\/1\.1 [45]/.test(text), text);
  });

  test('control characters, spaces and bytes beyond ASCII are refused before anything reads them', async () => {
    for (const part of ['\0', '\t', '\x7f', ' ', '\x0b']) {
      const text = await answer(victim.tenant, `${mine}/configmaps/trinket${part}x`);
      assert.match(text, /^HTTP\/1\.1 40[034] /, JSON.stringify(part));
    }
    assert.match(await answer(victim.tenant, `${mine}/configmaps/tr\u00ffnket`), /^HTTP\/1\.1 40[034] /);
  });

  test('another header that names a path is not read', async () => {
    const more = `X-Original-URL: ${theirs}/configmaps/treasure\r\nX-Rewrite-URL: ${theirs}/configmaps/treasure\r\nX-HTTP-Method-Override: DELETE\r\nX-Forwarded-Prefix: ${theirs}\r\n`;
    const text = await answer(victim.tenant, `${mine}/configmaps/trinket`, more);
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.ok(!text.includes(treasure));
    await victim.tenant.get(`${mine}/configmaps/trinket`);
  });

  test('very long paths and paths of very many segments are refused soon', async () => {
    for (const path of [
      `${mine}/configmaps/${'a'.repeat(60_000)}`,
      `${mine}/configmaps/${'a/'.repeat(25_000)}`,
      `${mine}${'/..'.repeat(15_000)}`,
      `${mine}/configmaps/${'%2e'.repeat(15_000)}`,
    ]) {
      const before = process.cpuUsage();
      assert.ok([400, 403, 404, 431].includes((await victim.tenant.request('GET', path)).status));
      const { user } = process.cpuUsage(before);
      assert.ok(user < 1_000_000, `${user} µs for ${path.length} bytes`);
    }
    // A client that is still writing may not receive the refusal.
    const text = await answer(victim.tenant, `/${'a'.repeat(70_000)}`);
    assert.ok(text === '' || /^HTTP\/1\.1 4(00|14|31) /.test(text), text.slice(0, 100));
  });

  test('queries do not change what is asked for', async () => {
    for (const query of [
      'namespace=theirs',
      'resource=secrets',
      'user=admin',
      'as=admin',
      '__proto__=x',
      'watch=0&watch=1',
    ]) {
      const { status, text } = await victim.tenant.request('GET', `${mine}/configmaps?${query}`);
      assert.equal(status, 200, query);
      assert.ok(!text.includes(treasure));
    }
  });
});
