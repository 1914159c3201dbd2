/**
 * Searches for secrets everywhere that they might leak: the files of the store, the audit log, the log of the process at its most verbose
 * level, metrics, discovery, and error messages. The treasure is known, so `grep` decides.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Victim, mine, nobodyToken, tenantToken, theirs, treasure } from './testing/victim.ts';

let victim: Victim;
before(async () => {
  victim = await Victim.start({
    store: 'embedded',
    flags: (folder) => {
      const policy = join(folder, 'policy.yaml');
      // The most verbose configuration of Metadata: everything, at every stage.
      writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n');
      return [`--audit-policy-file=${policy}`, `--audit-log-path=${folder}/data/audit.log`];
    },
  });
});
after(() => victim[Symbol.asyncDispose]());

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const wrong = 'wr0ng-credentials-4242';
/** In every form in which it might be written. */
const secrets = [treasure, base64(treasure), encodeURIComponent(treasure), tenantToken, nobodyToken, wrong];

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const store = (): string => join(victim.folder, 'data/store');

function isNowhereIn(text: string | Buffer, what: string, looked = secrets): void {
  for (const secret of looked) assert.ok(!text.includes(secret), `${what} shows ${secret}`);
}

/** The treasure of ConfigMaps is not encrypted: this one is in Secrets only. */
const sealed = 'sea1ed-in-the-store-only';

/** Requests of every kind that carry secrets, well-formed or not. */
async function busy(): Promise<void> {
  const { administrator, tenant, stranger } = victim;
  const metadata = { name: 'sealed' };
  await administrator.create(`${theirs}/secrets`, { metadata, stringData: { a: sealed, b: treasure } });
  await administrator.get(`${theirs}/secrets/treasure`);
  await administrator.get(`${theirs}/secrets`);
  await administrator.merge(`${theirs}/secrets/sealed`, { stringData: { c: `${sealed}-${treasure}` } });
  await administrator.create(`${mine}/serviceaccounts`, { metadata: { name: 'robot' } });
  await administrator.create(`${mine}/serviceaccounts/robot/token`, { spec: {} });
  await administrator.create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: tenantToken } });
  await tenant.request('GET', `${theirs}/secrets/treasure`);
  await tenant.request('POST', `${theirs}/secrets`, { body: { metadata, stringData: { a: treasure } } });
  await stranger.request('GET', `${theirs}/secrets/treasure`, { headers: { authorization: `Bearer ${wrong}` } });
  await stranger.request('GET', '/version', {
    headers: { authorization: `Basic ${base64(`user:${wrong}`)}`, cookie: wrong },
  });
}

describe('at rest', () => {
  test('no file of the store has a secret in it', async () => {
    await busy();
    const all = filesIn(store());
    assert.ok(all.length > 0);
    const isThere = (text: string): boolean => filesIn(store()).some((file) => readFileSync(file).includes(text));
    assert.ok(isThere('trinket'), 'names are there: this looks into the right files');
    for (const file of all) isNowhereIn(readFileSync(file), file, [sealed, base64(sealed), base64(treasure)]);
    assert.ok(isThere('k8s:enc:'), 'sealed as kube-apiserver seals it');
  });

  test('keys, tokens and the administrator’s kubeconfig are for their owner’s eyes only', () => {
    const data = join(victim.folder, 'data');
    const kept = [...filesIn(join(data, 'pki')), join(data, 'admin.kubeconfig'), ...filesIn(store())];
    assert.ok(kept.some((file) => file.endsWith('sa.key')) && kept.some((file) => file.endsWith('encryption.yaml')));
    for (const file of [...kept, join(data, 'audit.log')]) {
      // Contains a pid, in a folder that others cannot enter.
      if (/owner\.(lock|pid)$/.test(file)) continue;
      assert.equal(statSync(file).mode & 0o077, 0, `${file} may be read by others`);
    }
    for (const folder of [data, join(data, 'pki'), store()]) assert.equal(statSync(folder).mode & 0o077, 0, folder);
  });
});

describe('in what is told', () => {
  test('the audit log at level Metadata has who and what, and no secret, token or header', async () => {
    await busy().catch(() => {});
    let text = '';
    for (let attempt = 0; attempt < 500 && !text.includes(`"name":"robot"`); attempt++) {
      text = readFileSync(join(victim.folder, 'data/audit.log'), 'utf8');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.match(text, /"resource":"secrets","namespace":"theirs","name":"treasure"/);
    assert.match(text, /"username":"tenant"/);
    isNowhereIn(text, 'the audit log');
    assert.doesNotMatch(text, /requestObject|responseObject|eyJ[\w-]{10,}\./);
  });

  test('the log at level debug has the requests, and no secret, token or header', () => {
    const text = victim.log.join('');
    assert.match(text, /"target":"\/api\/v1\/namespaces\/theirs\/secrets\/treasure"/);
    isNowhereIn(text, 'the log');
    assert.doesNotMatch(text, /Bearer |"authorization"|eyJ[\w-]{10,}\./i);
  });

  test('metrics name resources and not objects, namespaces, users or paths', async () => {
    for (let at = 0; at < 20; at++) await victim.nobody.request('GET', `/nothing/${at}/${treasure}`);
    await victim.nobody.request('GET', `/apis/${treasure}/v1/things`);
    await victim.nobody.request('GET', `/api/v1/namespaces/${treasure}/${treasure}`);
    await victim.nobody.request2(treasure.toUpperCase(), '/version').catch(() => {});
    const { status, text } = await victim.administrator.request('GET', '/metrics');
    assert.equal(status, 200);
    assert.match(text, /apiserver_request_total\{/);
    isNowhereIn(text, 'metrics', [...secrets, treasure.toUpperCase(), 'trinket', 'theirs', '/nothing/']);
    // The name of a user of the victim, as the value of any label; names of metrics mention tenants.
    assert.doesNotMatch(text, /="tenant"/);
  });

  test('metrics, paths and anything else is not told to those without the right, discovery not to strangers', async () => {
    for (const path of [
      '/metrics',
      '/metrics/slis',
      '/logs',
      '/debug/pprof/',
      '/configz',
      '/flagz',
      '/statusz',
      '/apis/none.example.com',
    ]) {
      assert.equal((await victim.stranger.request('GET', path)).status, 401, path);
      const { status } = await victim.nobody.request('GET', path);
      assert.equal(status, path.startsWith('/apis/') ? 404 : 403, path);
    }
    for (const path of [
      '/',
      '/api',
      '/apis',
      '/api/v1',
      '/openapi/v2',
      '/openapi/v3',
      '/.well-known/openid-configuration',
      '/openid/v1/jwks',
    ]) {
      assert.equal((await victim.stranger.request('GET', path)).status, 401, path);
    }
  });

  test('discovery, OpenAPI, health and the issuer’s documents say what there is, and nothing of what is in it', async () => {
    for (const path of [
      '/',
      '/api',
      '/apis',
      '/api/v1',
      '/openapi/v2',
      '/openapi/v3',
      '/version',
      '/readyz?verbose',
      '/livez?verbose',
      '/openid/v1/jwks',
    ]) {
      const { status, text } = await victim.administrator.request('GET', path, { headers: { accept: '*/*' } });
      assert.equal(status, 200, path);
      isNowhereIn(text, path, [...secrets, 'trinket', 'PRIVATE KEY', victim.folder]);
    }
    const headers = { accept: 'application/jwk-set+json' };
    const { keys } = (await victim.administrator.request('GET', '/openid/v1/jwks', { headers })).data;
    assert.deepEqual(
      Object.keys(keys[0]).filter((name) => ['d', 'p', 'q', 'k'].includes(name)),
      [],
      'public parts only',
    );
  });

  test('refusals do not repeat credentials, nor what is in secrets', async () => {
    const { administrator, stranger, tenant } = victim;
    const bad = await stranger.request('GET', `${theirs}/secrets`, { headers: { authorization: `Bearer ${wrong}` } });
    assert.equal(bad.status, 401);
    isNowhereIn(JSON.stringify(bad), 'a 401');
    const refused = await tenant.request('POST', `${theirs}/secrets`, {
      body: { metadata: { name: 'x' }, stringData: { a: treasure } },
    });
    assert.equal(refused.status, 403);
    isNowhereIn(refused.text, 'a 403');
    for (const body of [
      { metadata: { name: 'x' }, data: { a: `${treasure}!` } },
      { metadata: { name: 'X_!' }, stringData: { a: treasure } },
      {
        metadata: { name: 'x' },
        type: 'kubernetes.io/dockerconfigjson',
        stringData: { '.dockerconfigjson': treasure },
      },
      { metadata: { name: 'x' }, type: 'kubernetes.io/tls', stringData: { 'tls.crt': treasure } },
      { metadata: { name: 'x' }, stringData: { '../a': treasure } },
      { metadata: { name: 'treasure' }, stringData: { a: treasure } },
    ]) {
      const { status, text } = await administrator.request('POST', `${theirs}/secrets`, { body });
      assert.ok(status === 400 || status === 409 || status === 422, `${status} ${text}`);
      isNowhereIn(text, `a ${status}`);
    }
    const immutable = { metadata: { name: 'fixed' }, immutable: true, stringData: { a: treasure } };
    await administrator.create(`${theirs}/secrets`, immutable);
    const { status, text } = await administrator.request('PATCH', `${theirs}/secrets/fixed`, {
      body: { stringData: { a: `${treasure}-2` } },
      contentType: 'application/merge-patch+json',
    });
    assert.equal(status, 422);
    isNowhereIn(text, 'a refusal to change');
  });

  test('TRACE and methods that are none show nothing of what was sent', async () => {
    for (const method of ['TRACE', 'OPTIONS', 'PROPFIND', 'SEARCH', 'LINK']) {
      const { status, text, headers } = await victim.tenant.request(method, `${mine}/configmaps/trinket`);
      assert.ok(status === 403 || status === 405, `${method}: ${status}`);
      isNowhereIn(text + JSON.stringify(headers), method);
    }
  });

  test('a Table of secrets counts what is in them', async () => {
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const { rows } = (await victim.administrator.request('GET', `${theirs}/secrets?includeObject=None`, { headers }))
      .data;
    isNowhereIn(JSON.stringify(rows), 'a Table');
    assert.ok(rows.length >= 1);
  });
});
