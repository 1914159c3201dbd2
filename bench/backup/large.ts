/** One large virtual control plane: backup to S3 and to a folder, restore into a new one and in place. */

import { mkdir } from 'node:fs/promises';
import { startVersitygw } from '@hangar/backup/testing';
import { Hangar } from '../tenants/hangar.ts';
import { work } from './work.ts';
import type { Transferred } from './worker.ts';

export interface LargeRow extends Transferred {
  readonly what: string;
  readonly serverGrowthMiB: number;
}

export function large(mebibytes: number): Promise<readonly LargeRow[]> {
  return Hangar.use([], async (hangar) => {
    await using s3 = await startVersitygw();
    await s3.createBucket('backups');
    const { endpoint, credentials } = s3;
    const bucket = JSON.stringify({ endpoint, credentials, bucket: 'backups' });
    const folder = hangar.file('backups');
    await mkdir(folder);
    const rows: LargeRow[] = [];
    const step = async (what: string, verb: string, ...words: readonly string[]): Promise<void> => {
      const { result, serverGrowthMiB } = await work<Transferred>(hangar, verb, ...words);
      rows.push({ what, ...result, serverGrowthMiB });
      const { mebibytes: size, seconds, growthMiB } = result;
      console.log(
        `  ${what}: ${(size / seconds).toFixed(0)} MiB/s, worker + ${growthMiB} MiB, server + ${serverGrowthMiB.toFixed(0)} MiB`,
      );
    };
    await step('restore of a generated export', 'fill', 'large', String(mebibytes));
    await step('backup to a folder', 'backup', folder, 'large');
    await step('backup to S3', 'backup', bucket, 'large');
    await step('restore from a folder', 'restore', folder, 'large', 'copy-of-folder');
    await step('restore from S3', 'restore', bucket, 'large', 'copy-of-bucket');
    await step('restore in place from S3', 'replace', bucket, 'large', 'copy-of-folder');
    return rows;
  });
}
