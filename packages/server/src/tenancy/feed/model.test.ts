import { test } from 'node:test';
import { insistOnFeedModel } from './model.ts';

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`a feed folds to what the tenants that there are have stored, whenever it began, seed ${seed}`, () =>
    insistOnFeedModel(seed));
}
