import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { AuditLog, meetings, presentAt } from './audit.ts';
import type { AuditedRequest } from './audit.ts';

const asked = (replica: string, beginMs: number, endMs: number, tenant = 'red'): AuditedRequest => ({
  tenant,
  verb: 'watch',
  uri: '/api/v1/pods?watch=1',
  user: 'admin',
  agent: `hangar-controller-manager.${replica}/v1.36.0 (linux/amd64) kubernetes/abc/shared-informers`,
  code: 200,
  beginMs,
  endMs,
});

describe('two managers in an audit log', () => {
  const table: [title: string, requests: AuditedRequest[], count: number][] = [
    ['one after the other', [asked('a', 0, 10), asked('b', 10, 20), asked('a', 20, 30)], 0],
    ['requests of one are under way at once', [asked('a', 0, 10), asked('a', 5, 20)], 0],
    ['two at a time, in two clusters', [asked('a', 0, 10), asked('b', 5, 20, 'green')], 0],
    ['a request while a watch of the other goes on', [asked('a', 0, 10), asked('a', 1, 2), asked('b', 9, 9)], 1],
    ['a watch that does not end', [asked('a', 0, Infinity), asked('b', 50, 51)], 1],
  ];
  for (const [title, requests, count] of table) {
    test(`${title}: ${count}`, () => assert.equal(meetings(requests).length, count));
  }

  test('who is there at a moment is whose request is under way', () => {
    const requests = [asked('a', 0, 10), asked('b', 10, Infinity)];
    assert.deepEqual(presentAt(requests, 'red', 5), ['a']);
    assert.deepEqual(presentAt(requests, 'red', 10), ['b']);
    assert.deepEqual(presentAt(requests, 'green', 5), []);
  });

  test('other programs do not count', () => {
    const kubectl = { ...asked('b', 5, 6), agent: 'kubectl/v1.36.0' };
    assert.deepEqual(meetings([asked('a', 0, 10), kubectl]), []);
  });
});

describe('reading an audit log', () => {
  const event = (auditID: string, stage: string, at: string): string =>
    `${JSON.stringify({
      auditID,
      stage,
      verb: 'get',
      requestURI: '/clusters/red/control-plane/api',
      user: { username: 'admin' },
      userAgent: 'x',
      requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
      stageTimestamp: `2026-01-01T00:00:${at}.000000Z`,
      annotations: { 'tenancy.hangar.dev/tenant': 'red' },
    })}\n`;

  async function read(text: string): Promise<AuditedRequest[]> {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-audit-'));
    try {
      const log = await AuditLog.prepare(folder);
      await appendFile(join(folder, 'audit.log'), text);
      return await log.read();
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  test('a request is from its first event to its last; one without goes on; half a line is not there yet', async () => {
    const text = event('1', 'RequestReceived', '00') + event('2', 'RequestReceived', '00');
    const [one, other, ...more] = await read(`${text}${event('1', 'ResponseComplete', '07')}{"auditID":`);
    assert.deepEqual([one!.endMs - one!.beginMs, other!.endMs, more.length], [7_000, Infinity, 0]);
  });

  test('an end without a beginning is a log of which something is missing', async () => {
    await assert.rejects(read(event('1', 'ResponseComplete', '07')), /only the end/);
  });
});
