/**
 * Maps names to the kinds that the server serves. Results are cached. An unknown name causes a new discovery, but at most one every few
 * seconds, so that requests for unknown kinds do not load the server.
 */

import { orAborted, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { CallOptions, Client } from '../client.ts';
import { ClientError } from '../errors.ts';
import type { DiscoveredKind } from './discovered-kind.ts';
import { KindIndex } from './kind-index.ts';
import { DiscoveryReader } from './reading.ts';

/** Options of `KindMapper`. */
export interface KindMapperOptions {
  /** Clock for the age of the cache. Absent: the system clock. */
  readonly clock?: Clock | undefined;
  /** Minimum time between two discoveries for unknown names. Absent: 3 s. */
  readonly refreshEveryMsMin?: number | undefined;
  /** Maximum age of the result of `all`. Absent: 1 minute. */
  readonly ageMaxMs?: number | undefined;
}

/**
 * Finds kinds by discovery. All methods reject with `UnknownKind` when the server does not serve the kind, and with the error of the
 * client when discovery fails. An unavailable aggregated API hides only its own kinds, and only those that were never discovered.
 *
 *     const mapper = new KindMapper(client);
 *     const kind = await mapper.kind('example.com/v1', 'Widget');
 *     const widgets = await client.list(kind);
 */
export class KindMapper {
  readonly #reader: DiscoveryReader;
  readonly #clock: Clock;
  readonly #refreshEveryMsMin: number;
  readonly #ageMaxMs: number;
  #index: { readonly kinds: KindIndex; readonly readAtMs: number } | undefined;
  #reading: Promise<KindIndex> | undefined;

  constructor(client: Pick<Client, 'raw'>, options: KindMapperOptions = {}) {
    this.#reader = new DiscoveryReader(client);
    this.#clock = options.clock ?? systemClock;
    this.#refreshEveryMsMin = options.refreshEveryMsMin ?? 3_000;
    this.#ageMaxMs = options.ageMaxMs ?? 60_000;
  }

  /** Returns the kind of this apiVersion: `kind('apps/v1', 'Deployment')`. */
  kind(apiVersion: string, kind: string, options?: CallOptions): Promise<DiscoveredKind> {
    return this.#find((kinds) => kinds.kind(apiVersion, kind), `kind ${kind} in ${apiVersion}`, options);
  }

  /** Returns the kind of a resource name in the syntax of kubectl: `deployments.apps`, `deploy`, `deployments.v1.apps`, `pod`. */
  resource(name: string, options?: CallOptions): Promise<DiscoveredKind> {
    return this.#find((kinds) => kinds.resource(name), `resource ${name}`, options);
  }

  /** Returns the kind in the version that the server prefers. Absent group: the first group that has the kind. */
  preferred(kind: string, group?: string, options?: CallOptions): Promise<DiscoveredKind> {
    const what = group === undefined ? `kind ${kind}` : `kind ${kind} in group ${JSON.stringify(group)}`;
    return this.#find((kinds) => kinds.preferred(kind, group), what, options);
  }

  /** Returns all kinds in the order of the server. */
  async all(options?: CallOptions): Promise<readonly DiscoveredKind[]> {
    const { all } = this.#isOlderThan(this.#ageMaxMs) ? await this.#refreshed(options) : this.#index!.kinds;
    return all;
  }

  /** Group-versions whose server was unavailable at the last discovery. `all` may not contain their kinds. */
  get unavailable(): readonly string[] {
    return this.#index?.kinds.unavailable ?? [];
  }

  /** Runs discovery now. */
  async refresh(options?: CallOptions): Promise<void> {
    await this.#refreshed(options);
  }

  async #find(
    look: (kinds: KindIndex) => DiscoveredKind | undefined,
    what: string,
    options?: CallOptions,
  ): Promise<DiscoveredKind> {
    const found = this.#index && look(this.#index.kinds);
    if (found !== undefined) return found;
    const isDue = this.#isOlderThan(this.#refreshEveryMsMin);
    const kinds = isDue || this.#reading !== undefined ? await this.#refreshed(options) : this.#index!.kinds;
    const foundNow = look(kinds);
    if (foundNow !== undefined) return foundNow;
    const away =
      kinds.unavailable.length === 0
        ? ''
        : `; currently unavailable group-versions: ${kinds.unavailable.slice(0, 10).join(', ')}`;
    throw new ClientError('UnknownKind', `the server does not serve ${what.slice(0, 300)}${away}`);
  }

  #refreshed({ signal }: CallOptions = {}): Promise<KindIndex> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return orAborted(this.#reading, signal);
  }

  async #read(): Promise<KindIndex> {
    const kinds = new KindIndex(await this.#reader.read());
    this.#index = { kinds, readAtMs: this.#clock.monotonicMs() };
    return kinds;
  }

  #isOlderThan(ageMs: number): boolean {
    return this.#index === undefined || this.#clock.monotonicMs() - this.#index.readAtMs >= ageMs;
  }
}
