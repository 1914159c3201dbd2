/** Names of certificate signers: `example.com/signer`. */

import { invalid, quote, required, tooLong } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { byteLength, dnsLabelReasons, dnsSubdomainReasons } from '../../formats.ts';
import type { Reasons } from '../../formats.ts';

const domainMax = 253;
const nameMax = domainMax + 1 + domainMax + 63 + 1;

export function checkSignerName(errors: FieldError[], path: string, name: string): void {
  if (name === '') {
    errors.push(required(path, ''));
    return;
  }
  const [domain = '', local = '', ...more] = name.split('/');
  if (!name.includes('/') || more.length > 0) {
    const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    errors.push(invalid(path, name, form));
    return;
  }
  if (byteLength(domain) > domainMax) errors.push(tooLong(path, domainMax));
  checkLabels(errors, path, domain, dnsLabelReasons);
  if (!domain.includes('.')) {
    errors.push(invalid(path, domain, 'should be a domain with at least two segments separated by dots'));
  }
  checkLabels(errors, path, local, dnsSubdomainReasons);
  if (byteLength(name) > nameMax) errors.push(tooLong(path, nameMax));
}

/** Only the first invalid label is reported. */
function checkLabels(errors: FieldError[], path: string, text: string, reasonsOf: (label: string) => Reasons): void {
  for (const label of text.split('.')) {
    const reasons = reasonsOf(label);
    for (const reason of reasons) errors.push(invalid(path, text, `validating label ${quote(label)}: ${reason}`));
    if (reasons.length > 0) return;
  }
}

export const isKubernetesSigner = (name: string): boolean => {
  const [domain = ''] = name.split('/');
  return domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io');
};
