/**
 * From names to kinds, as the server has them now. What was found is kept; what is not found makes it ask again, but not more often
 * than every few seconds: whoever asks for what does not exist must not make the server work.
 */

import { orAborted, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { CallOptions, Client } from '../client.ts';
import { ClientError } from '../errors.ts';
import type { DiscoveredKind } from './discovered-kind.ts';
import { KindIndex } from './kind-index.ts';
import { DiscoveryReader } from './reading.ts';

export interface KindMapperOptions {
  readonly clock?: Clock | undefined;
  /** Between two looks at what the server has, because something is not known. Absent: 3 s. */
  readonly refreshEveryMsMin?: number | undefined;
  /** `all` asks again when what is known is older. Absent: 1 minute. */
  readonly ageMaxMs?: number | undefined;
}

/**
 * Every method rejects with `UnknownKind` when the server has no such kind, and with what the client says when it cannot be asked. An
 * aggregated API that is away hides only its own kinds, and those only if they were never seen.
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

  /** `kind('apps/v1', 'Deployment')`. */
  kind(apiVersion: string, kind: string, options?: CallOptions): Promise<DiscoveredKind> {
    return this.#find((kinds) => kinds.kind(apiVersion, kind), `${kind} of ${apiVersion}`, options);
  }

  /** As kubectl takes it: `deployments.apps`, `deploy`, `deployments.v1.apps`, `pod`. */
  resource(name: string, options?: CallOptions): Promise<DiscoveredKind> {
    return this.#find((kinds) => kinds.resource(name), name, options);
  }

  /** In the version that the server prefers. Absent group: the first that has it. */
  preferred(kind: string, group?: string, options?: CallOptions): Promise<DiscoveredKind> {
    const what = group === undefined ? kind : `${kind} of group ${JSON.stringify(group)}`;
    return this.#find((kinds) => kinds.preferred(kind, group), what, options);
  }

  /** In the server's order. */
  async all(options?: CallOptions): Promise<readonly DiscoveredKind[]> {
    const { all } = this.#isOlderThan(this.#ageMaxMs) ? await this.#refreshed(options) : this.#index!.kinds;
    return all;
  }

  /** Group-versions whose server could not be asked at the last look: what they have may be missing in `all`. */
  get unavailable(): readonly string[] {
    return this.#index?.kinds.unavailable ?? [];
  }

  /** Asks the server now. */
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
      kinds.unavailable.length === 0 ? '' : `; unavailable now: ${kinds.unavailable.slice(0, 10).join(', ')}`;
    throw new ClientError('UnknownKind', `the server has no ${what.slice(0, 300)}${away}`);
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
