import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyWeightMax } from '@hangar/api';
import { parseYamlBody } from './yaml-body.ts';

/** Longer than the synchronous limit. */
const large = Buffer.from(`data: |\n${'  line of a text\n'.repeat(6_000)}`);
const parse = (controlPlane: string): Promise<unknown> =>
  parseYamlBody(large, { findRepeated: false, weightMax: bodyWeightMax, controlPlane });

test('a control plane with too many large YAML bodies is answered 429, and another one is not', async () => {
  const outcomes = await Promise.allSettled([...Array.from({ length: 16 }, () => parse('busy')), parse('other')]);
  const refused = outcomes.flatMap((outcome, at) =>
    outcome.status === 'rejected' ? [[at, outcome.reason.status.code]] : [],
  );
  // One is being parsed and four wait.
  assert.deepEqual(
    refused,
    Array.from({ length: 11 }, (_, at) => [at + 5, 429]),
  );
});
