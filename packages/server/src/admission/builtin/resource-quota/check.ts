/** Computes the usage that a request adds to the quotas of its namespace, and checks their limits. */

import type { KubeObject } from '@hangar/api';
import { addInto, compare, difference, isInScope, zero } from '@hangar/api/quota';
import type { Amounts, Evaluator, MutableAmounts, Quota } from '@hangar/api/quota';
import type { AdmissionRequest } from '../../admission.ts';
import { forbid } from '../../refusal.ts';

/** Returns all quotas, with the usage of the request added. Throws 403. */
export function charge(request: AdmissionRequest, evaluator: Evaluator, quotas: readonly Quota[]): readonly Quota[] {
  const { operation, object, old } = request;
  const nowMs = request.plane.clock.now();
  const interested = quotas.filter((quota) => isAbout(quota, evaluator, object!));
  for (const quota of interested) checkQuota(request, evaluator, quota);
  const usage = evaluator.usage(object!, nowMs);
  const negative = [...usage].filter(([, { nanos }]) => nanos < 0n).map(([name]) => name);
  if (negative.length > 0) {
    throw forbid(request, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
  }
  const growth = operation === 'UPDATE' ? growthOf(usage, evaluator.usage(old!, nowMs)) : usage;
  return quotas.map((quota) => {
    if (!interested.includes(quota)) return quota;
    // An object that newly enters the scope of the quota counts in full.
    const counted = operation === 'UPDATE' && isAbout(quota, evaluator, old!) ? growth : usage;
    return chargeQuota(request, quota, counted);
  });
}

const isAbout = (quota: Quota, evaluator: Evaluator, object: KubeObject): boolean =>
  [...quota.hard.keys()].some((name) => evaluator.counts(name)) && isInScope(quota, evaluator, object);

function checkQuota(request: AdmissionRequest, evaluator: Evaluator, { name, hard, used }: Quota): void {
  const limited = [...hard.keys()].filter((one) => evaluator.counts(one)).sort();
  const problem = evaluator.problem?.(limited, request.object!);
  if (problem !== undefined) throw forbid(request, `failed quota: ${name}: ${problem}`);
  if (limited.every((one) => used.has(one))) return;
  throw forbid(request, `status unknown for quota: ${name}, resources: ${limited.join(',')}`);
}

function growthOf(usage: Amounts, before: Amounts): Amounts {
  const growth: MutableAmounts = new Map();
  for (const [name, amount] of usage) {
    const more = difference(amount, before.get(name) ?? zero);
    if (more.nanos > 0n) growth.set(name, more);
  }
  return growth;
}

function chargeQuota(request: AdmissionRequest, quota: Quota, usage: Amounts): Quota {
  const { name, hard } = quota;
  const requested = new Map([...usage].filter(([one, { nanos }]) => nanos !== 0n && hard.has(one)));
  if (requested.size === 0) return quota;
  const used = new Map(quota.used);
  addInto(used, requested);
  // A status write reports observed state: it is counted and never denied.
  if (request.subresource !== 'status') {
    const exceeded = [...requested.keys()].filter((one) => compare(used.get(one)!, hard.get(one)!) > 0).sort();
    if (exceeded.length > 0) {
      const show = (amounts: Amounts): string =>
        exceeded.flatMap((one) => (amounts.has(one) ? [`${one}=${amounts.get(one)!.text}`] : [])).join(',');
      throw forbid(
        request,
        `exceeded quota: ${name}, requested: ${show(requested)}, used: ${show(quota.used)}, limited: ${show(hard)}`,
      );
    }
  }
  return { ...quota, used };
}
