import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { etagOf } from '@hangar/api';
import { openApiV2, openApiV2Protobuf } from '@hangar/api/openapi';
import { CacheBudget } from '../objects/cache-budget.ts';
import type { Catalogue } from '../resources/catalogue.ts';
import { definition, definitions, TestServer, version } from '../testing/test-server.ts';
import { ServedDocuments } from './served-documents.ts';

let planes = 0;

function plane(budget: CacheBudget, content = `content ${planes++}`) {
  const catalogue = { content, generation: 1 };
  const others = { generation: 1 };
  return { catalogue, documents: new ServedDocuments({ catalogue: catalogue as Catalogue, budget, others }) };
}

const notMerged = (): boolean => false;

describe('a document that takes long', () => {
  test('is built once for all who ask at once', async () => {
    const { documents } = plane(new CacheBudget(1_000_000));
    let built = 0;
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    const ask = () => documents.built('/a', notMerged, () => (built++, promise));
    const asking = Array.from({ length: 16 }, ask);
    resolve(Buffer.from('a'));
    const answers = await Promise.all(asking);
    assert.equal(built, 1);
    assert.ok(answers.every((one) => one === answers[0]));
    assert.equal(answers[0]!.etag, etagOf('a'));
  });

  test('is built one at a time, whatever changes meanwhile; who waited gets what is newest then', async () => {
    const { documents, catalogue } = plane(new CacheBudget(1_000_000));
    const start = catalogue.content;
    const built: string[] = [];
    let atOnce = 0;
    const build = async (): Promise<Buffer> => {
      const { content } = catalogue;
      built.push(content);
      assert.equal(++atOnce, 1);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce--;
      return Buffer.from(content);
    };
    const asking: Promise<unknown>[] = [];
    for (let change = 0; change < 10; change++) {
      catalogue.content = `${start} ${change}`;
      asking.push(documents.built('/a', notMerged, build), documents.built('/b', notMerged, build));
    }
    await Promise.all(asking);
    assert.deepEqual(built, [`${start} 0`, `${start} 9`, `${start} 9`]);
    assert.equal((await documents.built('/a', notMerged, build)).bytes.toString(), `${start} 9`);
  });

  test('that cannot be built fails for who began it, and is tried again', async () => {
    const { documents } = plane(new CacheBudget(1_000_000));
    let tries = 0;
    const ask = () =>
      documents.built('/a', notMerged, async () => {
        if (tries++ === 0) throw new Error('no');
        return Buffer.from('a');
      });
    const [first, second] = await Promise.allSettled([ask(), ask()]);
    assert.deepEqual([first.status, second.status, tries], ['rejected', 'fulfilled', 2]);
  });

  test('is built again for each change of what other servers serve', async () => {
    const { documents, catalogue } = plane(new CacheBudget(1_000_000));
    let built = 0;
    const ask = () =>
      documents.built(
        '/a',
        () => true,
        async () => Buffer.from(String(built++)),
      );
    assert.equal(await ask(), await ask());
    catalogue.generation++;
    assert.equal((await ask()).bytes.toString(), '1');
  });
});

describe('under the budget', () => {
  test('a control plane has its newest documents only', () => {
    const budget = new CacheBudget(1_000_000);
    const { documents, catalogue } = plane(budget);
    for (let change = 0; change < 100; change++) {
      catalogue.content = `newest ${change}`;
      documents.get('/a', false, () => Buffer.alloc(1_000));
      documents.get('/b', false, () => Buffer.alloc(10));
    }
    assert.deepEqual([budget.count, budget.bytes], [2, 1_010]);
  });

  test('what another control plane shows stays, and is not made again', () => {
    const budget = new CacheBudget(1_000_000);
    const [one, other] = [plane(budget, 'shared'), plane(budget, 'shared')];
    const document = one.documents.get('/a', false, () => Buffer.from('a'));
    assert.equal(other.documents.get('/a', false, assert.fail), document);
    one.catalogue.content = 'changed';
    one.documents.get('/a', false, () => Buffer.from('b'));
    assert.equal(budget.count, 2);
    other.catalogue.content = 'changed';
    other.documents.get('/a', false, assert.fail);
    assert.equal(budget.count, 1);
  });
});

describe('OpenAPI v2', () => {
  const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

  test('is what is written as a whole, with its ETag, after every change', async () => {
    await using server = await TestServer.start();
    const { catalogue } = server.plane;
    const check = async (): Promise<void> => {
      const json = Buffer.from(JSON.stringify(openApiV2(catalogue.groups)));
      const expected = { 'application/json': json, [protobuf]: openApiV2Protobuf(JSON.parse(json.toString())) };
      for (const [accept, bytes] of Object.entries(expected)) {
        const answer = await server.request('GET', '/openapi/v2', { accept });
        assert.ok(answer.bytes.equals(bytes), accept);
        assert.equal(answer.headers['etag'], etagOf(bytes));
      }
    };
    await check();
    await server.create(definitions, definition());
    await check();
    const current = await server.get(`${definitions}/widgets.example.com`);
    current.spec.versions = [version('v1', {}), version('v2', { size: { type: 'integer' } }, { storage: false })];
    current.spec.versions[0].schema.openAPIV3Schema.description = 'changed';
    await server.update(`${definitions}/widgets.example.com`, current);
    await check();
    await server.remove(`${definitions}/widgets.example.com`);
    await check();
  });

  test('is written as a whole where a kind is called as one that is built in', async () => {
    await using server = await TestServer.start();
    await server.create(definitions, definition());
    const { catalogue } = server.plane;
    const widgets = catalogue.definition('widgets.example.com')!;
    // The name of its schema is `io.k8s.api.apps.v1.Deployment`.
    const group = 'apps.api.k8s.io';
    const resource = { ...widgets.versions[0]!.resource, kind: 'Deployment', subresources: [] };
    const versions = [{ name: 'v1', resource }];
    catalogue.put({ ...widgets, name: `widgets.${group}`, group, versions, content: 'another one' });
    const answer = await server.request('GET', '/openapi/v2', { accept: 'application/json' });
    assert.ok(answer.bytes.equals(Buffer.from(JSON.stringify(openApiV2(catalogue.groups)))));
  });
});
