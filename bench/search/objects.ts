/** Deployments for the feed of the index: as different as those of a fleet, and the same in every run. */

import type { Client, Kind, ListOptions, ObjectList, UnknownObject } from '@hangar/client';

const teams = [
  'checkout',
  'payments',
  'catalog',
  'shipping',
  'identity',
  'billing',
  'reports',
  'mobile',
  'search',
  'media',
];
const roles = ['web', 'worker', 'api', 'cache', 'proxy', 'scheduler', 'migration', 'gateway'];
const regions = ['north', 'south', 'east', 'west'];
const clusters = 1_000;

/** Returns the object with this number. */
export function deployment(at: number): UnknownObject {
  const team = teams[at % teams.length]!;
  const role = roles[(at >> 3) % roles.length]!;
  const labels = { 'app.kubernetes.io/name': role, team, region: regions[at % regions.length]!, track: `t${at % 17}` };
  const container = {
    name: role,
    image: `registry.example.com/${team}/${role}:v1.${at % 300}`,
    args: ['--listen', '0.0.0.0:8080', '--log-level', at % 5 === 0 ? 'debug' : 'info'],
    env: [
      { name: 'DATABASE_HOST', value: `${team}-db.${regions[(at >> 2) % regions.length]}.internal` },
      { name: 'INSTANCE', value: `i${at.toString(36)}` },
    ],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: `${team}-${role}-${at}`,
      namespace: `${team}-${at % 5}`,
      uid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
      resourceVersion: '1',
      clusterName: `tenant-${at % clusters}`,
      labels,
      annotations: { owner: `squad-${at % 211}@example.com` },
    } as UnknownObject['metadata'],
    spec: { replicas: at % 7, selector: { matchLabels: labels }, template: { spec: { containers: [container] } } },
  };
}

/** Returns the client, with this number of objects in the list of Deployments. Everything else is unchanged. */
export function withDeployments(client: Client, count: number): Client {
  const list = async (kind: Kind, options: ListOptions = {}): Promise<ObjectList<UnknownObject>> => {
    if (kind.plural !== 'deployments') return client.list(kind, options);
    const from = Number(options.continue ?? 0);
    const end = Math.min(count, from + (options.limit ?? count));
    const { resourceVersion } = await client.list(kind, { limit: 1 });
    const items = Array.from({ length: end - from }, (_, at) => deployment(from + at));
    return { items, resourceVersion, ...(end < count ? { continue: String(end) } : {}) };
  };
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = name === 'list' ? list : Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Queries of people: words, names, phrases, prefixes, filters, words that are in most objects, words that are in none. */
export function query(at: number, count: number): string {
  const team = teams[at % teams.length]!;
  const role = roles[at % roles.length]!;
  const some = (at * 7_919) % count;
  const all = [
    `${team} ${role}`,
    `${team}-${role}-${some}`,
    `i${some.toString(36)}`,
    `"${team} db" label:region=north`,
    `kind:Deployment namespace:${team}-${at % 5} ${role}`,
    `squad-${at % 211} cluster:tenant-${at % clusters}`,
    `regis* ${team}`,
    `debug 8080 listen`,
    `label:team=${team} -${role}`,
    `name:${team}-${role}-${some}`,
    `nowhere${at}`,
    `cluster:tenant-${at % clusters}`,
  ];
  return all[at % all.length]!;
}
