/**
 * A host with limited permissions for the operator: it may manage `tenants` and create `tenants/kubeconfig`, and no more. Each tenant is
 * accessed with a certificate that the tenant's own CA issues for an hour. Certificates are cached, connections are not: a tenant is
 * accessed rarely, and there may be thousands.
 */

import { connect } from '@hangar/client';
import type { Client, ClientCertificate, ClusterConfig, ConnectOptions, Credentials } from '@hangar/client';
import { systemClock } from '@hangar/core';
import type { TenantHost } from './contract.ts';
import { issuedPair } from './issued.ts';
import { tenantPath } from './tenant.ts';

export interface KubeconfigHostOptions extends ConnectOptions {
  /** Of the host's management plane. */
  readonly config: ClusterConfig;
  /** Absent: the one in `config`. */
  readonly internalUrl?: string | undefined;
  readonly externalUrl?: string | undefined;
  /** Absent: the one in `config`. */
  readonly servingCa?: (() => string | Promise<string>) | undefined;
}

/** The creator closes `client`. */
export function kubeconfigHost(options: KubeconfigHostOptions): TenantHost {
  const { config, internalUrl, externalUrl, servingCa, ...connection } = options;
  const client = connect(config, connection);
  const passes = new Passes(client, connection.clock ?? systemClock);
  const ca = servingCa ?? config.renewedCa ?? (() => config.ca ?? '');
  return {
    client,
    enter(path): Promise<Client> {
      const { impersonate: _, credentials: __, server, ...reached } = config;
      const inside = { ...reached, server: server + tenantPath(path), credentials: passes.credentialsOf(path) };
      return Promise.resolve(connect(inside, connection));
    },
    internalUrl: internalUrl ?? config.server,
    externalUrl,
    servingCa: ca,
  };
}

const passSeconds = 3600;
/** A certificate is shown when a connection is opened: one that expires soon is not used. */
const spareMs = 10 * 60_000;
const passesMax = 1024;

interface Pass {
  readonly pair: Promise<ClientCertificate>;
  readonly untilMs: number;
}

/** Certificates by path, the most recently used last. */
class Passes {
  readonly #client: Client;
  readonly #clock: { now(): number };
  readonly #byPath = new Map<string, Pass>();

  constructor(client: Client, clock: { now(): number }) {
    this.#client = client;
    this.#clock = clock;
  }

  /** A tenant that was destroyed and recreated has another CA: it refuses the old certificate, and a new one is requested. */
  credentialsOf(path: string): Credentials {
    return {
      headers: () => ({}),
      clientCertificate: () => this.#pair(path),
      refresh: () => Promise.resolve(this.#byPath.delete(path)),
    };
  }

  #pair(path: string): Promise<ClientCertificate> {
    let pass = this.#byPath.get(path);
    this.#byPath.delete(path);
    if (!pass || pass.untilMs <= this.#clock.now()) {
      pass = { pair: this.#issue(path), untilMs: this.#clock.now() + passSeconds * 1000 - spareMs };
      pass.pair.catch(() => this.#byPath.delete(path));
    }
    this.#byPath.set(path, pass);
    if (this.#byPath.size > passesMax) this.#byPath.delete(this.#byPath.keys().next().value!);
    return pass.pair;
  }

  async #issue(path: string): Promise<ClientCertificate> {
    const wanted = { user: 'controlplane-operator', groups: ['system:masters'], expirationSeconds: passSeconds };
    return issuedPair(this.#client, path, wanted);
  }
}
