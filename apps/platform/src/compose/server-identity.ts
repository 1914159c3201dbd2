/**
 * The identity of this server: its keys and certificates, the certificate of its port, and the kubeconfig of its administrator. Renewed
 * while it runs.
 */

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemClock, systemRandom } from '@hangar/core';
import { kubeconfig } from '@hangar/pki';
import type { PlatformOptions } from '../options/options.ts';
import { isAny, serviceAddress } from './addresses.ts';
import { loadCredentials } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { writeKubeconfigFile } from './kubeconfig-file.ts';
import { servingPair } from './serving.ts';
import type { ServingPair } from './serving.ts';

export class ServerIdentity {
  /** As of the start: the port follows changes of the files. */
  readonly pair: ServingPair;
  readonly #options: PlatformOptions;
  #credentials: Credentials;

  private constructor(options: PlatformOptions, credentials: Credentials, pair: ServingPair) {
    this.#options = options;
    this.#credentials = credentials;
    this.pair = pair;
  }

  /** Creates missing files. Rejects with a UsageError when a configured file is invalid. */
  static async load(options: PlatformOptions): Promise<ServerIdentity> {
    const credentials = await credentialsOf(options);
    const pair = await servingPair(options.serving, credentials, options.dataDirectory);
    return new ServerIdentity(options, credentials, pair);
  }

  get credentials(): Credentials {
    return this.#credentials;
  }

  /** CA of the port's certificate, from any issuer. PEM. */
  servingCa(): string {
    const { authority } = this.#credentials;
    if (this.#options.serving.certificateFile === undefined) return authority.certificate;
    return `${authority.certificate}${this.pair.certificate}`;
  }

  async writeKubeconfig(url: string): Promise<void> {
    const { kubeconfig: path } = this.#options;
    await mkdir(dirname(path), { recursive: true });
    const text = kubeconfig({
      name: 'hangar',
      user: 'admin',
      server: url,
      authority: this.servingCa(),
      credentials: this.#credentials.admin,
    });
    await writeKubeconfigFile(path, text);
  }

  async renew(url: string): Promise<void> {
    const { admin } = this.#credentials;
    this.#credentials = await credentialsOf(this.#options);
    if (this.#credentials.admin.certificate !== admin.certificate) await this.writeKubeconfig(url);
  }
}

function credentialsOf(options: PlatformOptions): Promise<Credentials> {
  const { dataDirectory, serving } = options;
  const hosts = [...(isAny(options) ? [] : [options.host]), ...options.hosts, serviceAddress];
  const world = { clock: systemClock, random: systemRandom };
  return loadCredentials({ dataDirectory, pkiDirectory: serving.pkiDirectory }, hosts, world);
}
