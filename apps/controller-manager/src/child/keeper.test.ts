/** Tests `keeper.sh` alone: with invalid input, and without input. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { keeperScript, membersOf } from '@hangar/programs';
import { until } from './testing/processes.ts';
import { temporaryFolder } from './testing/programs.ts';

function keeper(context: TestContext, command: readonly string[], env: Record<string, string> = {}) {
  const child = spawn('bash', [keeperScript, 'argv0', ...command], {
    detached: true,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  context.after(() => endGroupOf(child.pid!));
  let said = '';
  (child.stdio[4] as Duplex).on('data', (text: Buffer) => (said += text.toString()));
  const voucher = child.stdio[3] as Duplex;
  voucher.on('error', () => {});
  return {
    voucher,
    said: () => said,
    begun: () => until(() => /^pid \d+$/m.test(said) && said.includes('guarded'), 5_000, 'begun'),
    gone: async (withinMs: number) => {
      const [tookMs] = await Promise.all([
        until(() => membersOf(child.pid!).length === 0, withinMs, 'gone'),
        child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined,
      ]);
      return tookMs;
    },
  };
}

/** Kills all members of the group, also without its leader. */
function endGroupOf(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group does not exist.
  }
}

test('nothing is started before somebody vouches for it', async (context) => {
  const { voucher, said, gone } = keeper(context, ['/bin/sleep', '1000']);
  voucher.end();
  await gone(2_000);
  assert.equal(said(), '');
});

test('a program ends when its time is over, in every locale', async (context) => {
  for (const locale of ['C', 'de_DE.UTF-8']) {
    const { voucher, said, begun, gone } = keeper(context, ['/bin/sleep', '1000'], { LC_ALL: locale });
    voucher.write('0.400\n');
    await begun();
    await gone(2_000);
    assert.match(said(), /^fenced$/m);
  }
});

test('every line gives time anew, and the last one counts', async (context) => {
  const { voucher, said, begun, gone } = keeper(context, ['/bin/sleep', '1000']);
  voucher.write('3600\n');
  await begun();
  voucher.write('100.5\n0.300\n');
  const tookMs = await gone(2_000);
  assert.ok(tookMs > 200, `${tookMs}`);
  assert.match(said(), /^fenced$/m);
});

test('a word that is no time ends the program', async (context) => {
  const touched = join(temporaryFolder(context), 'touched');
  for (const word of ['0', '0.000', '-1', 'for ever', '', '1e3', `x[$(touch ${touched})]`]) {
    const { voucher, begun, gone } = keeper(context, ['/bin/sleep', '1000']);
    voucher.write('3600\n');
    await begun();
    voucher.write(`${word}\n`);
    await gone(2_000);
  }
  assert.ok(!existsSync(touched));
});

test('a program that ignores every signal ends when nobody is there any more', async (context) => {
  const { voucher, said, begun, gone } = keeper(context, [
    '/bin/bash',
    '-c',
    `trap '' HUP INT TERM PIPE; sleep 1000; :`,
  ]);
  voucher.write('3600\n');
  await begun();
  voucher.end();
  await gone(1_000);
  assert.doesNotMatch(said(), /fenced|status/);
});

test('signals to the group are for the program: keeper and guard tell of its end', async (context) => {
  const go = join(temporaryFolder(context), 'go');
  const signals = `trap '' HUP TERM; trap 'exit 4' USR1; kill -HUP 0; kill -TERM 0; kill -USR1 0; sleep 1000`;
  const command = `until [[ -e ${go} ]]; do sleep 0.02; done; ${signals}`;
  const { voucher, said, begun, gone } = keeper(context, ['/bin/bash', '-c', command]);
  voucher.write('3600\n');
  // Not before the keeper reports that it ignores them.
  await begun();
  await writeFile(go, '');
  await gone(5_000);
  assert.match(said(), /^status 4$/m);
});

test('words with spaces and all that shells know arrive as they are', async (context) => {
  const words = ['a b', '$(exit)', "it's", '*', '', '-x', 'ä\nö'];
  const { voucher, said, gone } = keeper(context, [
    process.execPath,
    '-e',
    `process.exit(JSON.stringify(process.argv.slice(1)) === ${JSON.stringify(JSON.stringify(words))} ? 5 : 6)`,
    '--',
    ...words,
  ]);
  voucher.write('3600\n');
  await gone(5_000);
  assert.match(said(), /^status 5$/m);
});
