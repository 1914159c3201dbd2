import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { Organization } from '../index.ts';
import { startTestPlatform, untilReason } from '../testing/platform.ts';

test('an organization does not adopt a namespace of another owner, whose users could add members', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(Namespace, { metadata: { name: 'organization-acme' } });
  await client.create(Organization, { metadata: { name: 'acme' }, spec: {} });
  const refused = await untilReason(client, Organization, 'acme', 'NamespaceInUse');
  assert.equal(refused.status?.namespace, undefined);
});
