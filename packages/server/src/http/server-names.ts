/**
 * Certificates for names of servers besides the port's own (SNI). What TLS needs for one is heavy, so that the names that were
 * asked for last are kept, and it is made of the same parts as the port's own: whoever shows a client certificate is verified
 * alike whatever name was asked for.
 */

import { createSecureContext } from 'node:tls';
import type { SecureContext, SecureContextOptions } from 'node:tls';

export interface ServerCertificate {
  readonly key: string;
  readonly certificate: string;
}

/** By a name in lower case. Undefined: the port's own. The same object for as long as it is the same certificate. */
export type ServerCertificateOf = (serverName: string) => ServerCertificate | undefined;

interface Known {
  readonly certificate: ServerCertificate;
  readonly context: SecureContext;
}

const contextsMax = 200;

export class ServerNames {
  readonly #certificateOf: ServerCertificateOf;
  /** All but key and certificate. */
  #common: SecureContextOptions;
  readonly #known = new Map<string, Known>();

  constructor(certificateOf: ServerCertificateOf, common: SecureContextOptions) {
    this.#certificateOf = certificateOf;
    this.#common = common;
  }

  /** For connections from now on. */
  use(common: SecureContextOptions): void {
    this.#common = common;
    this.#known.clear();
  }

  get size(): number {
    return this.#known.size;
  }

  /** Undefined: the port's own. */
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
