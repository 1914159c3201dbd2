import assert from 'node:assert/strict';
import { test } from 'node:test';
import { architecturePicture, pictureProblems } from './architecture-picture.ts';

test('the committed picture is the one that the script draws', async () => {
  assert.deepEqual(await pictureProblems(), []);
});

test('every text of the picture is inside of the drawing', () => {
  const svg = architecturePicture();
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!;
  for (const [, x, y] of svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)"/g)) {
    assert.ok(Number(x) < Number(width) && Number(y) < Number(height));
  }
});
