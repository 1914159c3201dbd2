/** Discovery of the real kube-apiserver: both formats have the same content, and kubectl finds the same resources. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startRealServer } from '@hangar/api/testing';
import { installCrd } from '@hangar/testkit';
import { tool } from '../../../../tools/tool.ts';
import { connect } from '../connect.ts';
import type { DiscoveredKind } from './discovered-kind.ts';
import { KindMapper } from './kind-mapper.ts';

const run = promisify(execFile);
const token = 'mapper-token';

const sorted = (all: readonly DiscoveredKind[]): object[] =>
  all
    .map((kind) => ({ ...kind, subresources: kind.subresources.toSorted(), verbs: kind.verbs.toSorted() }))
    .toSorted((one, other) => (`${one.apiVersion} ${one.plural}` < `${other.apiVersion} ${other.plural}` ? -1 : 1));

test('the kinds of the real server are found by its new documents, its old ones, and as kubectl finds them', async () => {
  await using server = await startRealServer([], [{ token, user: 'mapper', groups: ['system:masters'] }]);
  await using opened = new AsyncDisposableStack();
  const credentials = { headers: () => ({ authorization: `Bearer ${token}` }) };
  const client = connect({ server: server.url, isInsecure: true, credentials });
  opened.defer(() => client.close());
  const mapper = new KindMapper(client);
  await assert.rejects(mapper.resource('widgets.example.com'), { code: 'UnknownKind' });
  await installCrd(client, {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  const fresh = new KindMapper(client);
  const found = await fresh.resource('wd');
  assert.equal((await client.list(found)).items.length, 0);
  const legacy = new KindMapper({
    raw: (request) => client.raw({ ...request, headers: { accept: 'application/json' } }),
  });
  const [all, older] = await Promise.all([fresh.all(), legacy.all()]);
  assert.deepEqual(sorted(all), sorted(older));
  const words = ['api-resources', '-o', 'name', '--server', server.url, '--token', token, '--insecure-skip-tls-verify'];
  const { stdout } = await run(await tool('kubectl'), words, { env: { HOME: '/nonexistent' } });
  for (const name of stdout.trim().split('\n')) {
    const { plural, group } = await fresh.resource(name);
    assert.equal(group === '' ? plural : `${plural}.${group}`, name);
  }
});
