import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Revision } from '@hangar/store';
import {
  configMap,
  configMaps,
  definition,
  definitions,
  TestServer,
  version,
  virtualClock,
  widget,
  widgets,
} from '../testing/test-server.ts';
import type { Data, TestServerOptions } from '../testing/test-server.ts';

const names = (list: Data): string[] => list.items.map((item: Data) => item.metadata.name);

async function withMaps(count: number, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await TestServer.start(options);
  for (let at = 0; at < count; at++) {
    const labels = { parity: at % 2 === 0 ? 'even' : 'odd' };
    await server.create(configMaps, configMap(`m${at}`, { at: String(at) }, { labels }));
  }
  return server;
}

/** Reads the whole list, page by page. */
async function pages(server: TestServer, query: string, between: (page: number) => Promise<unknown> = async () => {}) {
  const found: { names: string[]; version: string; remaining: number | undefined }[] = [];
  let token = '';
  do {
    const list = await server.get(`${configMaps}?${query}${token === '' ? '' : `&continue=${token}`}`);
    const { resourceVersion, remainingItemCount } = list.metadata;
    found.push({ names: names(list), version: resourceVersion, remaining: remainingItemCount });
    token = list.metadata.continue ?? '';
    if (token !== '') await between(found.length);
  } while (token !== '');
  return found;
}

// Reads from memory and from the store must be indistinguishable.
for (const [where, options] of [
  ['from memory', {}],
  ['from the store', { cacheBytesMax: 0 }],
] as const) {
  describe(`lists ${where}`, () => {
    test('pages stay on the snapshot of the first, whatever changes in between', async () => {
      await using server = await withMaps(7, options);
      const found = await pages(server, 'limit=3', async (page) => {
        await server.create(configMaps, configMap(`m0-new-${page}`));
        await server.create(configMaps, configMap(`m9-new-${page}`));
        await server.remove(`${configMaps}/m${page === 1 ? 5 : 6}`);
      });
      assert.deepEqual(
        found.map((page) => page.names),
        [['m0', 'm1', 'm2'], ['m3', 'm4', 'm5'], ['m6']],
      );
      assert.equal(new Set(found.map((page) => page.version)).size, 1);
      assert.deepEqual(
        found.map((page) => page.remaining),
        [4, 1, undefined],
      );
    });

    test('pages of selected objects are full, and say nothing of how many are left', async () => {
      await using server = await withMaps(9, options);
      const found = await pages(server, 'limit=2&labelSelector=parity%3Deven');
      assert.deepEqual(
        found.flatMap((page) => page.names),
        ['m0', 'm2', 'm4', 'm6', 'm8'],
      );
      for (const page of found.slice(0, 2)) assert.equal(page.names.length, 2);
      assert.ok(found.every((page) => page.remaining === undefined));
    });

    test('an expired continuation is 410 with a token that goes on from there', async () => {
      await using server = await withMaps(5, options);
      const first = await server.get(`${configMaps}?limit=2`);
      await server.create(configMaps, configMap('m3a'));
      await server.store.compact(await server.store.revision());
      const refused = await server.expect(410, 'GET', `${configMaps}?limit=2&continue=${first.metadata.continue}`);
      assert.equal(refused.reason, 'Expired');
      assert.match(refused.message, /continue parameter is too old/);
      const rest = await server.get(`${configMaps}?limit=9&continue=${refused.metadata.continue}`);
      assert.deepEqual(names(rest), ['m2', 'm3', 'm3a', 'm4']);
    });

    test('an exact version is that version, an old one is 410, and one to come is a timeout', async () => {
      await using server = await withMaps(2, { ...options, clock: virtualClock() });
      const { resourceVersion } = (await server.get(configMaps)).metadata;
      await server.create(configMaps, configMap('later'));
      const exact = `${configMaps}?resourceVersionMatch=Exact&resourceVersion=`;
      const then = await server.get(`${exact}${resourceVersion}`);
      assert.deepEqual([names(then), then.metadata.resourceVersion], [['m0', 'm1'], resourceVersion]);
      await server.expect(504, 'GET', `${exact}999999`);
      await server.expect(504, 'GET', `${exact}9999999999999999`);
      await server.run(server.store.compact(await server.run(server.store.revision())));
      assert.equal((await server.expect(410, 'GET', `${exact}${resourceVersion}`)).reason, 'Expired');
      // With a limit, a version alone means exactly that version.
      await server.expect(410, 'GET', `${configMaps}?limit=1&resourceVersion=${resourceVersion}`);
    });

    test('not older than a version is the present one, unless that is still to come', async () => {
      await using server = await withMaps(2, { ...options, clock: virtualClock() });
      for (const query of [
        'resourceVersion=0',
        'resourceVersion=1',
        'resourceVersion=1&resourceVersionMatch=NotOlderThan',
      ]) {
        assert.deepEqual(names(await server.get(`${configMaps}?${query}`)), ['m0', 'm1'], query);
      }
      const refused = await server.expect(504, 'GET', `${configMaps}?resourceVersion=999999`);
      assert.match(refused.message, /Too large resource version: 999999, current: \d+/);
      assert.equal(refused.details.causes[0].reason, 'ResourceVersionTooLarge');
    });

    test('a selector of one name finds one object, in its namespace or in all', async () => {
      await using server = await withMaps(2, { ...options, clock: virtualClock() });
      const one = 'fieldSelector=metadata.name%3Dm1';
      assert.deepEqual(names(await server.get(`${configMaps}?${one}`)), ['m1']);
      assert.deepEqual(names(await server.get(`/api/v1/configmaps?${one}`)), ['m1']);
      assert.deepEqual(names(await server.get(`/api/v1/configmaps?${one}%2Cmetadata.namespace%3Ddefault`)), ['m1']);
      assert.deepEqual(names(await server.get(`/api/v1/configmaps?${one}%2Cmetadata.namespace%3Dother`)), []);
      assert.deepEqual(names(await server.get(`${configMaps}?${one}&labelSelector=parity%3Deven`)), []);
      assert.deepEqual(names(await server.get(`${configMaps}?fieldSelector=metadata.name!%3Dm1`)), ['m0']);
      await server.expect(504, 'GET', `${configMaps}?${one}&resourceVersion=999999`);
      for (const odd of ['a%2Fb', '..', '%25', '']) {
        assert.deepEqual(names(await server.get(`${configMaps}?fieldSelector=metadata.name%3D${odd}`)), [], odd);
      }
      for (const odd of ['..%2Fother', 'a%2Fb', '%25']) {
        assert.deepEqual(
          names(await server.get(`/api/v1/configmaps?fieldSelector=metadata.namespace%3D${odd}`)),
          [],
          odd,
        );
      }
    });

    test('a list after an acknowledged write has it', async () => {
      await using server = await withMaps(1, options);
      for (let at = 0; at < 10; at++) {
        await server.create(configMaps, configMap(`n${at}`));
        assert.ok(names(await server.get(configMaps)).includes(`n${at}`));
        await server.remove(`${configMaps}/n${at}`);
        assert.deepEqual(names(await server.get(configMaps)), ['m0']);
      }
    });
  });
}

test('the rest of a list of all namespaces and a list of one namespace are never taken for each other', async () => {
  await using server = await TestServer.start();
  for (const namespace of ['a', 'b']) {
    await server.create('/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name: namespace } });
    await server.create(`/api/v1/namespaces/${namespace}/secrets`, {
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name: 'x' },
    });
  }
  const token = (start: string): string =>
    Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: -1, start })).toString('base64url');
  const everywhere = await server.get(`/api/v1/secrets?continue=${token('a/x')}`);
  assert.deepEqual(
    everywhere.items.map((one: Data) => one.metadata.namespace),
    ['a', 'b'],
  );
  const inOne = await server.get(`/api/v1/namespaces/a/secrets?continue=${token('x')}`);
  assert.deepEqual(
    inOne.items.map((one: Data) => one.metadata.namespace),
    ['a'],
  );
  const all = await server.get(`/api/v1/secrets?continue=${token('a/')}`);
  assert.equal(all.items.length, 2);
  assert.equal((await server.get('/api/v1/namespaces/a/secrets')).items.length, 1);
});

test('a continuation leads nowhere but into its own list', async () => {
  await using server = await withMaps(2, { clock: virtualClock() });
  const at = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const good = { v: 'meta.k8s.io/v1', rv: -1, start: 'm1' };
  assert.deepEqual(names(await server.get(`${configMaps}?continue=${at(good)}`)), ['m1']);
  assert.deepEqual(names(await server.get(`${configMaps}?continue=${at({ ...good, start: '/m1' })}`)), ['m1']);
  assert.deepEqual(names(await server.get(`${configMaps}?continue=${at({ ...good, start: '\u{10ffff}' })}`)), []);
  const refused: unknown[] = [
    { ...good, v: 'v0' },
    { ...good, rv: 0 },
    { ...good, rv: 1.5 },
    { ...good, rv: 1e300 },
    { ...good, rv: '7' },
    { ...good, start: '' },
    { ...good, start: '/' },
    { ...good, start: '//m1' },
    { ...good, start: '../kube-system/' },
    { ...good, start: 'a/../../secrets/' },
    { ...good, start: './m1' },
    { ...good, start: 7 },
    [],
    null,
    7,
  ];
  for (const value of refused) await server.expect(400, 'GET', `${configMaps}?continue=${at(value)}`);
  for (const text of ['%00', 'x', '!!!', at(good).slice(0, -5), at({ ...good, start: 'x'.repeat(3_000) })]) {
    const { status } = await server.request('GET', `${configMaps}?continue=${text}`);
    assert.ok(status === 400 || status === 200, `${text}: ${status}`);
  }
  await server.expect(400, 'GET', `${configMaps}?resourceVersion=5&continue=${at(good)}`);
  const { message } = await server.expect(504, 'GET', `${configMaps}?continue=${at({ ...good, rv: 999_999 })}`);
  assert.match(message, /Too large resource version: 999999/);
});

test('options that cannot be together are refused', async () => {
  await using server = await TestServer.start();
  const cases: [query: string, status: number, message: RegExp][] = [
    ['resourceVersionMatch=Exact', 422, /resourceVersionMatch is forbidden unless resourceVersion is provided/],
    ['resourceVersionMatch=Exact&resourceVersion=0', 422, /forbidden for resourceVersion "0"/],
    ['resourceVersionMatch=About&resourceVersion=1', 422, /Unsupported value: "About"/],
    ['sendInitialEvents=true', 422, /sendInitialEvents is forbidden for list/],
    ['resourceVersion=x', 400, /strconv.ParseUint: parsing "x": invalid syntax/],
    ['resourceVersion=-1', 400, /invalid syntax/],
    ['limit=x', 400, /strconv.ParseInt/],
    ['labelSelector=a%20b%20c', 400, /./],
    ['fieldSelector=spec.nodeName%3Dx', 400, /field label not supported: spec.nodeName|"spec.nodeName"/],
  ];
  for (const [query, status, message] of cases) {
    assert.match((await server.expect(status, 'GET', `${configMaps}?${query}`)).message, message, query);
  }
  assert.equal((await server.get(`${configMaps}?limit=-3`)).items.length, 0);
  assert.equal((await server.get(`${configMaps}?limit=9223372036854775807`)).items.length, 0);
});

test('a list is the same in every form', async () => {
  await using server = await withMaps(3);
  await server.create(definitions, definition());
  await server.create(widgets, widget('w', { size: 1 }));
  for (const path of [configMaps, widgets]) {
    const plain = await server.get(path);
    const yaml = await server.request('GET', path, { accept: 'application/yaml' });
    assert.match(yaml.text, /^apiVersion: /m);
    for (const metaVersion of ['v1', 'v1beta1']) {
      const form = (as: string) => ({ accept: `application/json;as=${as};v=${metaVersion};g=meta.k8s.io` });
      const table = await server.expect(200, 'GET', `${path}?includeObject=Object`, form('Table'));
      assert.equal(table.apiVersion, `meta.k8s.io/${metaVersion}`);
      assert.equal(table.kind, 'Table');
      assert.deepEqual(
        table.rows.map((row: Data) => row.object.metadata),
        plain.items.map((item: Data) => item.metadata),
      );
      const metadata = await server.expect(200, 'GET', path, form('PartialObjectMetadataList'));
      assert.equal(metadata.kind, 'PartialObjectMetadataList');
      assert.deepEqual(
        metadata.items.map((item: Data) => item.metadata),
        plain.items.map((item: Data) => item.metadata),
      );
    }
    const bare = await server.expect(200, 'GET', `${path}?includeObject=None`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    assert.ok(bare.rows.every((row: Data) => row.object === null || row.object === undefined));
  }
  await server.expect(406, 'GET', widgets, { accept: 'application/vnd.kubernetes.protobuf' });
  const { bytes, headers } = await server.request('GET', configMaps, { accept: 'application/vnd.kubernetes.protobuf' });
  assert.equal(bytes.subarray(0, 4).toString(), 'k8s\u0000');
  assert.equal(headers['content-type'], 'application/vnd.kubernetes.protobuf');
});

test('objects of a custom resource are shown as its schema is now, in lists that were asked for before, too', async () => {
  await using server = await TestServer.start();
  await server.create(definitions, definition());
  await server.create(widgets, widget('w', { size: 1 }));
  const before = (await server.get(widgets)).items[0];
  assert.equal(before.spec.colour, undefined);
  const stored = await server.get(`${definitions}/widgets.example.com`);
  const colour = { type: 'string', default: 'red' };
  stored.spec.versions = [version('v1', { size: { type: 'integer' }, colour })];
  await server.update(`${definitions}/widgets.example.com`, stored);
  assert.equal((await server.get(`${widgets}/w`)).spec.colour, 'red');
  const after = (await server.get(widgets)).items[0];
  assert.equal(after.spec.colour, 'red');
  assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion, 'nothing was written');
});

test('collections that push each other out of memory are listed completely all the same', async () => {
  await using server = await TestServer.start({ cacheBytesMax: 16_000 });
  const secrets = configMaps.replace('configmaps', 'secrets');
  const bodies = [
    [configMaps, (name: string) => configMap(name, { x: 'x'.repeat(200) })],
    [
      secrets,
      (name: string) => ({ kind: 'Secret', apiVersion: 'v1', metadata: { name }, stringData: { x: 'x'.repeat(200) } }),
    ],
  ] as const;
  await Promise.all(
    bodies.flatMap(([path, body]) =>
      Array.from({ length: 4 }, async (_, writer) => {
        for (let at = 0; at < 8; at++) {
          const name = `w${writer}-${at}`;
          await server.create(path, body(name));
          assert.ok(names(await server.get(path)).includes(name), `${path} ${name}`);
        }
      }),
    ),
  );
  for (const [path] of bodies) assert.equal((await server.get(path)).items.length, 32);
});

test('the bytes of a list are the same when they are asked for again', async () => {
  await using server = await withMaps(3);
  const [one, other] = [await server.request('GET', configMaps), await server.request('GET', configMaps)];
  assert.equal(one.text, other.text);
  await server.store.compact((await server.store.revision()) as Revision);
  assert.equal((await server.request('GET', configMaps)).text, one.text);
});
