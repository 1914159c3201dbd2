/**
 * The whole server, as the program composes it, on a port of this machine; and its clients:
 *
 *   `administrator`  a client certificate in system:masters
 *   `tenant`         ClusterRole `admin` in the namespace `mine`, nothing in `theirs`
 *   `nobody`         has a token and no permissions
 *   `stranger`       has no credentials
 *
 * `theirs` contains the objects that the tenant must never see or change: `treasure`, a ConfigMap and a Secret.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import type { Failpoints } from '@hangar/core';
import { readOptions } from '../../../apps/platform/src/options/options.ts';
import type { PlatformOptions } from '../../../apps/platform/src/options/options.ts';
import { start } from '../../../apps/platform/src/compose/start.ts';
import type { Running } from '../../../apps/platform/src/compose/start.ts';
import { Client } from './client.ts';
import type { Data, Identity } from './client.ts';

export const treasure = 'Y0ur-eyes-must-not-see-this';
export const mine = '/api/v1/namespaces/mine';
export const theirs = '/api/v1/namespaces/theirs';
export const roles = '/apis/rbac.authorization.k8s.io/v1';
/** Static tokens: tests for leaks search for these. */
export const tenantToken = 'tenant-token-7f3a9';
export const nobodyToken = 'nobody-token-5c1d2';

const world = { clock: systemClock, random: systemRandom };

export interface VictimOptions {
  /** Additional flags; may use the folder. */
  readonly flags?: (folder: string) => readonly string[];
  readonly store?: 'memory' | 'embedded';
  readonly failpoints?: Failpoints;
  /** Limits that have no flag, or override one. */
  readonly quarantine?: PlatformOptions['quarantine'];
}

export class Victim implements AsyncDisposable {
  readonly folder: string;
  readonly port: number;
  readonly ca: string;
  /** All log lines, at the level `debug`. */
  readonly log: string[];
  readonly administrator: Client;
  readonly tenant: Client;
  readonly nobody: Client;
  readonly stranger: Client;
  readonly #running: Running;
  readonly #clients: Client[] = [];
  #grants = 0;

  private constructor(folder: string, running: Running, log: string[], admin: KeyPair, ca: string) {
    this.folder = folder;
    this.#running = running;
    this.log = log;
    this.port = Number(new URL(running.url).port);
    this.ca = ca;
    this.administrator = this.client({ certificate: admin });
    this.tenant = this.client({ token: tenantToken });
    this.nobody = this.client({ token: nobodyToken });
    this.stranger = this.client({});
  }

  static async start({ flags, store = 'memory', failpoints, quarantine }: VictimOptions = {}): Promise<Victim> {
    const folder = mkdtempSync(join(tmpdir(), 'hangar-attacks-'));
    try {
      const tokens = join(folder, 'tokens.csv');
      writeFileSync(tokens, `${tenantToken},tenant,t-uid,\n${nobodyToken},nobody,n-uid,\n`, { mode: 0o600 });
      const options = readOptions([
        '--bare',
        `--data-dir=${folder}/data`,
        '--listen=127.0.0.1:0',
        `--token-file=${tokens}`,
        `--store=${store}`,
        // No controller creates accounts here.
        '--disable-admission-plugins=ServiceAccount',
        ...(flags?.(folder) ?? []),
      ]);
      assert.ok(typeof options === 'object');
      const log: string[] = [];
      const logger = new Logger({
        level: 'debug',
        format: 'json',
        clock: systemClock,
        write: (line) => log.push(line),
      });
      const running = await start(
        { ...options, quarantine: { ...options.quarantine, ...quarantine } },
        logger,
        failpoints,
      );
      const pki = async (name: string): Promise<string> => readFile(`${folder}/data/pki/${name}`, 'utf8');
      const admin = { certificate: await pki('admin.crt'), key: await pki('admin.key') };
      const victim = new Victim(folder, running, log, admin, await pki('ca.crt'));
      await victim.#furnish();
      return victim;
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  client(identity: Identity): Client {
    const client = new Client(this.port, this.ca, identity);
    this.#clients.push(client);
    return client;
  }

  pki(name: string): Promise<string> {
    return readFile(`${this.folder}/data/pki/${name}`, 'utf8');
  }

  /** Returns a user's certificate, as the server's own CA would issue it. */
  async certificateFor(commonName: string, organizations: readonly string[] = []): Promise<KeyPair> {
    const authority = { certificate: this.ca, key: await this.pki('ca.key') };
    return issueCertificate(authority, { commonName, organizations, usage: 'client', days: 1 }, world);
  }

  /** Grants a user rules in a namespace, or everywhere. */
  async grant(user: string, rules: readonly object[], namespace?: string): Promise<void> {
    const [kind, base] =
      namespace === undefined ? ['ClusterRole', roles] : ['Role', `${roles}/namespaces/${namespace}`];
    const name = `grant-${++this.#grants}`;
    await this.administrator.create(`${base}/${kind.toLowerCase()}s`, { metadata: { name }, rules });
    await this.administrator.create(`${base}/${kind.toLowerCase()}bindings`, {
      metadata: { name },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
      roleRef: { kind, apiGroup: 'rbac.authorization.k8s.io', name },
    });
  }

  /** Asserts that the protected objects are unchanged. */
  async isUntouched(): Promise<void> {
    const { data } = await this.administrator.get(`${theirs}/configmaps/treasure`);
    assert.deepEqual(data, { secret: treasure });
    const { items } = await this.administrator.get(`${theirs}/configmaps`);
    assert.deepEqual(
      items.map((item: Data) => item.metadata.name),
      ['treasure'],
      'nothing was put there',
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.#running.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #furnish(): Promise<void> {
    const { administrator } = this;
    for (const name of ['mine', 'theirs']) await administrator.create('/api/v1/namespaces', { metadata: { name } });
    const metadata = { name: 'treasure' };
    await administrator.create(`${theirs}/configmaps`, { metadata, data: { secret: treasure } });
    await administrator.create(`${theirs}/secrets`, { metadata, stringData: { secret: treasure } });
    await administrator.create(`${mine}/configmaps`, { metadata: { name: 'trinket' }, data: { secret: 'none' } });
    await administrator.create(`${roles}/namespaces/mine/rolebindings`, {
      metadata: { name: 'tenant' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'tenant' }],
      roleRef: { kind: 'ClusterRole', apiGroup: 'rbac.authorization.k8s.io', name: 'admin' },
    });
    await this.tenant.get(`${mine}/configmaps/trinket`);
  }
}
