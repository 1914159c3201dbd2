/** What a quota's status should say. */

import { amountsOf, compare, isEqual, listOf, sum, zero } from '@hangar/api/quota';
import type { Amount, Amounts } from '@hangar/api/quota';
import type { ResourceQuota } from '@hangar/client/kinds/core-v1';

type Status = NonNullable<ResourceQuota['status']>;

export interface WantedStatus {
  /** Undefined when it says that already. */
  readonly status: Status | undefined;
  /** Something could be in flight, and was not given back for that. */
  readonly isProvisional: boolean;
}

/** Of a limit that could not be counted, what was known stays, if the quota has that limit still. */
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

/** What was counted and what may come yet; but no more than was charged. */
function kept(old: Amount, exact: Amount, inFlight: Amount): Amount {
  if (compare(exact, old) >= 0 || inFlight.nanos === 0n) return exact;
  const most = sum(exact, inFlight);
  return compare(most, old) < 0 ? most : old;
}
