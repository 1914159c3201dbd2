/** The resources of a server, by the names in commands and objects. Immutable. */

import type { DiscoveredKind, DiscoveredVersion } from './discovered-kind.ts';

export class KindIndex {
  readonly all: readonly DiscoveredKind[];
  /** Group-versions whose server is unavailable. */
  readonly unavailable: readonly string[];
  readonly #byKind = new Map<string, DiscoveredKind>();
  /** By every name of the resource, in the order of the server: the preferred version of a group first. */
  readonly #byName = new Map<string, DiscoveredKind[]>();

  constructor(versions: readonly DiscoveredVersion[]) {
    this.all = versions.flatMap(({ kinds }) => kinds);
    this.unavailable = versions
      .filter(({ isUnavailable }) => isUnavailable)
      .map(({ group, version }) => (group === '' ? version : `${group}/${version}`));
    for (const kind of this.all) {
      const id = `${kind.apiVersion}/${kind.kind}`;
      if (!this.#byKind.has(id)) this.#byKind.set(id, kind);
      for (const name of new Set([kind.plural, kind.singular, kind.kind.toLowerCase(), ...kind.shortNames])) {
        const same = this.#byName.get(name);
        if (same) same.push(kind);
        else this.#byName.set(name, [kind]);
      }
    }
  }

  kind(apiVersion: string, kind: string): DiscoveredKind | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  preferred(kind: string, group: string | undefined): DiscoveredKind | undefined {
    return this.#byName
      .get(kind.toLowerCase())
      ?.find((one) => one.kind === kind && (group === undefined || one.group === group));
  }

  /** As in kubectl: plurals before singulars and short names; without a group, the first in the order of the server. */
  resource(text: string): DiscoveredKind | undefined {
    const dot = text.indexOf('.');
    const [name, rest] = dot === -1 ? [text, undefined] : [text.slice(0, dot), text.slice(dot + 1)];
    const named = this.#byName.get(name.toLowerCase()) ?? [];
    const fitting = rest === undefined ? named : named.filter((kind) => isOf(kind, rest));
    return fitting.find(({ plural }) => plural === name) ?? fitting[0];
  }
}

/** `rest` is a group, or a version with a group: `apps`, `v1.apps`, or `v1.` for the core group. */
const isOf = ({ group, version }: DiscoveredKind, rest: string): boolean =>
  group === rest || `${version}.${group}` === rest || (group === '' && version === rest);
