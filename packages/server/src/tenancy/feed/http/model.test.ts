import { test } from 'node:test';
import { insistOnFeedModel } from '../model.ts';
import { HttpFeed } from './testing.ts';

for (const seed of [1, 2, 3, 4]) {
  test(`over HTTP a feed folds to what the tenants that there are have stored, whenever it began, seed ${seed}`, () =>
    insistOnFeedModel(seed, { feedOf: (server) => new HttpFeed(server) }));
}
