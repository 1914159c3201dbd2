/** Caches the token that etcd issues for a user name and a password. It expires when it is not used, and when users change. */

export interface PasswordOptions {
  username: string;
  password: string;
}

export class Credentials {
  readonly #authenticate: (deadlineMs: number) => Promise<string>;
  #token: string | undefined;
  #asking: Promise<string> | undefined;

  /** `authenticate` requests a token from etcd. An empty token means that none is needed. */
  constructor(authenticate: (deadlineMs: number) => Promise<string>) {
    this.#authenticate = authenticate;
  }

  /** The cached token, for callers that cannot wait. */
  get current(): string | undefined {
    return this.#token;
  }

  /** Rejects with `Unauthenticated` or `Unavailable`. Concurrent callers share one request. */
  async token(deadlineMs: number): Promise<string> {
    if (this.#token !== undefined) return this.#token;
    this.#asking ??= this.#authenticate(deadlineMs)
      .then((token) => (this.#token = token))
      .finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  /** Drops a token that etcd rejected. A newer token that another caller got meanwhile stays. */
  expired(token: string): void {
    if (this.#token === token) this.#token = undefined;
  }
}
