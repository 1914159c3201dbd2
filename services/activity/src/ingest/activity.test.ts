import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPolicies } from '../policy/defaults.ts';
import { PolicySet } from '../policy/policy.ts';
import { auditEvent, batchOf } from '../testing/events.ts';
import { readBatch } from './batch.ts';

const limits = { nowUs: Date.now() * 1_000, oldestUs: 0 };

test('columns and activities are short, also if users and names are long', () => {
  const long = '\u{1F600}'.repeat(50_000);
  const event = auditEvent({
    user: `x${long}`,
    verb: long,
    reference: { name: long, namespace: long, apiVersion: long, uid: long },
    response: { kind: long, metadata: { name: long, uid: long }, spec: { replicas: 1 } },
  });
  for (const items of [event, { ...event, verb: 'create', impersonatedUser: { username: long } }]) {
    const [made] = readBatch(batchOf(items), { plane: undefined }, new PolicySet(defaultPolicies), limits).events;
    const { text, ...columns } = made!.row;
    assert.ok(text.length <= 32 * 1024);
    for (const value of Object.values(columns)) if (typeof value === 'string') assert.ok(value.length <= 1_024);
    assert.ok(columns.username.isWellFormed());
    const activity = made!.draft?.render({});
    if (activity !== undefined) assert.ok(activity.length < 16 * 1024, `${activity.length} characters`);
  }
});
