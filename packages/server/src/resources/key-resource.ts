/** Parses the resource from a key: `<prefix>/clusters/<path>/<resource>/…`. Needs no lookup. */

import { builtinGroups } from '@hangar/api';

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** Limit of cached names of custom resources. */
const knownMax = 10_000;

/** Returns undefined for keys that do not belong to an object. Returns the same object for the same resource. */
export function keyResources(prefix: string): (key: string) => GroupResource | undefined {
  const clusters = `${prefix}/clusters/`;
  const known = new Map<string, GroupResource>();
  return (key) => {
    const place = placeOf(key, clusters);
    if (place === undefined) return undefined;
    let found = known.get(place);
    if (!found) {
      found = builtinPlaces().get(place) ?? customAt(place);
      if (known.size >= knownMax) known.clear();
      known.set(place, found);
    }
    return found;
  };
}

/** `secrets`, `services/specs`, `example.com/widgets`. */
function placeOf(key: string, clusters: string): string | undefined {
  if (!key.startsWith(clusters)) return undefined;
  const begin = key.indexOf('/', clusters.length) + 1;
  if (begin === 0) return undefined;
  const end = key.indexOf('/', begin);
  if (end < 0) return undefined;
  const first = key.slice(begin, end);
  if (!first.includes('.') && first !== 'services') return first;
  const second = key.indexOf('/', end + 1);
  return second < 0 ? undefined : key.slice(begin, second);
}

let places: Map<string, GroupResource> | undefined;

const builtinPlaces = (): Map<string, GroupResource> =>
  (places ??= new Map(
    builtinGroups().flatMap(({ name: group, versions }) =>
      versions.flatMap(({ resources }) =>
        resources.flatMap(({ name, storage }) =>
          storage ? [[storage.prefix, { group, resource: name }] as const] : [],
        ),
      ),
    ),
  ));

function customAt(place: string): GroupResource {
  const [group = '', resource = ''] = place.split('/');
  return { group, resource };
}
