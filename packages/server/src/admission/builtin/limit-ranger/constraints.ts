/** Checks the minimum, maximum and ratio of requests and limits. Messages match kube-apiserver. */

import { amountsOf, containersTogether, millisOf, unitsOf, zero } from '@hangar/api/quota';
import type { Amount, Amounts, Claim, MutableAmounts, Which } from '@hangar/api/quota';
import { specOf } from '../pod.ts';
import type { Pod, PodSpec } from '../pod.ts';
import type { Limit, LimitRange } from './limit-range.ts';

interface Asked {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

export function podProblems({ limits }: LimitRange, pod: Pod): string[] {
  const spec = specOf(pod);
  return limits.flatMap((limit) => {
    if (limit.type === 'Pod') {
      return problemsOf(limit, { requests: podTogether(spec, 'requests'), limits: podTogether(spec, 'limits') });
    }
    if (limit.type !== 'Container') return [];
    return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      problemsOf(limit, { requests: amountsOf(resources?.requests), limits: amountsOf(resources?.limits) }),
    );
  });
}

export function claimProblems({ limits }: LimitRange, claim: Claim): string[] {
  const requests = amountsOf(claim.spec?.resources?.requests);
  return limits
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((limit) => [
      ...each(limit.min, (name, least) => tooLittle(limit.type, name, least, { requests, limits: new Map() })),
      ...each(limit.max, (name, most) => requestTooMuch(limit.type, name, most, requests)),
    ]);
}

/** Resources that a pod may set at pod level instead of per container. */
const ofPods = ['cpu', 'memory'];

function podTogether(spec: PodSpec, which: Which): MutableAmounts {
  const total = containersTogether(spec, which);
  const whole = amountsOf(spec.resources?.[which]);
  for (const name of ofPods) if (whole.has(name)) total.set(name, whole.get(name)!);
  return total;
}

const problemsOf = (limit: Limit, asked: Asked): string[] => [
  ...each(limit.min, (name, least) => tooLittle(limit.type, name, least, asked)),
  ...each(limit.max, (name, most) => tooMuch(limit.type, name, most, asked)),
  ...each(limit.ratio, (name, ratio) => tooFarApart(limit.type, name, ratio, asked)),
];

const each = (amounts: Amounts, check: (name: string, amount: Amount) => string | undefined): string[] =>
  [...amounts].flatMap(([name, amount]) => check(name, amount) ?? []);

function tooLittle(type: string, name: string, least: Amount, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const rule = `minimum ${name} usage per ${type} is ${least.text}`;
  if (!request) return `${rule}.  No request is specified`;
  const [asked, allowed, enforced] = comparable(request, limit ?? zero, least);
  if (asked < enforced) return `${rule}, but request is ${request.text}`;
  return limit && allowed < enforced ? `${rule}, but limit is ${limit.text}` : undefined;
}

function requestTooMuch(type: string, name: string, most: Amount, requests: Amounts): string | undefined {
  const request = requests.get(name);
  const rule = `maximum ${name} usage per ${type} is ${most.text}`;
  if (!request) return `${rule}.  No request is specified`;
  const [asked, , enforced] = comparable(request, zero, most);
  return asked > enforced ? `${rule}, but request is ${request.text}` : undefined;
}

function tooMuch(type: string, name: string, most: Amount, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const rule = `maximum ${name} usage per ${type} is ${most.text}`;
  if (!limit) return `${rule}.  No limit is specified`;
  const [asked, allowed, enforced] = comparable(request ?? zero, limit, most);
  if (allowed > enforced) return `${rule}, but limit is ${limit.text}`;
  return request && asked > enforced ? `${rule}, but request is ${request.text}` : undefined;
}

function tooFarApart(type: string, name: string, ratio: Amount, { requests, limits }: Asked): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${ratio.text}`;
  const [asked, allowed] = comparable(requests.get(name) ?? zero, limits.get(name) ?? zero, ratio);
  if (asked === 0n) return `${rule}, but no request is specified or request is 0`;
  if (allowed === 0n) return `${rule}, but no limit is specified or limit is 0`;
  const provided = Number(allowed) / Number(asked);
  const isFine =
    unitsOf(ratio) <= millisMax ? provided * 1000 <= Number(millisOf(ratio)) : provided <= Number(unitsOf(ratio));
  return isFine ? undefined : `${rule}, but provided ratio is ${provided.toFixed(6)}`;
}

/** Largest value that fits a 64-bit integer in thousandths. */
const millisMax = (2n ** 63n - 1n) / 1000n;

/** Returns the values in thousandths, or in whole units if one of them is too large. */
function comparable(request: Amount, limit: Amount, enforced: Amount): [bigint, bigint, bigint] {
  const units: [bigint, bigint, bigint] = [unitsOf(request), unitsOf(limit), unitsOf(enforced)];
  if (units.some((one) => one > millisMax)) return units;
  return [millisOf(request), millisOf(limit), millisOf(enforced)];
}
