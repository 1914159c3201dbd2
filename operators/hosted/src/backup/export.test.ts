import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations } from '../api/index.ts';
import { annotationsToKeep } from './export.ts';

test('a backup has the size of volumes that have grown, and no state of the operator', () => {
  const kept = { [annotations.rendering]: '1', [annotations.etcdVolumeSize]: '12Gi' };
  const state = { [annotations.etcdUpgrade]: '{}', [annotations.restored]: 'x', other: 'y' };
  assert.deepEqual(annotationsToKeep({ ...kept, ...state }), kept);
  assert.deepEqual(annotationsToKeep(undefined), {});
});
