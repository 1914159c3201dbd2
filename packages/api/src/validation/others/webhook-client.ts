/** Address of a webhook: by URL, or by a Service. */

import type { JsonObject } from '../../object.ts';
import { child, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { dnsSubdomainReasons, portNumberReasons } from '../formats.ts';
import { requiredErrors } from '../shared/checks.ts';
import { numberOf, optionalStruct, optionalText, textOf } from '../shared/read.ts';
import { parseGoUrl } from './go-url.ts';

export function clientConfigErrors(path: string, config: JsonObject): FieldError[] {
  const [url, service] = [optionalText(config, 'url'), optionalStruct(config, 'service')];
  if ((url === undefined) === (service === undefined)) {
    return [required(path, 'exactly one of url or service is required')];
  }
  return url === undefined ? serviceErrors(child(path, 'service'), service!) : urlErrors(child(path, 'url'), url);
}

const form = '; desired format: https://host[/path]';

function urlErrors(path: string, text: string): FieldError[] {
  const url = parseGoUrl(text);
  if (typeof url === 'string') return [required(path, `url must be a valid URL: ${url}${form}`)];
  const errors: FieldError[] = [];
  if (url.scheme !== 'https') {
    errors.push(invalid(path, url.scheme, `'https' is the only allowed URL scheme${form}`));
  }
  if (url.host === '') errors.push(invalid(path, '', `host must be specified${form}`));
  if (url.user !== undefined) errors.push(invalid(path, url.user, 'user information is not permitted in the URL'));
  if (url.fragment !== '') errors.push(invalid(path, url.fragment, 'fragments are not permitted in the URL'));
  if (url.query !== '') errors.push(invalid(path, url.query, 'query parameters are not permitted in the URL'));
  return errors;
}

function serviceErrors(path: string, service: JsonObject): FieldError[] {
  const port = numberOf(service, 'port');
  const reasons = portNumberReasons(port);
  return [
    // Kubernetes passes the two in the wrong order: each is reported under the other's name.
    ...requiredErrors(child(path, 'name'), textOf(service, 'namespace')),
    ...requiredErrors(child(path, 'namespace'), textOf(service, 'name')),
    ...(reasons.length > 0 ? [invalid(child(path, 'port'), port, `port is not valid: ${reasons.join(', ')}`)] : []),
    ...urlPathErrors(child(path, 'path'), textOf(service, 'path')),
  ];
}

const segmentsMax = 32;

function urlPathErrors(path: string, url: string): FieldError[] {
  if (url === '' || url === '/') return [];
  if (url === '//') return [invalid(path, url, 'segment[0] may not be empty')];
  const errors = url.startsWith('/') ? [] : [invalid(path, url, "must start with a '/'")];
  const segments = url.slice(1).replace(/\/$/, '').split('/');
  // Each error includes the whole path.
  segments.slice(0, segmentsMax).forEach((segment, at) => {
    if (segment === '') errors.push(invalid(path, url, `segment[${at}] may not be empty`));
    else {
      const reasons = dnsSubdomainReasons(segment);
      errors.push(...reasons.map((reason) => invalid(path, url, `segment[${at}]: ${reason}`)));
    }
  });
  return errors;
}
