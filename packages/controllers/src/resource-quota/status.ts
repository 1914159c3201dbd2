/** Computes the status of a quota. */

import { amountsOf, compare, isEqual, listOf, sum, zero } from '@hangar/api/quota';
import type { Amount, Amounts } from '@hangar/api/quota';
import type { ResourceQuota } from '@hangar/client/kinds/core-v1';

type Status = NonNullable<ResourceQuota['status']>;

export interface WantedStatus {
  /** Undefined when the status is up to date. */
  readonly status: Status | undefined;
  /** True if charges may be in flight and were not released. */
  readonly isProvisional: boolean;
}

/** A limit that could not be counted keeps its known usage, if the quota still has that limit. */
export function wantedStatus({ spec, status }: ResourceQuota, counted: Amounts, inFlight: Amounts): WantedStatus {
  const hard = amountsOf(spec?.hard);
  const before = amountsOf(status?.used);
  let isProvisional = false;
  const used = new Map<string, Amount>();
  for (const name of hard.keys()) {
    const [old, exact] = [before.get(name), counted.get(name)];
    const amount = old && exact ? kept(old, exact, inFlight.get(name) ?? zero) : (exact ?? old);
    if (!amount) continue;
    used.set(name, amount);
    isProvisional ||= exact !== undefined && amount.nanos !== exact.nanos;
  }
  const isSame = isEqual(hard, amountsOf(status?.hard)) && isEqual(used, before);
  return { status: isSame ? undefined : { hard: spec?.hard ?? {}, used: listOf(used) }, isProvisional };
}

/** Returns the count plus charges in flight, at most the charged usage. */
function kept(old: Amount, exact: Amount, inFlight: Amount): Amount {
  if (compare(exact, old) >= 0 || inFlight.nanos === 0n) return exact;
  const most = sum(exact, inFlight);
  return compare(most, old) < 0 ? most : old;
}
