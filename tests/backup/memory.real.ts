/** The memory of an upload does not depend on its length. `HANGAR_BACKUP_MEBIBYTES=4096` uploads 4 GiB. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startVersitygw } from '@hangar/backup/testing';
import { run } from '../../tools/run.ts';

/** Three parts of 8 MiB, and buffers that V8 has not collected: it begins at 64 MiB of them. */
const [uploadGrowthMax, growthMax] = [100, 128];
const mebibytes = Number(process.env['HANGAR_BACKUP_MEBIBYTES'] ?? 512);

test(
  `an upload of ${mebibytes} MiB needs at most 100 MiB of memory, and its download 128 MiB`,
  { timeout: 30 * 60_000 },
  async (t) => {
    await using s3 = await startVersitygw();
    await s3.createBucket('backups');
    const { endpoint, credentials } = s3;
    const program = join(import.meta.dirname, 'upload-process.ts');
    const words = [
      program,
      endpoint,
      credentials.accessKeyId,
      credentials.secretAccessKey,
      'backups',
      String(mebibytes),
    ];
    const { failure, stdout, stderr } = await run(process.execPath, words, { timeoutMs: 25 * 60_000 });
    assert.equal(failure, undefined, stderr);
    t.diagnostic(stdout.trim());
    const result = JSON.parse(stdout) as Readonly<Record<string, number | boolean>>;
    assert.equal(result['isComplete'], true);
    assert.ok(Number(result['storedMebibytes']) >= mebibytes, 'the payload does not compress');
    assert.ok(Number(result['uploadGrowthMebibytes']) <= uploadGrowthMax, stdout);
    assert.ok(Number(result['growthMebibytes']) <= growthMax, stdout);
  },
);
