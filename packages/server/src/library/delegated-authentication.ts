/**
 * Authenticates by the cluster: reads the CAs of front proxies and users from the ConfigMap that it publishes, and reviews tokens with it.
 * The ConfigMap is polled, because CAs are renewed.
 */

import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { asError } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import { CertificateAuthenticator } from '../auth/authenticate.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { FrontProxyAuthenticator } from '../auth/front-proxy/front-proxy.ts';
import type { TokenAuthenticator, TokenIdentity } from '../auth/tokens.ts';
import type { User } from '../auth/user.ts';
import type { ServerRequest } from '../http/message.ts';
import type { ClusterClient } from './cluster-client.ts';

export const configMapPath = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';

const rereadMs = 30_000;

export interface DelegatedAuthenticationOptions {
  readonly client: ClusterClient;
  readonly clock: Clock;
  /** Called with the CAs of client certificates: PEM. */
  readonly onAuthorities: (pem: string) => void;
  readonly onError: (error: Error) => void;
}

/** Tries certificates of front proxies first, then of users. */
export class DelegatedCertificates implements Authenticator {
  readonly #options: DelegatedAuthenticationOptions;
  #proxies: readonly FrontProxyAuthenticator[] = [];
  #users: readonly Authenticator[] = [];
  #known = '';
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: DelegatedAuthenticationOptions) {
    this.#options = options;
  }

  /** Rejects if the cluster is unreachable: without it no client could be authenticated. */
  async start(): Promise<void> {
    await this.#read();
    this.#again();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  authenticate(request: ServerRequest): User | undefined {
    return this.proxied(request) ?? firstUser(this.#users, request);
  }

  /** Returns the user that a front proxy names; undefined if the connection has no certificate of a front proxy. */
  proxied(request: ServerRequest): User | undefined {
    return firstUser(this.#proxies, request);
  }

  #again(): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.clock.after(rereadMs, () => {
      // On failure the last configuration stays in effect.
      this.#read()
        .catch((error: unknown) => this.#options.onError(asError(error)))
        .finally(() => this.#again());
    });
  }

  async #read(): Promise<void> {
    const { client, clock, onAuthorities } = this.#options;
    const { data } = await client.get(configMapPath);
    const values = isObject(data) ? data : {};
    const text = JSON.stringify(values);
    if (text === this.#known || this.#isClosed) return;
    const clientCa = textOf(values, 'client-ca-file');
    const proxyCa = textOf(values, 'requestheader-client-ca-file');
    const names = (name: string): string[] => namesOf(values, name);
    this.#proxies =
      proxyCa === ''
        ? []
        : [
            new FrontProxyAuthenticator(clock, {
              authorities: proxyCa,
              allowedNames: names('requestheader-allowed-names'),
              usernameHeaders: names('requestheader-username-headers'),
              uidHeaders: names('requestheader-uid-headers'),
              groupHeaders: names('requestheader-group-headers'),
              extraHeaderPrefixes: names('requestheader-extra-headers-prefix'),
            }),
          ];
    this.#users = clientCa === '' ? [] : [new CertificateAuthenticator(clock, clientCa)];
    onAuthorities([proxyCa, clientCa].filter((pem) => pem !== '').join('\n'));
    // Last, so that a configuration that failed to apply is retried at the next poll.
    this.#known = text;
  }
}

function firstUser(authenticators: readonly Authenticator[], request: ServerRequest): User | undefined {
  for (const one of authenticators) {
    const user = one.authenticate(request) as User | undefined;
    if (user) return user;
  }
  return undefined;
}

const textOf = (values: JsonObject, name: string): string => {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  return typeof value === 'string' ? value : '';
};

/** Parses a JSON list of strings, as kube-apiserver writes it. */
function namesOf(values: JsonObject, name: string): string[] {
  const text = textOf(values, name);
  const value: unknown = text === '' ? [] : JSON.parse(text);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Authenticates tokens with TokenReviews of the cluster; the guard caches results for some seconds. */
export class TokenReviews implements TokenAuthenticator {
  readonly #client: ClusterClient;

  constructor(client: ClusterClient) {
    this.#client = client;
  }

  async authenticateToken(token: string, audiences: readonly string[]): Promise<TokenIdentity | undefined> {
    const review = await this.#client.create('/apis/authentication.k8s.io/v1/tokenreviews', {
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      spec: { token, ...(audiences.length > 0 ? { audiences } : {}) },
    });
    const status = isObject(review['status']) ? review['status'] : {};
    if (status['authenticated'] !== true || !isObject(status['user'])) return undefined;
    const { username, uid, groups, extra } = status['user'];
    const granted = textsOf(status['audiences']);
    return {
      user: { name: String(username ?? ''), uid: String(uid ?? ''), groups: textsOf(groups), extra: extraOf(extra) },
      // The cluster returns no audiences for a token without audiences: then the token is for the cluster itself.
      audiences: granted.length > 0 ? granted : ['the cluster'],
    };
  }
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

const extraOf = (value: unknown): Record<string, string[]> =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, all]) => [name, textsOf(all)])) : {};
