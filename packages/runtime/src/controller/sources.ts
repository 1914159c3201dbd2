/** The sources of a controller as a list: `for`, `owns` and `watches` differ only in their mapping. The first is that of `for`. */

import type { ApiObject, Kind } from '@hangar/client';
import { RuntimeError } from '../errors.ts';
import { mapToOwner, mapToSelf } from './mappings.ts';
import type { ControllerOptions, ForOptions, Mapping, OwnsOptions } from './options.ts';
import type { Predicate } from './predicate.ts';

export interface KindSource {
  readonly kind: Kind<ApiObject>;
  readonly where: Predicate;
  /** `all`: resolved by the controller. */
  readonly map: Mapping | 'all';
  readonly isLocal: boolean;
  /** True for the kind in `for`. */
  readonly isOwn: boolean;
}

type AnyOptions = ControllerOptions<ApiObject, readonly ApiObject[], readonly ApiObject[]>;

/** Throws `InvalidOptions` for sources that cannot work. */
export function sourcesOf(options: AnyOptions): KindSource[] {
  const { name } = options;
  const sources: KindSource[] = [];
  const own = options.for && withOptions(options.for);
  if (own) sources.push({ ...source(own, mapToSelf), isOwn: true });
  for (const owned of (options.owns ?? []).map(withOptions<OwnsOptions<ApiObject>>)) {
    if (!own) throw new RuntimeError('InvalidOptions', `controller ${name}: owns ${owned.kind.kind} requires for`);
    sources.push(source(owned, mapToOwner(own.kind, owned.anyOwner)));
  }
  for (const watched of options.watches ?? []) {
    if (!own && watched.map === 'all') {
      throw new RuntimeError('InvalidOptions', `controller ${name}: map "all" of ${watched.kind.kind} requires for`);
    }
    sources.push(source(watched, watched.map, watched.cluster === 'local'));
  }
  return sources;
}

const withOptions = <S extends ForOptions<ApiObject>>(kindOrOptions: Kind<ApiObject> | S): S =>
  ('plural' in kindOrOptions ? { kind: kindOrOptions } : kindOrOptions) as S;

function source(options: ForOptions<ApiObject>, map: KindSource['map'], isLocal = false): KindSource {
  return { kind: options.kind, where: options.where ?? {}, map, isLocal, isOwn: false };
}
