/**
 * Tests the client against the real kube-apiserver with both protocols: the same suite as against Hangar, and behaviour of a real server:
 * it compacts old revisions, and sends GOAWAY to spread its connections.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import { systemTransport } from '@hangar/core';
import type { Transport } from '@hangar/core';
import type { Client } from '../client.ts';
import type { ClusterConfig } from '../config/cluster-config.ts';
import { defineKind } from '../kind.ts';
import { httpTransport } from '../transport/http-transport.ts';
import { RestClient } from './rest-client.ts';
import { clientSuite } from './testing/client-suite.ts';

const token = randomUUID();
/** The maximum of the flag. */
const goAwayChance = '--goaway-chance=0.02';
const ConfigMap = defineKind({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true });
const namespace = 'default';

let started: Promise<RealServer> | undefined;
const clients: Client[] = [];

const server = (): Promise<RealServer> =>
  (started ??= startRealServer([goAwayChance], [{ token, user: 'tester', groups: ['system:masters'] }]));

const config = async (): Promise<ClusterConfig> => ({
  server: (await server()).url,
  isInsecure: true,
  credentials: { headers: () => ({ authorization: `Bearer ${token}` }) },
});

function remembered<T extends Client>(client: T): T {
  clients.push(client);
  return client;
}

after(async () => {
  for (const client of clients) await client.close();
  await (await started)?.[Symbol.asyncDispose]();
});

for (const protocol of ['h2', 'http/1.1'] as const) {
  clientSuite(`the real kube-apiserver over ${protocol}`, async () => {
    const own = await config();
    const options = { protocols: [protocol], environment: {} };
    return {
      issuesTokens: true,
      client: (rest) => remembered(new RestClient(httpTransport(own, options), rest)),
      clientAs: (impersonate) => remembered(new RestClient(httpTransport({ ...own, impersonate }, options))),
    };
  });
}

test('a server that goes away again and again fails nobody, also who writes', async () => {
  let connections = 0;
  const transport: Transport = {
    ...systemTransport,
    connect(address, signal) {
      connections++;
      return systemTransport.connect(address, signal);
    },
  };
  const client = remembered(
    new RestClient(httpTransport(await config(), { transport, environment: {} }), { retry: false }),
  );
  const key = { namespace, name: 'counted' };
  await client.create(ConfigMap, { metadata: key });
  let done = 0;
  const loop = async (): Promise<void> => {
    while (done++ < 3_000) {
      if (done % 10 > 0) await client.get(ConfigMap, key);
      else await client.patch(ConfigMap, key, { type: 'merge', body: { data: { at: `${done}` } } });
    }
  };
  await Promise.all(Array.from({ length: 32 }, loop));
  assert.ok(connections > 10, `it went away ${connections - 1} times`);
});

test('a list whose revision was forgotten under way goes on with what the server offers instead', async () => {
  const client = remembered(new RestClient(httpTransport(await config(), { environment: {} })));
  for (let at = 0; at < 9; at++) await client.create(ConfigMap, { metadata: { namespace, name: `page-${at}` } });
  const { resourceVersion, continue: next } = await client.list(ConfigMap, { namespace, limit: 3 });
  await compact((await server()).etcdUrl, Number(resourceVersion));
  const began = JSON.parse(Buffer.from(next!, 'base64url').toString()) as object;
  const forgotten = Buffer.from(JSON.stringify({ ...began, rv: 1 })).toString('base64url');
  await assert.rejects(client.list(ConfigMap, { namespace, limit: 3, continue: forgotten }), { code: 'Expired' });
  const names: string[] = [];
  for await (const { metadata } of client.listAll(ConfigMap, { namespace, limit: 3, continue: forgotten })) {
    names.push(metadata.name!);
  }
  assert.ok(names.includes('page-8'));
});

/** Uses the JSON gateway of etcd. */
async function compact(etcdUrl: string, revision: number): Promise<void> {
  const body = JSON.stringify({ revision, physical: true });
  const answer = await fetch(`${etcdUrl}/v3/kv/compaction`, { method: 'POST', body });
  assert.equal(answer.status, 200, await answer.text());
}
