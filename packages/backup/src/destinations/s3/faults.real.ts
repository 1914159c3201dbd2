/** Faults between a real S3 server and the client: a broken backup is never listed, and old ones are kept. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { startFaultProxy } from '../../testing/fault-proxy.ts';
import type { Fault, FaultProxy, ProxiedRequest } from '../../testing/fault-proxy.ts';
import { startMoto, startVersitygw } from '../../testing/s3-servers.ts';
import type { S3Server } from '../../testing/s3-servers.ts';
import { collected, inPieces } from '../../testing/streams.ts';
import { dataKeys, names } from '../conformance/index.ts';
import { openDestination } from '../destination.ts';
import { s3Storage } from './s3-storage.ts';

const mebibyte = 1024 * 1024;
const small = Buffer.from('a small backup');
const large = Buffer.from(seededRandom(1).bytes(10 * mebibyte + 12_345));

const isPart = ({ method, target }: ProxiedRequest): boolean => method === 'PUT' && target.includes('partNumber=');
const isComplete = ({ method, target }: ProxiedRequest): boolean => method === 'POST' && target.includes('uploadId=');
const isRecord = ({ method, target }: ProxiedRequest): boolean => method === 'PUT' && target.includes('.backup.json');
const isData = ({ method, target }: ProxiedRequest): boolean => method === 'GET' && target.includes('/data/');

for (const [name, start] of [
  ['versitygw', startVersitygw],
  ['moto', startMoto],
] as const) {
  describe(`faults in front of ${name}`, () => {
    let server: S3Server;
    let proxy: FaultProxy;
    let buckets = 0;

    before(
      async () => {
        server = await start();
        proxy = await startFaultProxy(server.endpoint);
      },
      { timeout: 20 * 60_000 },
    );
    after(async () => {
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });

    /** A destination behind the proxy with one backup, `old`. */
    async function withOld() {
      const bucket = `bucket-${++buckets}`;
      await server.createBucket(bucket);
      const options = { bucket, credentials: server.credentials, partBytes: 5 * mebibyte, attemptsMax: 3 };
      const quick = { backOff: { baseMs: 5, maxMs: 20 }, idleTimeoutMs: 2_000 };
      proxy.fault = () => undefined;
      const storage = s3Storage({ ...options, ...quick, endpoint: proxy.endpoint });
      const destination = openDestination(storage);
      await destination.put('old', inPieces(small));
      return { destination, storage };
    }

    /** The first `times` requests that match have the fault. */
    const inject = (fault: Fault, matches: (request: ProxiedRequest) => boolean, times = Infinity): void => {
      let left = times;
      proxy.fault = (request) => (matches(request) && left-- > 0 ? fault : undefined);
    };

    /** The faults of connections do not depend on the server: the slower one gets those whose result does. */
    const isTested = (title: string): boolean =>
      name === 'versitygw' || title.startsWith('a lost response') || title.startsWith('a completion');

    const passing: readonly (readonly [string, Fault, (request: ProxiedRequest) => boolean])[] = [
      ['a refused part', 'refuse', isPart],
      ['a part that is cut', 'cut request', isPart],
      ['a lost response to a part', 'lose response', isPart],
      ['a part that stalls', 'stall', isPart],
      ['a server that is overloaded', { status: 503, code: 'SlowDown' }, isPart],
      ['a server with an internal error', { status: 500, code: 'InternalError' }, isPart],
      ['an error in a response with status 200', { status: 200, code: 'InternalError' }, isComplete],
      ['a lost response to the completion', 'lose response', isComplete],
      ['a lost response to the record', 'lose response', isRecord],
      ['a download that is cut', 'cut response', isData],
    ];
    for (const [title, fault, matches] of passing.filter(([title]) => isTested(title))) {
      test(`${title} is retried, and the backup is good`, async () => {
        const { destination } = await withOld();
        const before = proxy.faults;
        inject(fault, matches, 1);
        await destination.put('new', inPieces(large));
        assert.ok((await collected((await destination.get('new')).content)).equals(large));
        assert.equal(proxy.faults, before + 1, 'the fault happened');
        assert.deepEqual(await names(destination), ['new', 'old']);
      });
    }

    const lasting: readonly (readonly [string, Fault, (request: ProxiedRequest) => boolean, string])[] = [
      ['refused parts', 'refuse', isPart, 'Unavailable'],
      ['parts that are cut', 'cut request', isPart, 'Unavailable'],
      ['an overloaded server', { status: 503, code: 'SlowDown' }, isPart, 'Unavailable'],
      ['denied access', { status: 403, code: 'AccessDenied' }, isPart, 'AccessDenied'],
      ['expired credentials', { status: 403, code: 'ExpiredToken' }, isPart, 'CredentialsExpired'],
      ['a full bucket', { status: 507, code: 'InsufficientStorage' }, isPart, 'StorageFull'],
      ['a quota', { status: 403, code: 'QuotaExceeded' }, isPart, 'StorageFull'],
      ['a completion that is refused', { status: 400, code: 'InvalidPart' }, isComplete, 'StorageFailed'],
      ['a record that cannot be written', { status: 507, code: 'InsufficientStorage' }, isRecord, 'StorageFull'],
      ['corrupted records', 'corrupt request', isRecord, 'Unavailable'],
    ];
    for (const [title, fault, matches, code] of lasting.filter(([title]) => isTested(title))) {
      test(`${title}: the upload fails with ${code}, and leaves the old backup and no parts`, async () => {
        const { destination, storage } = await withOld();
        inject(fault, matches);
        await assert.rejects(destination.put('new', inPieces(large)), { code });
        await assert.rejects(destination.put('old', inPieces(large), { ifExists: 'replace' }), { code });
        proxy.fault = () => undefined;
        assert.deepEqual(await names(destination), ['old']);
        assert.ok((await collected((await destination.get('old')).content)).equals(small));
        assert.equal(await storage.removeIncomplete('data/', Infinity), 0, 'no parts are left');
        // Data without a response to its record may be needed, and is removed later.
        if (code !== 'Unavailable') assert.equal((await dataKeys(storage)).length, 1);
      });
    }

    test('corrupted parts never become a backup', async () => {
      const { destination } = await withOld();
      inject('corrupt request', isPart);
      // A server that verifies checksums refuses the parts. Otherwise the bytes are read again.
      const code = name === 'moto' ? 'Corrupted' : 'Unavailable';
      await assert.rejects(destination.put('new', inPieces(large)), { code });
      proxy.fault = () => undefined;
      assert.deepEqual(await names(destination), ['old']);
    });

    test('a corrupted download is detected', async () => {
      const { destination } = await withOld();
      inject('corrupt response', isData);
      await assert.rejects(collected((await destination.get('old')).content), { code: 'Corrupted' });
    });

    test('a server that does not answer is reported after the last attempt', async () => {
      const { destination } = await withOld();
      inject('refuse', () => true);
      await assert.rejects(names(destination), { code: 'Unavailable' });
      await assert.rejects(destination.get('old'), { code: 'Unavailable' });
    });
  });
}
