/** `spec.conversion`: none, or a webhook with its client configuration. */

import { child, forbidden, index, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { dns1035LabelReasons, dnsSubdomainReasons, portNumberReasons } from '../../validation/formats.ts';
import type { WebhookService } from '../custom-resource-definition.ts';
import { isSet } from '../json-schema.ts';
import { isCaBundle } from './ca-bundle.ts';
import { choiceErrors } from './choice.ts';
import type { InternalConversion, InternalSpec } from './internal-spec.ts';
import type { SpecOptions } from './spec-rules.ts';

const knownReviewVersions = ['v1', 'v1beta1'];

export const hasKnownReviewVersion = (versions: readonly string[]): boolean =>
  versions.some((version) => knownReviewVersions.includes(version));

export function conversionErrors(spec: InternalSpec, path: string, options: SpecOptions): FieldError[] {
  const { conversion } = spec;
  if (conversion === undefined) return [];
  const { strategy } = conversion;
  const errors: FieldError[] = [];
  if (strategy !== 'None' && spec.preservesUnknownFields) {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    errors.push(invalid(child(path, 'strategy'), strategy, detail));
  }
  errors.push(...choiceErrors(child(path, 'strategy'), strategy, ['None', 'Webhook']));
  if (strategy === 'Webhook') return [...errors, ...webhookErrors(conversion, path, options)];
  const detail = 'should not be set when strategy is not set to Webhook';
  if (isSet(conversion.client)) errors.push(forbidden(child(path, 'webhookClientConfig'), detail));
  if (conversion.reviewVersions.length > 0) errors.push(forbidden(child(path, 'conversionReviewVersions'), detail));
  return errors;
}

function webhookErrors(
  { client, reviewVersions }: InternalConversion,
  path: string,
  options: SpecOptions,
): FieldError[] {
  const errors: FieldError[] = [];
  const at = child(path, 'webhookClientConfig');
  if (!isSet(client)) {
    errors.push(required(at, 'required when strategy is set to Webhook'));
  } else {
    const { url, service, caBundle } = client;
    if (isSet(url) === isSet(service)) errors.push(required(at, 'exactly one of url or service is required'));
    else if (isSet(url)) errors.push(...urlErrors(url, child(at, 'url')));
    else if (isSet(service)) errors.push(...serviceErrors(service, child(at, 'service')));
    if (caBundle && !options.allowsInvalidCaBundle && !isCaBundle(caBundle)) {
      const detail = 'unable to load root certificates: unable to parse bytes as PEM block';
      errors.push(invalid(child(at, 'caBundle'), caBundle, detail));
    }
  }
  return [...errors, ...reviewErrors(reviewVersions, child(path, 'conversionReviewVersions'), options)];
}

function reviewErrors(versions: readonly string[], path: string, options: SpecOptions): FieldError[] {
  if (versions.length === 0) return [required(path, '')];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) errors.push(invalid(index(path, i), version, 'duplicate version'));
    else for (const reason of dns1035LabelReasons(version)) errors.push(invalid(index(path, i), version, reason));
    seen.add(version);
  }
  if (options.requiresKnownReviewVersion && !hasKnownReviewVersion(versions)) {
    errors.push(invalid(path, versions, `must include at least one of ${knownReviewVersions.join(', ')}`));
  }
  return errors;
}

const wantedUrl = '; desired format: https://host[/path]';

function urlErrors(text: string, path: string): FieldError[] {
  const [, scheme = '', rest = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(text) ?? ['', '', text];
  const [, authority = ''] = /^\/\/([^/?#]*)/.exec(rest) ?? [];
  const [, user, host = ''] = /^(?:(.*)@)?([^@]*)$/s.exec(authority) ?? [];
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(rest) ?? [];
  const [, fragment = ''] = /#(.*)$/s.exec(rest) ?? [];
  const errors: FieldError[] = [];
  if (scheme.toLowerCase() !== 'https') {
    errors.push(invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${wantedUrl}`));
  }
  if (host === '') errors.push(invalid(path, host, `host must be specified${wantedUrl}`));
  if (user !== undefined) errors.push(invalid(path, user, 'user information is not permitted in the URL'));
  if (fragment !== '') errors.push(invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(invalid(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

/** Kubernetes passes name and namespace in the wrong order; both are required, so only their errors are swapped. */
function serviceErrors({ name, namespace, path: urlPath, port = 443 }: WebhookService, at: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!namespace) errors.push(required(child(at, 'name'), ''));
  if (!name) errors.push(required(child(at, 'namespace'), ''));
  const reasons = portNumberReasons(port);
  if (reasons.length > 0) errors.push(invalid(child(at, 'port'), port, `port is not valid: ${reasons.join(', ')}`));
  if (!urlPath || urlPath === '/') return errors;
  const pathAt = child(at, 'path');
  if (urlPath === '//') return [...errors, invalid(pathAt, urlPath, 'segment[0] may not be empty')];
  if (!urlPath.startsWith('/')) errors.push(invalid(pathAt, urlPath, "must start with a '/'"));
  for (const [i, step] of urlPath.slice(1).replace(/\/$/, '').split('/').entries()) {
    const problems =
      step === ''
        ? [`segment[${i}] may not be empty`]
        : dnsSubdomainReasons(step).map((reason) => `segment[${i}]: ${reason}`);
    for (const problem of problems) errors.push(invalid(pathAt, urlPath, problem));
  }
  return errors;
}
