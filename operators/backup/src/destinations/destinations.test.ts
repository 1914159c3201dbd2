import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Reader } from '@hangar/client';
import { CodedError, seededRandom, systemClock } from '@hangar/core';
import { annotations } from '../api/index.ts';
import type { S3CredentialsReference } from '../api/index.ts';
import { backupFolder } from './folders.ts';
import { openBackupDestination } from './open.ts';
import { readEncryptionKey, readS3Secret } from './secrets.ts';

interface TestSecret {
  readonly data: Readonly<Record<string, string | Buffer>>;
  readonly allowed?: string;
}

/** Secrets by `namespace/name`. */
const readerOf = (secrets: Readonly<Record<string, TestSecret>>): Pick<Reader, 'get'> =>
  ({
    get(_: unknown, { namespace, name }: { namespace: string; name: string }) {
      const found = secrets[`${namespace}/${name}`];
      if (!found) return Promise.reject(new CodedError('NotFound', `${name} not found`));
      const data = Object.entries(found.data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
      const own = found.allowed === undefined ? {} : { [annotations.allowedNamespaces]: found.allowed };
      return Promise.resolve({ metadata: { namespace, name, annotations: own }, data: Object.fromEntries(data) });
    },
  }) as unknown as Pick<Reader, 'get'>;

const keys = { accessKeyID: 'id', secretAccessKey: 'secret\n' };
const key = Buffer.alloc(32, 9);
const reader = readerOf({
  'team/s3': { data: { ...keys, sessionToken: 'token', 'ca.crt': 'PEM' } },
  'team/renamed': { data: { user: 'id', password: 'secret' } },
  'team/partial': { data: { accessKeyID: 'id' } },
  'other/private': { data: keys },
  'other/shared': { data: keys, allowed: 'first, team' },
  'team/key': { data: { key: `${key.toString('base64')}\n`, hex: key.toString('hex'), raw: key, short: 'abc' } },
});
const reading = { reader, namespace: 'team' };

describe('credentials of S3', () => {
  test('come from the keys of a Secret', async () => {
    assert.deepEqual(await readS3Secret({ name: 's3' }, reading), {
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' },
      ca: 'PEM',
    });
    const renamed = { name: 'renamed', accessKeyIDKey: 'user', secretAccessKeyKey: 'password' };
    assert.equal((await readS3Secret(renamed, reading)).credentials.accessKeyId, 'id');
    assert.equal((await readS3Secret({ name: 'shared', namespace: 'other' }, reading)).credentials.accessKeyId, 'id');
  });

  const refused: readonly (readonly [S3CredentialsReference, string, RegExp])[] = [
    [{ name: 'none' }, 'SecretNotFound', /Secret "team\/none" does not exist; create it/],
    [{ name: 'partial' }, 'SecretInvalid', /has no key "secretAccessKey"/],
    [{ name: 'private', namespace: 'other' }, 'SecretNotAllowed', /allowed-namespaces must contain "team"/],
    [{ name: 'none', namespace: 'other' }, 'SecretNotAllowed', /allowed-namespaces must contain "team"/],
  ];
  for (const [reference, code, message] of refused) {
    test(`${JSON.stringify(reference)}: ${code}`, () =>
      assert.rejects(readS3Secret(reference, reading), { code, message }));
  }
});

test('an encryption key is 32 bytes as base64, hexadecimal or binary', async () => {
  for (const field of [undefined, 'hex', 'raw']) {
    assert.deepEqual((await readEncryptionKey({ name: 'key', key: field! }, reading))?.bytes, key);
  }
  assert.equal(await readEncryptionKey(undefined, reading), undefined);
  await assert.rejects(readEncryptionKey({ name: 'key', key: 'short' }, reading), {
    code: 'SecretInvalid',
    message: /Secret "team\/key", key "short": .*openssl rand/,
  });
});

describe('folders', () => {
  let root: string;
  before(async () => void (root = await mkdtemp(join(tmpdir(), 'hangar-folders-'))));
  after(() => rm(root, { recursive: true }));

  test('each namespace has its own', async () => {
    assert.equal(await backupFolder({ root, namespace: 'team', name: 'daily' }), join(root, 'team', 'daily'));
    assert.equal(await backupFolder({ root, namespace: 'team', name: 'daily' }), join(root, 'team', 'daily'));
    assert.deepEqual(await readdir(root), ['team']);
  });

  test('names that lead elsewhere are refused', async () => {
    for (const name of ['..', '.', '', 'a/b', '../../etc', 'A', 'x\0']) {
      await assert.rejects(backupFolder({ root, namespace: 'team', name }), { code: 'DestinationInvalid' }, name);
    }
  });

  test('symbolic links and files are refused', async () => {
    await mkdir(join(root, 'links'));
    await symlink('/', join(root, 'links', 'slash'));
    await symlink(join(root, 'team'), join(root, 'other'));
    await writeFile(join(root, 'links', 'file'), '');
    for (const [namespace, name] of [
      ['links', 'slash'],
      ['links', 'file'],
      ['other', 'daily'],
    ] as const) {
      await assert.rejects(backupFolder({ root, namespace, name }), { code: 'FolderNotAvailable' });
    }
  });

  test('a root that does not exist is not created', async () => {
    const missing = join(root, 'missing');
    for (const one of [missing, undefined]) {
      await assert.rejects(backupFolder({ root: one, namespace: 'team', name: 'daily' }), {
        code: 'FolderNotAvailable',
      });
    }
    assert.ok(!(await readdir(root)).includes('missing'));
  });

  test('a destination in a folder stores backups, and a malformed bucket is refused', async () => {
    const source = { reader, folder: root, clock: systemClock, random: seededRandom(1) };
    using opened = await openBackupDestination(source, { spec: { folder: { name: 'daily' } }, namespace: 'team' });
    assert.equal(opened.location, 'folder daily');
    assert.deepEqual(await Array.fromAsync(opened.destination.list()), []);
    const s3 = { bucket: 'Not A Bucket', credentials: { name: 's3' } };
    await assert.rejects(openBackupDestination(source, { spec: { s3 }, namespace: 'team' }), {
      code: 'DestinationInvalid',
    });
  });
});
