/** Volume claims: number and size, in total and for each storage class. */

import { amountOf, compare, count } from '../amounts.ts';
import type { Amount, MutableAmounts } from '../amounts.ts';
import { storageClassOf } from '../volume-claim.ts';
import type { Claim } from '../volume-claim.ts';
import { matchesName } from '../quota.ts';
import type { ScopeSelector } from '../quota.ts';
import type { Evaluator } from './evaluator.ts';

const byClass = '.storageclass.storage.k8s.io/';
const totals = ['persistentvolumeclaims', 'requests.storage'];
const countOfClaims = 'count/persistentvolumeclaims';

export const claimEvaluator: Evaluator = {
  handles: ({ operation, subresource }) =>
    subresource === 'status'
      ? operation === 'UPDATE'
      : subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  counts: (name) =>
    name === countOfClaims || totals.includes(name) || totals.some((one) => name.endsWith(byClass + one)),
  usage(object) {
    const claim = object as Claim;
    const storageClass = storageClassOf(claim) ?? '';
    const usage: MutableAmounts = new Map([
      ['persistentvolumeclaims', count(1)],
      [countOfClaims, count(1)],
    ]);
    if (storageClass !== '') usage.set(`${storageClass}${byClass}persistentvolumeclaims`, count(1));
    const size = sizeOf(claim);
    if (!size) return usage;
    usage.set('requests.storage', size);
    if (storageClass !== '') usage.set(`${storageClass}${byClass}requests.storage`, size);
    return usage;
  },
  matchesScope: (selector, object) =>
    selector.scope === 'VolumeAttributesClass' && isOfClass(selector, object as Claim),
};

/** The allocated size counts while a claim is growing. */
function sizeOf({ spec, status }: Claim): Amount | undefined {
  const requested = spec?.resources?.requests?.['storage'];
  if (requested === undefined) return undefined;
  const size = whole(amountOf(requested));
  const allotted = status?.allocatedResources?.['storage'];
  if (allotted === undefined || compare(amountOf(allotted), size) <= 0) return size;
  return whole(amountOf(allotted));
}

const unit = 1_000_000_000n;

/** Rounds up to whole bytes. */
function whole(size: Amount): Amount {
  if (size.nanos % unit === 0n) return size;
  const rounded = size.nanos / unit + (size.nanos > 0n ? 1n : 0n);
  return { ...size, ...amountOf(rounded) };
}

function isOfClass(selector: ScopeSelector, { spec, status }: Claim): boolean {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].filter((name) => !!name) as string[];
  return names.length === 0 ? matchesName(selector, undefined) : names.some((name) => matchesName(selector, name));
}
