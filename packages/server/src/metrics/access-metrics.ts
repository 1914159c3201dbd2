/** Metrics of authentication and authorization, under kube-apiserver's names. Users are counted by a few fixed names. */

import { Counter, Histogram, labelText } from '@hangar/core';
import type { CounterSeries, HistogramSeries } from '@hangar/core';

/** 1 ms, doubled 14 times. */
const latencyBounds = Array.from({ length: 15 }, (_, at) => 2 ** at / 1_000);
const [hour, day] = [3_600, 86_400];
const expirationBounds = [0, 0.5 * hour, hour, 2 * hour, 6 * hour, 12 * hour].concat(
  [1, 2, 4, 7, 30, 90, 180, 360].map((days) => days * day),
);

type Authentication = 'success' | 'failure' | 'error';
type Authorization = 'allowed' | 'denied' | 'no-opinion' | 'error';

interface Attempts {
  readonly count: CounterSeries;
  readonly duration: HistogramSeries;
}

const knownUsers = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);

export class AccessMetrics {
  readonly #users = new Counter('authenticated_user_requests', 'Number of authenticated requests by user name.');
  readonly #authentications = new Counter('authentication_attempts', 'Number of authentications by result.');
  readonly #authenticationSeconds = new Histogram(
    'authentication_duration_seconds',
    'Duration of authentications in seconds, by result.',
    latencyBounds,
  );
  readonly #authorizations = new Counter('authorization_attempts_total', 'Number of authorizations by result.');
  readonly #authorizationSeconds = new Histogram(
    'authorization_duration_seconds',
    'Duration of authorizations in seconds, by result.',
    latencyBounds,
  );
  readonly #expirations = new Histogram(
    'apiserver_client_certificate_expiration_seconds',
    'Remaining lifetime of the client certificates of requests in seconds.',
    expirationBounds,
  );
  readonly #authenticated = new Map<Authentication, Attempts>();
  readonly #authorized = new Map<Authorization, Attempts>();
  readonly #ofUser = new Map<string, CounterSeries>();
  readonly #expiration = this.#expirations.with('');

  authenticated(userName: string, ms: number): void {
    this.#recordAuthentication('success', ms);
    // Names of users are not kept: they could be many.
    const name = knownUsers.has(userName) ? userName : userName.includes('@') ? 'email_id' : 'other';
    let count = this.#ofUser.get(name);
    if (!count) this.#ofUser.set(name, (count = this.#users.with(labelText({ username: name }))));
    count.value++;
  }

  /** `error`: the credentials could not be checked. `failure`: they are unknown. */
  notAuthenticated(result: 'failure' | 'error', ms: number): void {
    this.#recordAuthentication(result, ms);
  }

  #recordAuthentication(result: Authentication, ms: number): void {
    let attempts = this.#authenticated.get(result);
    if (!attempts) {
      const labels = labelText({ result });
      attempts = { count: this.#authentications.with(labels), duration: this.#authenticationSeconds.with(labels) };
      this.#authenticated.set(result, attempts);
    }
    attempts.count.value++;
    attempts.duration.observe(ms / 1_000);
  }

  authorized(result: Authorization, ms: number): void {
    let attempts = this.#authorized.get(result);
    if (!attempts) {
      const labels = labelText({ result });
      attempts = { count: this.#authorizations.with(labels), duration: this.#authorizationSeconds.with(labels) };
      this.#authorized.set(result, attempts);
    }
    attempts.count.value++;
    attempts.duration.observe(ms / 1_000);
  }

  certificateUsed(remainingSeconds: number): void {
    this.#expiration.observe(remainingSeconds);
  }

  get seriesCount(): number {
    return this.#users.size + 2 * this.#authentications.size + 2 * this.#authorizations.size;
  }

  text(): string {
    const authentication = [this.#users, this.#authentications, this.#authenticationSeconds];
    return [...authentication, this.#authorizations, this.#authorizationSeconds, this.#expirations]
      .map((family) => family.text())
      .join('\n');
  }
}
