import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { Answer, ServerRequest, Sink } from '../http/message.ts';
import { requestInfo } from '../request/info.ts';
import { Auditor } from './auditor.ts';
import type { AuditEvent } from './event.ts';
import { AuditPolicy } from './policy.ts';

const user = { name: 'jane', uid: '7', groups: ['developers'], extra: { reason: ['on call'] } };

function audit(level: string, extra = ''): { events: AuditEvent[]; auditor: Auditor } {
  const events: AuditEvent[] = [];
  const policy = AuditPolicy.read(`apiVersion: audit.k8s.io/v1\nkind: Policy\n${extra}\nrules: [{level: ${level}}]`);
  const sink = { write: (event: string) => void events.push(JSON.parse(event) as AuditEvent), close: async () => {} };
  return { events, auditor: new Auditor({ policy, sinks: [sink], clock: systemClock }) };
}

const request = (target: string, method: string, body: unknown = undefined): ServerRequest => ({
  method,
  target,
  peer: { address: '10.1.2.3', certificate: undefined },
  header: (name) => ({ 'user-agent': 'kubectl/1', 'content-type': 'application/json' })[name],
  headerValues: () => [],
  headerNames: () => [],
  body: async () => Buffer.from(body === undefined ? '' : JSON.stringify(body)),
});

const answer = (status: number, object: object): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(object)),
});

const secret = {
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'default', managedFields: [{ manager: 'm' }] },
  data: { password: 'aGlkZGVu' },
};

async function create(level: string, extra = ''): Promise<AuditEvent[]> {
  const { events, auditor } = audit(level, extra);
  const sent = request('/api/v1/namespaces/default/secrets', 'POST', secret);
  const record = auditor.begin(sent, requestInfo('POST', sent.target, false), user);
  record?.decided('allow', 'because');
  await record?.request.body(1_000);
  record?.answered(answer(201, secret));
  return events;
}

test('an event tells who asked for what, when, from where, and what came of it', async () => {
  const [received, complete] = await create('Metadata');
  assert.equal(received?.stage, 'RequestReceived');
  assert.equal(complete?.stage, 'ResponseComplete');
  const { auditID, requestReceivedTimestamp, stageTimestamp, ...rest } = complete!;
  assert.match(auditID, /^[0-9a-f-]{36}$/);
  assert.match(requestReceivedTimestamp, /^\d{4}-.*\.\d{6}Z$/);
  assert.match(stageTimestamp, /^\d{4}-.*\.\d{6}Z$/);
  assert.deepEqual(rest, {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    stage: 'ResponseComplete',
    requestURI: '/api/v1/namespaces/default/secrets',
    verb: 'create',
    user: { username: 'jane', uid: '7', groups: ['developers'], extra: { reason: ['on call'] } },
    sourceIPs: ['10.1.2.3'],
    userAgent: 'kubectl/1',
    objectRef: { resource: 'secrets', namespace: 'default', name: 'a', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
    annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': 'because' },
  });
});

describe('large objects', () => {
  const large = (bytes: number, indent = 0): Buffer =>
    Buffer.from(JSON.stringify({ kind: 'ConfigMapList', items: [{ data: { a: 'x'.repeat(bytes) } }] }, null, indent));

  async function logged(body: Buffer, extra = ''): Promise<string> {
    const lines: string[] = [];
    const policy = AuditPolicy.read(
      `apiVersion: audit.k8s.io/v1\nkind: Policy\n${extra}\nrules: [{level: RequestResponse}]`,
    );
    const sink = { write: (line: string) => void lines.push(line), close: async () => {} };
    const auditor = new Auditor({ policy, sinks: [sink], clock: systemClock });
    const sent = request('/api/v1/configmaps', 'GET');
    const record = auditor.begin(sent, requestInfo('GET', sent.target, false), user)!;
    record.answered({ status: 200, headers: { 'content-type': 'application/json' }, body });
    const line = lines.at(-1)!;
    assert.ok(!line.includes('\n'), 'an event is one line');
    return line;
  }

  test('are logged as they were sent, without decoding them', async (t) => {
    const parse = t.mock.method(JSON, 'parse');
    const line = await logged(Buffer.concat([large(3_000_000), Buffer.from('\n')]));
    assert.equal(parse.mock.callCount(), 0);
    parse.mock.restore();
    const { responseObject, annotations } = JSON.parse(line) as AuditEvent;
    assert.deepEqual(responseObject, JSON.parse(large(3_000_000).toString()));
    assert.equal(annotations, undefined);
  });

  test('are left out, with an annotation, if they are larger or would have to be decoded', async () => {
    for (const line of [
      await logged(large(5_000_000)),
      await logged(large(1_100_000, 2)),
      await logged(large(1_100_000), 'omitManagedFields: true'),
    ]) {
      const { responseObject, annotations } = JSON.parse(line) as AuditEvent;
      assert.equal(responseObject, undefined);
      assert.deepEqual(annotations, { 'audit.k8s.io/truncated': 'true' });
    }
  });

  test('of several lines are logged in one line', async () => {
    const { responseObject } = JSON.parse(await logged(large(100, 2))) as AuditEvent;
    assert.deepEqual(responseObject, JSON.parse(large(100).toString()));
  });
});

test('below Request no body is in the log, below RequestResponse no answer', async () => {
  assert.doesNotMatch(JSON.stringify(await create('Metadata')), /aGlkZGVu/);
  const ofRequest = (await create('Request')).at(-1)!;
  assert.deepEqual(ofRequest.requestObject, secret);
  assert.equal(ofRequest.responseObject, undefined);
  assert.deepEqual((await create('RequestResponse')).at(-1)!.responseObject, secret);
  assert.deepEqual(await create('None'), []);
});

test('a sink can write an event without its objects', async () => {
  const policy = AuditPolicy.read('apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]');
  const lines: (string | undefined)[] = [];
  const write = (_: string, withoutObjects?: () => string): void => void lines.push(withoutObjects?.());
  const auditor = new Auditor({ policy, sinks: [{ write, close: async () => {} }], clock: systemClock });
  const sent = request('/api/v1/namespaces/default/secrets', 'POST', secret);
  const record = auditor.begin(sent, requestInfo('POST', sent.target, false), user)!;
  record.answered(answer(201, secret));
  const [received, complete] = lines;
  assert.equal(received, undefined, 'there are no objects yet');
  const event = JSON.parse(complete!) as AuditEvent;
  assert.equal(event.responseObject, undefined);
  assert.equal(event.objectRef?.['name'], 'a');
  assert.deepEqual(event.annotations, { 'audit.k8s.io/truncated': 'true' });
});

test('managedFields and stages are left out where the policy says so', async () => {
  const events = await create('RequestResponse', 'omitManagedFields: true\nomitStages: [RequestReceived]');
  assert.equal(events.length, 1);
  assert.doesNotMatch(JSON.stringify(events), /managedFields/);
});

test('a failure is told with its reason, and an answer carries the id of its event', () => {
  const { events, auditor } = audit('Metadata');
  const sent = request('/api/v1/namespaces/default/secrets/a', 'GET');
  const record = auditor.begin(sent, requestInfo('GET', sent.target, false), undefined)!;
  const { headers } = record.answered(
    answer(401, { kind: 'Status', status: 'Failure', message: 'Unauthorized', reason: 'Unauthorized', code: 401 }),
  );
  assert.equal(headers['audit-id'], events[0]!.auditID);
  assert.deepEqual(events[1]!.responseStatus, {
    metadata: {},
    code: 401,
    status: 'Failure',
    message: 'Unauthorized',
    reason: 'Unauthorized',
  });
  assert.deepEqual(events[1]!.user, {});
});

test('a watch is told when it begins and when it ends', () => {
  const { events, auditor } = audit('RequestResponse');
  const sent = request('/api/v1/secrets?watch=1', 'GET');
  const record = auditor.begin(sent, requestInfo('GET', '/api/v1/secrets', true), user)!;
  let close = (): void => assert.fail('nobody listens');
  const { body } = record.answered({ status: 200, headers: {}, body: { start: () => {} } });
  (body as { start(sink: Partial<Sink>): void }).start({ onClose: (callback) => (close = callback) });
  assert.deepEqual(
    events.map(({ stage }) => stage),
    ['RequestReceived', 'ResponseStarted'],
  );
  close();
  assert.equal(events.at(-1)!.stage, 'ResponseComplete');
});
