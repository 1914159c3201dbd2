/**
 * Seeing more than one's own by lists, watches, selectors, continue tokens and reviews; and names that every object of the
 * language has, which must be data like any other.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import type { Data } from './testing/client.ts';
import { Victim, mine, roles, theirs, treasure } from './testing/victim.ts';

let victim: Victim;
before(async () => {
  victim = await Victim.start();
  for (let at = 0; at < 5; at++) await victim.tenant.create(`${mine}/configmaps`, { metadata: { name: `own-${at}` } });
});
after(() => victim[Symbol.asyncDispose]());

const namesIn = (list: Data): string[] =>
  list.items.map(({ metadata }: Data) => `${metadata.namespace}/${metadata.name}`);

describe('watches', () => {
  test('of all namespaces, of another one, and of one object there are refused, in every form', async () => {
    for (const path of [
      '/api/v1/configmaps?watch=true',
      '/api/v1/configmaps?watch=1&fieldSelector=metadata.namespace%3Dmine',
      '/api/v1/configmaps?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
      '/api/v1/watch/configmaps',
      '/api/v1/watch/namespaces/theirs/configmaps',
      '/api/v1/watch/namespaces/theirs/configmaps/treasure',
      `${theirs}/configmaps?watch=true`,
      `${theirs}/configmaps?watch=true&fieldSelector=metadata.name%3Dtreasure`,
      `${theirs}/configmaps?watch=true&resourceVersion=0`,
      `${theirs}/configmaps?watch=true&timeoutSeconds=1`,
      `${theirs}/secrets?watch=`,
      '/api/v1/namespaces?watch=true',
      '/apis/events.k8s.io/v1/events?watch=true',
    ]) {
      for (const received of [await victim.tenant.request('GET', path), await victim.tenant.request2('GET', path)]) {
        assert.equal(received.status, 403, path);
        assert.ok(!received.text.includes(treasure));
      }
    }
  });

  test('of one’s own namespace tell of it alone, while others write', async () => {
    const socket = await victim.tenant.socket();
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const { metadata } = await victim.tenant.get(`${mine}/configmaps`);
    socket.write(
      `GET ${mine}/configmaps?watch=true&resourceVersion=${metadata.resourceVersion} HTTP/1.1\r\nHost: x\r\n${victim.tenant.credentials}\r\n`,
    );
    await once(socket, 'data');
    await victim.administrator.create(`${theirs}/configmaps`, { metadata: { name: 'written-meanwhile' } });
    await victim.administrator.expect(200, 'DELETE', `${theirs}/configmaps/written-meanwhile`);
    await victim.administrator.create(`${mine}/configmaps`, { metadata: { name: 'mine-meanwhile' } });
    while (!text.includes('mine-meanwhile')) await once(socket, 'data');
    socket.destroy();
    assert.ok(!text.includes('written-meanwhile'));
  });

  test('a right that was taken away is taken away from the next request, and the watch was one request', async () => {
    const { administrator, nobody } = victim;
    await victim.grant('nobody', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }], 'mine');
    for (let attempt = 0; (await nobody.request('GET', `${mine}/configmaps`)).status !== 200; attempt++)
      assert.ok(attempt < 500);
    assert.equal((await nobody.request('GET', `${mine}/configmaps?watch=true`)).status, 403, 'list is not watch');
    assert.equal((await nobody.request('GET', `${mine}/configmaps/trinket`)).status, 403, 'list is not get');
    const bindings = `${roles}/namespaces/mine/rolebindings`;
    const { items } = await administrator.get(bindings);
    for (const { metadata, subjects } of items) {
      if (subjects[0].name === 'nobody') await administrator.expect(200, 'DELETE', `${bindings}/${metadata.name}`);
    }
    for (let attempt = 0; (await nobody.request('GET', `${mine}/configmaps`)).status !== 403; attempt++)
      assert.ok(attempt < 500);
  });
});

test('a namespace whose name begins like one’s own is another one', async () => {
  const { administrator, tenant } = victim;
  for (const name of ['mine2', 'mine-too', 'min']) {
    await administrator.create('/api/v1/namespaces', { metadata: { name } });
    await administrator.create(`/api/v1/namespaces/${name}/configmaps`, {
      metadata: { name: 'neighbour' },
      data: { treasure },
    });
    assert.equal((await tenant.request('GET', `/api/v1/namespaces/${name}/configmaps`)).status, 403);
  }
  assert.ok(!namesIn(await tenant.get(`${mine}/configmaps`)).some((name) => name.includes('neighbour')));
  await tenant.expect(200, 'DELETE', `${mine}/configmaps?labelSelector=none`);
  await tenant.expect(200, 'DELETE', `${mine}/secrets`);
  for (const name of ['mine2', 'mine-too', 'min']) {
    assert.equal(
      (await administrator.get(`/api/v1/namespaces/${name}/configmaps`)).items.length,
      1,
      'nothing there was deleted',
    );
  }
});

describe('continue tokens', () => {
  const encoded = (start: string, rv = -1): string =>
    Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start })).toString('base64url');
  const listed = (token: string, path = `${mine}/configmaps`) =>
    victim.tenant.request('GET', `${path}?limit=500&continue=${encodeURIComponent(token)}`);

  test('of all namespaces, of another one or of another resource show nothing of them', async () => {
    const { administrator } = victim;
    const tokens: string[] = [];
    for (const path of ['/api/v1/configmaps', '/api/v1/namespaces', `${roles}/roles`, `${roles}/clusterroles`]) {
      const { metadata } = await administrator.get(`${path}?limit=1`);
      if (metadata.continue) tokens.push(metadata.continue as string);
    }
    assert.ok(tokens.length === 4, 'there are tokens to try');
    for (const token of tokens) {
      const { status, data, text } = await listed(token);
      assert.ok(status === 200 || status === 400, text);
      assert.ok(!text.includes(treasure));
      if (status === 200) for (const name of namesIn(data)) assert.match(name, /^mine\//);
      assert.equal((await listed(token, `${theirs}/configmaps`)).status, 403, 'a token is no right');
      assert.equal((await listed(token, '/api/v1/configmaps')).status, 403);
    }
  });

  test('that are made up lead nowhere', async () => {
    for (const start of [
      '../theirs/',
      '..',
      '/../theirs/treasure',
      'a/../../theirs/',
      './',
      '//theirs',
      '\u0000',
      '\uffff',
      '../../secrets/',
    ]) {
      const { status, data, text } = await listed(encoded(start));
      assert.ok(!text.includes(treasure));
      if (status === 200) for (const name of namesIn(data)) assert.match(name, /^mine\//);
      else assert.equal(status, 400, `${start}: ${text}`);
    }
    for (const token of [
      'x',
      '{}',
      'bnVsbA',
      Buffer.from('{"v":"meta.k8s.io/v1","rv":1e300,"start":"a"}').toString('base64url'),
    ]) {
      assert.equal((await listed(token)).status, 400, token);
    }
    const future = await listed(encoded('a', 9_000_000_000));
    assert.ok([400, 410, 504].includes(future.status), `${future.status}`);
  });
});

describe('selectors and reviews', () => {
  test('a field selector for a name is a right to that name only', async () => {
    await victim.grant(
      'nobody',
      [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'], resourceNames: ['trinket'] }],
      'mine',
    );
    const named = (name: string) =>
      victim.nobody.request('GET', `${mine}/configmaps?fieldSelector=metadata.name%3D${name}`);
    for (let attempt = 0; (await named('trinket')).status !== 200; attempt++) assert.ok(attempt < 500);
    assert.deepEqual(namesIn((await named('trinket')).data), ['mine/trinket']);
    assert.equal((await named('own-1')).status, 403);
    assert.equal((await named('trinket,metadata.name%3Down-1')).status, 403);
    for (const query of [
      '',
      '?fieldSelector=metadata.name!%3Down-1',
      '?fieldSelector=metadata.namespace%3Dmine',
      '?labelSelector=a',
    ]) {
      assert.equal((await victim.nobody.request('GET', `${mine}/configmaps${query}`)).status, 403, query);
    }
    assert.equal(
      (await victim.nobody.request('DELETE', `${mine}/configmaps?fieldSelector=metadata.name%3Dtrinket`)).status,
      403,
    );
  });

  test('who may list names may not look inside by field selectors', async () => {
    const { status } = await victim.tenant.request('GET', `${mine}/secrets?fieldSelector=data.secret%3Dx`);
    assert.equal(status, 400);
    assert.equal((await victim.tenant.request('GET', `${mine}/configmaps?fieldSelector=__proto__%3Dx`)).status, 400);
  });

  test('reviews about others are for those who may create them; about oneself they tell the truth', async () => {
    const reviews = '/apis/authorization.k8s.io/v1';
    const resourceAttributes = { namespace: 'theirs', verb: 'get', resource: 'secrets', name: 'treasure' };
    const body = { spec: { user: 'kubernetes-admin', groups: ['system:masters'], resourceAttributes } };
    assert.equal((await victim.tenant.request('POST', `${reviews}/subjectaccessreviews`, { body })).status, 403);
    assert.equal(
      (
        await victim.nobody.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
          body: { spec: { token: 'x' } },
        })
      ).status,
      403,
    );
    const own = await victim.tenant.create(`${reviews}/selfsubjectaccessreviews`, { spec: { resourceAttributes } });
    assert.equal(own.status.allowed, false);
    const smuggled = await victim.tenant.create(`${reviews}/selfsubjectaccessreviews`, body);
    assert.equal(smuggled.status.allowed, false, 'a user in the body is not the user');
    const rules = await victim.tenant.create(`${reviews}/selfsubjectrulesreviews`, { spec: { namespace: 'theirs' } });
    assert.ok(!rules.status.resourceRules.some(({ resources }: Data) => resources.includes('secrets')));
    const elsewhere = { spec: { ...body.spec, resourceAttributes }, metadata: { namespace: 'mine' } };
    assert.equal(
      (await victim.tenant.request('POST', `${reviews}/namespaces/mine/localsubjectaccessreviews`, { body: elsewhere }))
        .status,
      422,
    );
  });

  test('an owner in another namespace is not reached: what is deleted with its owner is in the owner’s namespace', async () => {
    const [{ metadata }] = (await victim.administrator.get(`${theirs}/configmaps`)).items;
    const body = {
      metadata: {
        name: 'child',
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'treasure', uid: metadata.uid }],
      },
    };
    await victim.tenant.create(`${mine}/configmaps`, body);
    await victim.tenant.expect(200, 'DELETE', `${mine}/configmaps/child?propagationPolicy=Foreground`);
    await victim.isUntouched();
  });
});

describe('names that every object has are data', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf'];

  test('in data, labels, annotations and custom resources: kept or refused, never believed', async () => {
    for (const [at, name] of names.entries()) {
      const body = `{"metadata":{"name":"proto-${at}","annotations":{"a/${name === '__proto__' ? 'x' : name}":"y"}},"data":{"${name}":"kept"},"${name}":{"polluted":"yes"}}`;
      const { status, text } = await victim.tenant.request('POST', `${mine}/configmaps?fieldValidation=Ignore`, {
        body,
      });
      assert.equal(status, 201, text);
      const { text: read } = await victim.tenant.request('GET', `${mine}/configmaps/proto-${at}`);
      assert.ok(read.includes(`"data":{"${name}":"kept"}`), read);
      assert.ok(!read.includes('polluted'));
      const patch = `{"${name}":{"polluted":"yes"},"data":{"${name}":"patched","more":{"x":null}}}`;
      const answer = await victim.tenant.request('PATCH', `${mine}/configmaps/proto-${at}?fieldValidation=Ignore`, {
        body: patch.replace('{"x":null}', '"x"'),
        contentType: 'application/merge-patch+json',
      });
      assert.equal(answer.status, 200, answer.text);
      assert.ok(answer.text.includes(`"${name}":"patched"`));
      await victim.tenant.expect(200, 'DELETE', `${mine}/configmaps/proto-${at}`);
    }
    assert.deepEqual([({} as Data).polluted, Object.keys(Object.prototype)], [undefined, []]);
  });

  test('in selectors: what has no such label is not selected', async () => {
    for (const name of names.slice(1)) {
      const { items } = await victim.tenant.get(`${mine}/configmaps?labelSelector=${name}`);
      assert.deepEqual(items, [], name);
    }
    assert.equal((await victim.tenant.request('GET', `${mine}/configmaps?labelSelector=__proto__`)).status, 400);
  });

  test('in rules of roles: a right to them is a right to nothing else', async () => {
    await victim.grant('nobody', [{ apiGroups: names, resources: names, verbs: names, resourceNames: names }]);
    await victim.grant('nobody', [{ nonResourceURLs: ['/__proto__', '/constructor'], verbs: ['get'] }]);
    for (let attempt = 0; (await victim.nobody.request('GET', '/constructor')).status !== 404; attempt++)
      assert.ok(attempt < 500);
    for (const path of [
      `${theirs}/configmaps`,
      '/apis/constructor/v1/namespaces/mine/constructor',
      '/metrics',
      `${mine}/pods`,
    ]) {
      assert.equal((await victim.nobody.request('GET', path)).status, 403, path);
    }
  });

  test('in paths, queries and headers of every kind', async () => {
    for (const name of names) {
      for (const path of [
        `/${name}`,
        `/apis/${name}`,
        `/apis/${name}/v1`,
        `/api/${name}`,
        `/openapi/v3/${name}`,
        `${mine}/configmaps/trinket/${name}`,
      ]) {
        const { status } = await victim.administrator.request('GET', path);
        assert.ok(status === 404 || status === 400, `${path}: ${status}`);
      }
      const { status } = await victim.administrator.request('GET', `${mine}/configmaps?${name}=1`, {
        headers: { [name === '__proto__' ? 'x' : name]: name, 'content-type': name },
      });
      assert.equal(status, 200);
      const odd = await victim.administrator.request('GET', `${mine}/configmaps`, { headers: { accept: name } });
      assert.equal(odd.status, 406, name);
    }
  });
});
