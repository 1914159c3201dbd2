import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClientError } from '@hangar/client';
import { Logger } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import type { FleetController } from '../contract.ts';
import { Lane } from './lane.ts';

interface Line {
  readonly level: number;
}

/** Numeric level in logs. */
const warnLevel = 40;

/** A lane whose only request always fails with this error, in virtual time. */
function failingLane(error: Error) {
  const clock = virtualClock();
  const lines: Line[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line);
  const log = new Logger({ level: 'debug', format: 'json', clock, write });
  const controller: FleetController = {
    name: 'failing',
    wants: () => false,
    changed: () => undefined,
    async reconcile() {
      throw error;
    },
  };
  const clientOf = (): never => assert.fail('the controller uses no client');
  const lane = new Lane({ controller, world: { clock, log, clientOf }, isServed: () => true });
  lane.start();
  lane.ask({ cluster: 'red', name: 'x' } as Parameters<Lane['ask']>[0]);
  return { clock, lines, lane, warnings: () => lines.filter(({ level }) => level >= warnLevel) };
}

describe('failures of a reconcile', () => {
  test('UnknownKind of a new definition gets a warning after a minute of retries, without a stack trace', async () => {
    const error = new ClientError('UnknownKind', 'the server has no resource widgets.example.com');
    const { clock, lines, lane, warnings } = failingLane(error);
    await clock.advance(60_000);
    assert.ok(lines.length > 10, 'it was retried meanwhile');
    assert.deepEqual(warnings(), []);
    await clock.advance(120_000);
    assert.ok(warnings().length > 0);
    assert.ok(!JSON.stringify(lines).includes('lane.test.ts'));
    await lane.stop('the test is over');
  });

  test('other errors get a warning after a few retries', async () => {
    const { clock, lane, warnings } = failingLane(new ClientError('ConnectionFailed', 'connection refused'));
    await clock.advance(1_000);
    assert.ok(warnings().length > 0);
    await lane.stop('the test is over');
  });
});
