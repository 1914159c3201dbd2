/** Damaged replication streams: every decoded frame is the one that was sent at its place, and a complete stream is complete. */

import assert from 'node:assert/strict';
import { chance } from '@hangar/core';
import type { Random } from '@hangar/core';
import { damage } from '@hangar/core/testing';
import { StoreError } from '../errors.ts';
import { decodeFrames, encodeRequest } from './format.ts';
import { inChunks, randomFrames } from './testing.ts';

export async function fuzz(random: Random): Promise<void> {
  const frames = randomFrames(random);
  const stream = encodeRequest(frames);
  const received = chance(random, 0.15) ? stream : damage(random, stream);
  const complete = chance(random, 0.5);
  let count = 0;
  try {
    for await (const frame of decodeFrames(inChunks(random, received), { complete })) {
      assert.deepEqual(frame, frames[count], `frame ${count} has changed`);
      count++;
    }
    if (complete) assert.ok(stream.equals(received), 'a damaged stream is accepted');
    if (stream.equals(received)) assert.equal(count, frames.length, 'frames are missing');
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'ImportFailed') throw error;
    assert.ok(!stream.equals(received), `an intact stream is refused: ${error.message}`);
  }
}
