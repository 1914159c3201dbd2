import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign } from './campaign.ts';

const seeds = 500;

test(`${seeds} generated sequences of requests end alike on the real server and on Hangar`, async () => {
  const { findings, passing, sequences, requests, accepted } = await campaign({
    from: 0,
    seeds,
    findingsMax: 20,
    tell: (text) => console.log(text),
  });
  console.log(`${sequences} sequences, ${requests} requests, ${accepted} accepted, ${passing.length} unsteady`);
  assert.deepEqual(findings, [], 'differences that docs/conformance.md does not list');
  assert.ok(accepted > requests / 4, 'most requests are refused: the generator makes no sense');
});
