/**
 * Sets of services. There are few combinations: each is one set that all clusters share, which makes them comparable by identity and free.
 */

import { services } from '../contract.ts';
import type { Service } from '../contract.ts';

const shared = new Map<string, ReadonlySet<Service>>();

/** Ignores case and unknown services. */
export function serviceSet(names: Iterable<string>): ReadonlySet<Service> {
  const given = new Set(Array.from(names, (name) => name.trim().toLowerCase()));
  const ours = services.filter((service) => given.has(service));
  const key = ours.join();
  const known = shared.get(key);
  if (known) return known;
  const set = new Set(ours);
  shared.set(key, set);
  return set;
}
