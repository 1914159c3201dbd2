import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decisionPicture, decisionPictureProblems } from './decision-picture.ts';

test('the committed picture of the decision is the one that the script draws', async () => {
  assert.deepEqual(await decisionPictureProblems(), []);
});

test('every text of the picture of the decision is inside of the drawing', () => {
  const svg = decisionPicture();
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!;
  for (const [, x, y] of svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)"/g)) {
    assert.ok(Number(x) < Number(width) && Number(y) < Number(height));
  }
});
