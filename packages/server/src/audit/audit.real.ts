/** The same requests to a real kube-apiserver and to Hangar produce the same audit events. */

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRealServer } from '@hangar/api/testing';
import { systemClock } from '@hangar/core';
import { startInProcess } from '../testing/in-process.ts';
import { Auditor } from './auditor.ts';
import type { AuditEvent } from './event.ts';
import { AuditPolicy } from './policy.ts';

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: None, userGroups: ['system:nodes', 'system:serviceaccounts']}
  - {level: None, users: ['system:apiserver']}
  - {level: Metadata, namespaces: [audited], resources: [{resources: [secrets]}]}
  - {level: RequestResponse, omitManagedFields: true, namespaces: [audited], resources: [{resources: [configmaps]}]}
  - {level: Request, namespaces: [audited], resources: [{resources: ['pods', 'pods/*']}]}
  - {level: Metadata, nonResourceURLs: ['/version', '/nothing*']}
  - {level: None}
`;

const namespace = '/api/v1/namespaces/audited';
const requests: readonly (readonly [method: string, path: string, body?: object, contentType?: string])[] = [
  ['POST', '/api/v1/namespaces', { metadata: { name: 'audited' } }],
  ['POST', `${namespace}/secrets`, { metadata: { name: 'a' }, stringData: { password: 'hidden' } }],
  ['GET', `${namespace}/secrets/a`],
  ['GET', `${namespace}/secrets?limit=5`],
  ['GET', `${namespace}/secrets/none`],
  ['POST', `${namespace}/configmaps`, { metadata: { name: 'a' }, data: { key: 'value' } }],
  ['POST', `${namespace}/configmaps`, { metadata: { name: 'a' }, data: { key: 'value' } }],
  ['PUT', `${namespace}/configmaps/a`, { metadata: { name: 'a' }, data: { key: 'other' } }],
  ['PATCH', `${namespace}/configmaps/a`, { data: { more: '1' } }, 'application/merge-patch+json'],
  ['POST', `${namespace}/configmaps`, { metadata: { name: 'Not Valid' } }],
  ['DELETE', `${namespace}/configmaps/a`],
  ['POST', `${namespace}/pods`, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }],
  ['PUT', `${namespace}/pods/p/status`, { metadata: { name: 'p' }, status: { phase: 'Running' } }],
  ['DELETE', `${namespace}/secrets`],
  ['GET', '/version'],
  ['GET', '/nothing/here'],
];

/** Drops values that differ with every run or depend on the test client. */
function compared(event: AuditEvent): object {
  const { auditID: _id, requestReceivedTimestamp: _r, stageTimestamp: _s, ...rest } = event;
  const { user: _user, userAgent: _agent, sourceIPs: _ips, ...told } = rest;
  const text = JSON.stringify(told, (name, value: unknown) =>
    ['uid', 'creationTimestamp', 'deletionTimestamp', 'time', 'resourceVersion'].includes(name) ? `(${name})` : value,
  );
  return JSON.parse(text) as object;
}

/** kube-apiserver logs the object of a request after defaulting; Hangar logs it as sent. */
function asSent({ requestObject }: AuditEvent, ours: AuditEvent | undefined): Pick<AuditEvent, 'requestObject'> {
  return requestObject === undefined ? {} : { requestObject: within(requestObject, ours?.requestObject) };
}

/** Returns the part of the first value that the second has too. */
function within(value: unknown, shape: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(shape)) return value.map((one, place) => within(one, shape[place]));
  if (typeof value !== 'object' || value === null || typeof shape !== 'object' || shape === null) return value;
  const names = Object.keys(value).filter((name) => Object.hasOwn(shape, name));
  return Object.fromEntries(
    names.map((name) => [name, within((value as never)[name], (shape as never)[name])] as const),
  );
}

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .map(([name, one]) => [name, sorted(one)] as const)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : value;

test('events are those of kube-apiserver, at every level', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-audit-'));
  try {
    await writeFile(join(folder, 'policy.yaml'), policy);
    const log = join(folder, 'audit.log');
    await using real = await startRealServer([
      `--audit-policy-file=${join(folder, 'policy.yaml')}`,
      `--audit-log-path=${log}`,
    ]);
    const events: AuditEvent[] = [];
    const sink = { write: (event: string) => void events.push(JSON.parse(event) as AuditEvent), close: async () => {} };
    const auditor = new Auditor({ policy: AuditPolicy.read(policy), sinks: [sink], clock: systemClock });
    await using ours = await startInProcess({ auditor });
    for (const [method, path, body, contentType] of requests) {
      const options = { ...(body && { body: JSON.stringify(body) }), ...(contentType && { contentType }) };
      const [theirs, mine] = [await real.request(method, path, options), await ours.request(method, path, options)];
      assert.equal(mine.status, theirs.status, `${method} ${path}: ${mine.body.toString()} ${theirs.body.toString()}`);
    }
    const expected = await eventsIn(log, events.length);
    assert.deepEqual(
      events.map((event) => sorted(compared(event))),
      expected.map((event, place) => sorted(compared({ ...event, ...asSent(event, events[place]) }))),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** kube-apiserver writes events after its responses. */
async function eventsIn(path: string, count: number): Promise<AuditEvent[]> {
  for (let attempt = 0; ; attempt++) {
    const events = (await readFile(path, 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as AuditEvent);
    if (events.length >= count || attempt === 50) return events;
    await sleep(100);
  }
}
