/**
 * Certificates for server names (SNI) other than the default of the port. TLS contexts are large, so only recently used ones are kept. They
 * share all options except key and certificate with the default, so client certificates are verified in the same way for every name.
 */

import { createSecureContext } from 'node:tls';
import type { SecureContext, SecureContextOptions } from 'node:tls';

export interface ServerCertificate {
  readonly key: string;
  readonly certificate: string;
}

/**
 * Returns the certificate for a lower-case name. Undefined: the default of the port. Returns the same object for as long as the certificate
 * is unchanged.
 */
export type ServerCertificateOf = (serverName: string) => ServerCertificate | undefined;

interface Known {
  readonly certificate: ServerCertificate;
  readonly context: SecureContext;
}

const contextsMax = 200;

export class ServerNames {
  readonly #certificateOf: ServerCertificateOf;
  /** Options other than key and certificate. */
  #common: SecureContextOptions;
  readonly #known = new Map<string, Known>();

  constructor(certificateOf: ServerCertificateOf, common: SecureContextOptions) {
    this.#certificateOf = certificateOf;
    this.#common = common;
  }

  /** Applies to new connections. */
  use(common: SecureContextOptions): void {
    this.#common = common;
    this.#known.clear();
  }

  get size(): number {
    return this.#known.size;
  }

  /** Returns undefined for the default of the port. */
  contextOf(name: string): SecureContext | undefined {
    const serverName = name.toLowerCase();
    const certificate = this.#certificateOf(serverName);
    let known = this.#known.get(serverName);
    this.#known.delete(serverName);
    if (!certificate) return undefined;
    if (known?.certificate !== certificate) known = { certificate, context: this.#made(certificate) };
    this.#known.set(serverName, known);
    if (this.#known.size > contextsMax) this.#known.delete(this.#known.keys().next().value!);
    return known.context;
  }

  #made({ key, certificate }: ServerCertificate): SecureContext {
    return createSecureContext({ ...this.#common, key, cert: certificate });
  }
}
