/** The token that etcd gives for a name and a password. It expires when it is not used, and when users change. */

export interface PasswordOptions {
  username: string;
  password: string;
}

export class Credentials {
  readonly #authenticate: (deadlineMs: number) => Promise<string>;
  #token: string | undefined;
  #asking: Promise<string> | undefined;

  /** `authenticate` asks etcd for a token; the empty one says that none is needed. */
  constructor(authenticate: (deadlineMs: number) => Promise<string>) {
    this.#authenticate = authenticate;
  }

  /** The token at hand, for those who cannot wait. */
  get current(): string | undefined {
    return this.#token;
  }

  /** Rejects with `Unauthenticated` or `Unavailable`. Those who need a token at the same time share one request. */
  async token(deadlineMs: number): Promise<string> {
    if (this.#token !== undefined) return this.#token;
    this.#asking ??= this.#authenticate(deadlineMs)
      .then((token) => (this.#token = token))
      .finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  /** etcd does not accept this token any more; a newer one that somebody else got meanwhile stays. */
  expired(token: string): void {
    if (this.#token === token) this.#token = undefined;
  }
}
