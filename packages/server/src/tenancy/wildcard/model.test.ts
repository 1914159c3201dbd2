import { test } from 'node:test';
import { insistOnModel } from './model.ts';

for (const seed of [1, 2]) {
  test(`the stream of all control planes folds to what each of them lists, seed ${seed}`, () => insistOnModel(seed));
}
