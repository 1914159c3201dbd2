/** The official release, checked against the checksum that is published beside it. */

import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { place } from '../cache.ts';
import type { Download, Program } from '../catalogue.ts';
import { withElapsed } from '../elapsed.ts';
import { pinnedVersion } from '../pin.ts';
import type { World } from '../world.ts';
import type { Step } from './step.ts';

/** Short: it is the first contact, and behind a firewall the only one. */
const checksumTimeoutMs = 10_000;
const bodyTimeoutMs = 10 * 60_000;
const unpackTimeoutMs = 2 * 60_000;

export const download: Step = {
  name: 'download',
  async attempt(program, world) {
    const version = await pinnedVersion(program, world.setsFolder);
    const source = version === undefined ? undefined : program.download?.(version, world.platform);
    if (version === undefined || !source) return { reason: 'there is no official download' };
    const checksum = await fetchChecksum(source, world);
    if ('reason' in checksum) return checksum;
    world.log(`${program.name}: downloading ${source.url}`);
    const placed = await place(program, version, world, (partial) =>
      fetchProgram({ source, sha256: checksum.sha256, program, partial }, world),
    );
    if ('reason' in placed) return placed;
    return { path: placed.path, version, from: `download (${new URL(source.url).host})` };
  },
};

async function fetchChecksum(source: Download, world: World): Promise<{ sha256: string } | { reason: string }> {
  try {
    const response = await world.fetch(source.checksumUrl, { signal: AbortSignal.timeout(checksumTimeoutMs) });
    if (!response.ok) return { reason: `${source.checksumUrl} answers ${response.status}` };
    const sha256 = findChecksum(await response.text(), basename(source.url));
    return sha256 === undefined ? { reason: `${source.checksumUrl} does not list ${source.url}` } : { sha256 };
  } catch (error) {
    return { reason: `${source.checksumUrl} cannot be reached: ${describe(error)}` };
  }
}

/** The text is the checksum alone, or one line `<sha256>  <file name>` for each file of a release. */
export function findChecksum(text: string, fileName: string): string | undefined {
  if (/^[0-9a-f]{64}$/i.test(text.trim())) return text.trim().toLowerCase();
  for (const line of text.split('\n')) {
    const match = /^([0-9a-f]{64})\s+\*?(\S+)\s*$/i.exec(line);
    if (match?.[2] === fileName) return match[1]?.toLowerCase();
  }
  return undefined;
}

interface Fetch {
  source: Download;
  sha256: string;
  program: Program;
  partial: string;
}

async function fetchProgram({ source, sha256, program, partial }: Fetch, world: World): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-download-'));
  const file = join(folder, basename(source.url));
  try {
    const actual = await fetchFile(source.url, file, program, world);
    if ('reason' in actual) return actual.reason;
    if (actual.sha256 !== sha256) return `${source.url} has the SHA-256 ${actual.sha256}, published is ${sha256}`;
    if (source.member !== undefined) {
      // Both GNU tar and the tar of macOS see the kind of archive by themselves.
      const { failure, stderr } = await world.run('tar', ['-xf', file, '-C', folder, source.member], {
        timeoutMs: unpackTimeoutMs,
      });
      if (failure !== undefined) return `tar: ${failure}; ${stderr.trim()}`;
    }
    await copyFile(source.member === undefined ? file : join(folder, source.member), partial);
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fetchFile(
  url: string,
  file: string,
  program: Program,
  world: World,
): Promise<{ sha256: string } | { reason: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, callback: TransformCallback) {
      hash.update(chunk);
      bytes += chunk.length;
      callback(null, chunk);
    },
  });
  try {
    const response = await world.fetch(url, { signal: AbortSignal.timeout(bodyTimeoutMs) });
    if (!response.ok || !response.body) return { reason: `${url} answers ${response.status}` };
    const { body } = response;
    await withElapsed(
      world,
      (elapsed) => `${program.name}: downloading for ${elapsed}, ${Math.round(bytes / 1e6)} MB`,
      () => pipeline(body, measure, createWriteStream(file)),
    );
    return { sha256: hash.digest('hex') };
  } catch (error) {
    return { reason: `${url} cannot be read: ${describe(error)}` };
  }
}

/** fetch says only "fetch failed"; what failed is in the cause. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : error.message;
}
