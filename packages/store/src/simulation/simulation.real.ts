/** Simulates more worlds of the store than the unit suite has time for. */

import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { Campaign } from './campaign.ts';
import { simulate } from './simulate.ts';

describe('the simulated store', () => {
  test('sixty seeds violate nothing', async () => {
    const printed: string[] = [];
    const campaign = new Campaign({ print: (text) => printed.push(text) });
    assert.ok(await campaign.healthy({ from: 0, seeds: 60 }), printed.join(''));
    assert.match(printed.join(''), /no violation/);
  });

  test('worlds differ in kind: crashes, tenants, compactions, full disks and leases all happen', async () => {
    let diary = '';
    for (let seed = 0; seed < 25; seed++) {
      diary += (await simulate(seed)).trace.until(Infinity, Infinity).join('\n');
    }
    for (const happening of [
      'power cut',
      'the process is dead',
      'the store is closed',
      'the disk refuses writes',
      't/10 writer0',
      'compacted ',
      'conflict @',
      'StorageFailed',
      'StorageFull',
      'LeaseNotFound',
      'renewed ',
      ': mark @',
      ': Compacted',
    ]) {
      assert.ok(diary.includes(happening), happening);
    }
  });
});
