import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import { Auditor } from '../audit/auditor.ts';
import type { AuditEvent } from '../audit/event.ts';
import { LogFile } from '../audit/log-file.ts';
import { AuditPolicy } from '../audit/policy.ts';
import { TenancyServer } from '../testing/tenancy-server.ts';
import { configMap, configMaps } from '../testing/test-server.ts';

const annotation = 'tenancy.hangar.dev/tenant';

/** Runs `act` and returns the audit events that the server wrote meanwhile. */
async function audited(level: string, act: (server: TenancyServer) => Promise<unknown>): Promise<AuditEvent[]> {
  const directory = await mkdtemp(join(tmpdir(), 'hangar-audit-'));
  try {
    const path = join(directory, 'audit.log');
    const policy = AuditPolicy.read(`apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: ${level}}]`);
    const onError = (error: Error): void => assert.fail(error);
    const log = new LogFile({ path, bytesMax: 0, backupsMax: 0, ageMaxMs: 0, clock: systemClock, onError });
    const auditor = new Auditor({ policy, sinks: [log], clock: systemClock });
    {
      await using server = await TenancyServer.open({ auditor });
      await act(server);
    }
    await auditor.close();
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    return lines.map((line) => JSON.parse(line) as AuditEvent);
  } finally {
    await rm(directory, { recursive: true });
  }
}

describe('the audit log', () => {
  for (const level of ['Metadata', 'RequestResponse']) {
    test(`says of requests to a tenant whose they are, and what the client asked for, at level ${level}`, async () => {
      const events = await audited(level, async (server) => {
        const path = await server.make('demo', { hosts: ['demo.example.com'] });
        await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
        await server.expect(200, 'GET', `/projects/demo/control-plane${configMaps}/a?pretty=true`);
        await server.expect(200, 'GET', `${configMaps}/a`, { headers: { host: 'demo.example.com' } });
        await server.expect(401, 'GET', `${path}${configMaps}/a`, { token: 'wrong' });
      });
      const ofDemo = events.filter(({ annotations }) => annotations?.[annotation] === 'demo');
      const told = ofDemo.map(({ stage, verb, requestURI }) => `${stage} ${verb} ${requestURI}`);
      const created = `/clusters/demo/control-plane${configMaps}`;
      const got = `/projects/demo/control-plane${configMaps}/a?pretty=true`;
      assert.deepEqual(told, [
        `RequestReceived create ${created}`,
        `ResponseComplete create ${created}`,
        `RequestReceived get ${got}`,
        `ResponseComplete get ${got}`,
        `RequestReceived get ${configMaps}/a`,
        `ResponseComplete get ${configMaps}/a`,
        `RequestReceived get ${created}/a`,
        `ResponseComplete get ${created}/a`,
      ]);
      assert.equal(ofDemo[1]!.annotations!['authorization.k8s.io/decision'], 'allow', 'beside the others');
      assert.deepEqual(ofDemo[1]!.objectRef, {
        resource: 'configmaps',
        namespace: 'default',
        name: 'a',
        apiVersion: 'v1',
      });
      assert.equal(ofDemo.at(-1)!.responseStatus!['code'], 401);
    });
  }

  test('says of a stranger by which host it came: it asked nothing of the management plane', async () => {
    const events = await audited('Metadata', async (server) => {
      await server.make('demo', { hosts: ['demo.example.com'] });
      await server.expect(401, 'GET', `${configMaps}/a`, {
        token: 'wrong',
        headers: { host: 'demo.example.com:6443' },
      });
    });
    const refused = events.filter(({ responseStatus }) => responseStatus?.['code'] === 401);
    assert.deepEqual(
      refused.map(({ requestURI }) => requestURI),
      [`https://demo.example.com${configMaps}/a`],
    );
  });

  test('says what was refused because the tenant is suspended, and to whom', async () => {
    const events = await audited('Metadata', async (server) => {
      const path = await server.make('demo', { suspension: 'Offline' });
      await server.expect(503, 'GET', `${path}${configMaps}/a`);
    });
    const refused = events.find(({ responseStatus }) => responseStatus?.['code'] === 503);
    assert.equal(refused?.annotations?.[annotation], 'demo');
    assert.equal(refused.requestURI, `/clusters/demo/control-plane${configMaps}/a`);
    assert.equal(refused.user.username, 'admin');
  });

  test('says nothing of tenants in what is asked of the management plane', async () => {
    const events = await audited('Metadata', async (server) => {
      await server.make('demo');
      await server.expect(404, 'GET', `/clusters/nobodys/control-plane${configMaps}`);
    });
    assert.ok(events.some(({ requestURI }) => requestURI === `/clusters/nobodys/control-plane${configMaps}`));
    assert.ok(events.length >= 4);
    for (const { annotations } of events) assert.equal(annotations?.[annotation], undefined);
  });
});
