/** The suite of drivers against a real PostgreSQL server on a loopback port, in a temporary folder. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { freePorts } from '../../../../../tools/free-ports.ts';
import { conformance } from '../conformance/index.ts';
import { openPostgres } from './postgres-database.ts';

/** PostgreSQL does not run as root. */
const nobodyId = 65_534;
const asUser = process.getuid?.() === 0 ? { uid: nobodyId, gid: nobodyId } : {};
const opened = new AsyncDisposableStack();
let address = '';
let databases = 0;

/** Debian installs the programs of each version in a folder; without them, apt-get as root installs the package. */
async function programs(): Promise<string> {
  const find = async (): Promise<string | undefined> => {
    const versions = await readdir('/usr/lib/postgresql').catch(() => []);
    const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1);
    return newest && `/usr/lib/postgresql/${newest}/bin`;
  };
  const found = await find();
  if (found !== undefined) return found;
  await run('apt-get', ['--quiet', 'install', '--yes', '--no-install-recommends', 'postgresql']);
  const installed = await find();
  assert.ok(installed, 'PostgreSQL is required: apt-get install postgresql');
  return installed;
}

async function run(program: string, args: readonly string[], options: object = {}): Promise<void> {
  const child = spawn(program, args, { stdio: 'ignore', ...options });
  const [code] = (await once(child, 'exit')) as [number];
  assert.equal(code, 0, `${program} ${args.join(' ')}`);
}

before(async () => {
  const bin = await programs();
  const folder = await mkdtemp(join(tmpdir(), 'hangar-postgres-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o700);
  if (asUser.uid !== undefined) await chown(folder, asUser.uid, asUser.gid);
  const data = join(folder, 'data');
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'hangar', '--auth=trust', '--encoding=UTF8', '--no-locale'], {
    ...asUser,
    cwd: folder,
  });
  const [port] = await freePorts(1);
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`, '-p', String(port)];
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...settings], { stdio: 'ignore', cwd: folder, ...asUser });
  const exited = once(server, 'exit');
  opened.defer(async () => {
    server.kill('SIGINT');
    await exited;
  });
  address = `postgres://hangar@127.0.0.1:${port}`;
  for (let isReady = false; !isReady;) {
    assert.equal(server.exitCode, null, 'the server runs');
    isReady = await run(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).then(
      () => true,
      () => false,
    );
  }
});
after(() => opened.disposeAsync());

conformance({
  name: 'PostgreSQL',
  async open() {
    const { default: pg } = await import('pg');
    const name = `activity_${++databases}`;
    const client = new pg.Client({ connectionString: `${address}/postgres` });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    const opened = {
      database: await openPostgres(`${address}/${name}`),
      async reopen() {
        await opened.database.close();
        opened.database = await openPostgres(`${address}/${name}`);
      },
      [Symbol.asyncDispose]: () => opened.database.close(),
    };
    return opened;
  },
});
