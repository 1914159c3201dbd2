/**
 * Which of our services something is registered for. There are few combinations: each is one set that all clusters share, which makes
 * them comparable by identity and of no cost.
 */

import { services } from '../contract.ts';
import type { Service } from '../contract.ts';

const shared = new Map<string, ReadonlySet<Service>>();

/** In whatever case; what is none of ours is left out. */
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
