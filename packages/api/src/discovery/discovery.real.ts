/** Discovery documents against those of a real kube-apiserver that serves the same definitions. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RealServer } from '../testing/real-server.ts';
import {
  aggregatedDiscovery,
  aggregatedMediaType,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  builtinServedGroups,
  pathOfVersion,
} from './index.ts';
import { servedGroupsOf } from './testing/definitions.ts';
import { sampleDefinitions } from './testing/samples.ts';
import { serveSamples } from './testing/serve-samples.ts';

const groups = [...builtinServedGroups(), ...servedGroupsOf(sampleDefinitions)];

let server: RealServer;
before(async () => {
  server = await serveSamples();
});
after(async () => server?.[Symbol.asyncDispose]());

async function published(path: string, accept = 'application/json'): Promise<string> {
  const { status, body } = await server.request('GET', path, { accept });
  assert.equal(status, 200, body.toString());
  return body.toString().trimEnd();
}

test('the roots of discovery are the same bytes', async () => {
  const versions = await published('/api');
  const [, address = ''] = /"serverAddress":"([^"]*)"/.exec(versions)!;
  assert.equal(JSON.stringify(apiVersions(groups, address)), versions);
  assert.equal(JSON.stringify(apiGroupList(groups)), await published('/apis'));
});

test('aggregated discovery is the same bytes, under the same content type', async () => {
  for (const path of ['/api', '/apis'] as const) {
    const { headers } = await server.request('GET', path, { accept: aggregatedMediaType });
    assert.equal(headers['content-type'], aggregatedMediaType);
    assert.equal(JSON.stringify(aggregatedDiscovery(path, groups)), await published(path, aggregatedMediaType));
  }
});

test('every group and group-version is the same, with storage version hashes', async () => {
  for (const group of groups) {
    if (group.name !== '') assert.equal(JSON.stringify(apiGroup(group)), await published(`/apis/${group.name}`));
    for (const version of group.versions) {
      const where = { group: group.name, version: version.name };
      const theirs = JSON.parse(await published(`/${pathOfVersion(where)}`)) as { resources: { name: string }[] };
      const ours = apiResourceList(group.name, version) as unknown as typeof theirs;
      // The real server lists custom resources in no order.
      const resources = [...ours.resources].sort((a, b) => indexIn(theirs, a.name) - indexIn(theirs, b.name));
      assert.equal(JSON.stringify({ ...ours, resources }), JSON.stringify(theirs));
    }
  }
});

const indexIn = ({ resources }: { resources: { name: string }[] }, wanted: string): number =>
  resources.findIndex(({ name }) => name === wanted);
