/**
 * The OpenAPI v2 document of a control plane, concatenated from parts that are encoded once for all control planes: the built-in part, and
 * one per definition. Long work is done in short steps, so that other requests are served meanwhile.
 */

import { breathe } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { ServedGroup } from '@hangar/api';
import type * as openApi from '@hangar/api/openapi';
import type { V2Format, V2Part } from '@hangar/api/openapi';
import type { CacheBudget } from '../objects/cache-budget.ts';
import type { Catalogue, ServedDefinition } from '../resources/catalogue.ts';
import { Newest, SharedVersions } from './newest.ts';

type Builders = typeof openApi;

/** Parts in order; the parts of a definition are adjacent. */
interface Parts {
  readonly parts: readonly V2Part[];
}

const versions = new SharedVersions<Parts>();
const bytesOf = ({ parts }: Parts): number => parts.reduce((sum, { size }) => sum + size, 0);

/** Pending built-in parts by name: many clients may request them at once when a server is new. */
const underWay = new Map<string, Promise<Parts>>();

/** One step writes one path or definition. */
const stepsAtOnce = 20;

export interface OpenApiV2Options {
  readonly catalogue: Catalogue;
  readonly budget: CacheBudget;
  readonly clock: Clock;
}

export class OpenApiV2 {
  readonly #catalogue: Catalogue;
  readonly #clock: Clock;
  readonly #newest: Newest<Parts>;

  constructor({ catalogue, budget, clock }: OpenApiV2Options) {
    this.#catalogue = catalogue;
    this.#clock = clock;
    this.#newest = new Newest(versions, { budget, bytesOf });
  }

  /** Uses the definitions that are served at the time of the call. Returns undefined if the document cannot be built from parts. */
  async joined(builders: Builders, format: V2Format): Promise<Buffer | undefined> {
    const { groups } = this.#catalogue;
    const definitions = [...this.#catalogue.definitions];
    const [builtin] = (await this.#builtin(builders, groups, format)).parts;
    const custom: V2Part[] = [];
    for (const definition of definitions) {
      const { parts } = await this.#custom(builders, definition, { groups, builtin: builtin! });
      custom.push(...parts);
    }
    this.#newest.retain(namesOf(definitions));
    return builders.joinedV2(builtin!, custom);
  }

  async #builtin(builders: Builders, groups: readonly ServedGroup[], format: V2Format): Promise<Parts> {
    const name = `built-in ${groups.some(isBuiltin)} ${format}`;
    const known = this.#newest.find(name, name) ?? underWay.get(name);
    if (known) return known;
    const building = this.#inSteps(builders.builtinPartOfV2(groups, format)).then((part) =>
      this.#newest.get(name, name, () => ({ parts: [part] })),
    );
    underWay.set(name, building);
    try {
      return await building;
    } finally {
      underWay.delete(name);
    }
  }

  async #custom(
    builders: Builders,
    definition: ServedDefinition,
    { groups, builtin }: { readonly groups: readonly ServedGroup[]; readonly builtin: V2Part },
  ): Promise<Parts> {
    const name = nameOf(definition, builtin.format);
    const digest = `${name} ${definition.content} ${groups.some(isBuiltin)}`;
    const known = this.#newest.find(name, digest);
    if (known) return known;
    const parts: V2Part[] = [];
    for (const { name: version, resource } of definition.versions) {
      const where = { group: definition.group, version };
      parts.push(await this.#inSteps(builders.customPartOfV2(where, resource, { groups, builtin })));
    }
    return this.#newest.get(name, digest, () => ({ parts }));
  }

  async #inSteps<T>(steps: Generator<undefined, T, undefined>): Promise<T> {
    for (let count = 1; ; count++) {
      const { done, value } = steps.next();
      if (done) return value;
      if (count % stepsAtOnce === 0) await breathe(this.#clock);
    }
  }
}

const isBuiltin = ({ versions: all }: ServedGroup): boolean =>
  all.some(({ resources }) => resources.some(({ schema }) => schema.type === 'builtin'));

const nameOf = ({ name }: ServedDefinition, format: V2Format): string => `${name} ${format}`;

const formats: readonly V2Format[] = ['json', 'protobuf'];

/** Returns the names of all parts; the built-in ones are never removed. */
function namesOf(definitions: readonly ServedDefinition[]): Set<string> {
  const names = formats.flatMap((format) => [`built-in true ${format}`, `built-in false ${format}`]);
  return new Set([...names, ...definitions.flatMap((one) => formats.map((format) => nameOf(one, format)))]);
}
