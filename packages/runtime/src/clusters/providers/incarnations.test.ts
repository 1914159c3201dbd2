import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Incarnations } from './incarnations.ts';

test('only one that comes in the place of another is not alone, until somebody says that it is', () => {
  const incarnations = new Incarnations();
  const first = incarnations.seen('a', '1');
  assert.equal(first.isAlone, true);
  assert.equal(incarnations.seen('a', '1'), first);
  incarnations.gone('a');
  incarnations.gone('nobody');
  assert.equal(incarnations.seen('a', '1').isAlone, true, 'it is the same one');
  const second = incarnations.seen('a', '2');
  assert.equal(second.isAlone, false, 'also where its deletion was not seen');
  assert.equal(incarnations.seen('a', '2'), second);
  second.isAlone = true;
  assert.equal(incarnations.seen('a', '2').isAlone, true);
  incarnations.gone('a');
  assert.equal(incarnations.seen('a', '3').isAlone, false);
  incarnations.gone('a');
  assert.equal(incarnations.seen('a', '4').isAlone, false, 'and not by going and coming');
});

test('names that are gone are not kept for ever', () => {
  const incarnations = new Incarnations();
  for (let at = 0; at <= 10_000; at++) {
    incarnations.seen(`a${at}`, '1');
    incarnations.gone(`a${at}`);
  }
  assert.equal(incarnations.seen('a0', '2').isAlone, true);
  assert.equal(incarnations.seen('a1', '2').isAlone, false);
});
