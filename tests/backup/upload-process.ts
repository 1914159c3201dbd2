/**
 * Uploads a generated stream as an encrypted container to an S3 server and reads it back, and prints the growth of its memory as JSON. It is a
 * separate process, because the memory of other tests would hide it.
 */

import { backupKey, openDestination, readContainer, s3Storage, writeContainer } from '@hangar/backup';
import { manifest } from '@hangar/backup/testing';

const mebibyte = 1024 * 1024;
const [endpoint = '', accessKeyId = '', secretAccessKey = '', bucket = '', size = ''] = process.argv.slice(2);
const payloadBytes = Number(size) * mebibyte;
const key = backupKey(Buffer.alloc(32, 7));

/** Blocks that do not compress, each with its number; made without a source that needs memory. */
async function* generated(): AsyncGenerator<Uint8Array, void, void> {
  const block = Buffer.alloc(mebibyte);
  crypto.getRandomValues(block.subarray(0, 65_536));
  for (let at = 65_536; at < block.length; at += 65_536) {
    crypto.getRandomValues(block.subarray(at, at + 65_536));
  }
  for (let at = 0; at < payloadBytes; at += block.length) {
    block.writeUInt32LE(at / block.length, 0);
    yield block;
  }
}

const storage = s3Storage({ endpoint, bucket, credentials: { accessKeyId, secretAccessKey } });
const destination = openDestination(storage);
const residentBytes = (): number => process.memoryUsage.rss();
const startBytes = residentBytes();
let highestBytes = startBytes;
const timer = setInterval(() => void (highestBytes = Math.max(highestBytes, residentBytes())), 20);
const { sizeBytes } = await destination.put('generated', writeContainer(generated(), { manifest, key }));
const uploadGrowth = highestBytes - startBytes;
const { payload } = await readContainer((await destination.get('generated')).content, { key });
let readBytes = 0;
for await (const chunk of payload) readBytes += chunk.length;
clearInterval(timer);
storage.close();
const toMebibytes = (bytes: number): number => Math.round(bytes / mebibyte);
console.log(
  JSON.stringify({
    storedMebibytes: toMebibytes(sizeBytes),
    isComplete: readBytes === payloadBytes,
    uploadGrowthMebibytes: toMebibytes(uploadGrowth),
    growthMebibytes: toMebibytes(highestBytes - startBytes),
  }),
);
