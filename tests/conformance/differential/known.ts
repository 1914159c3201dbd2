/** Known differences, each with its reason: the same list as in docs/conformance.md. Any other difference is a bug. */

import { isObject } from '@hangar/api';
import type { Difference } from './difference.ts';
import type { Context } from './run.ts';

export interface KnownDifference {
  /** As in docs/conformance.md. */
  readonly name: string;
  matches(difference: Difference, context: Context): boolean;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Both texts are the same after `equal`. */
const alike = ({ real, ours }: Difference, equal: (text: string) => string): boolean =>
  isText(real) && isText(ours) && equal(real) === equal(ours);

const isMessage = ({ path }: Difference): boolean => /^body\.(message|details\.causes\[\d+\]\.message)$/.test(path);

/** `Invalid value: {…}` and `Invalid value: "{\"…` and `"map[…]"`: objects in a refusal, up to the message. */
const withoutQuotedObjects = (text: string): string =>
  text
    .replace(/Invalid value: "(\{|map\[|\[)(\\.|[^"\\])*"/g, 'Invalid value: <object>')
    .replace(/Invalid value: [{[].*?[}\]](?=: )/g, 'Invalid value: <object>')
    .replace(/\n@@ -.*/s, '<difference>');

/** kube-apiserver visits the fields of an object in random order and stops at the first unknown one. */
function areChoicesOfSchemaErrors({ real, ours }: Difference): boolean {
  if (!isText(real) || !isText(ours) || !real.startsWith('failed to create typed patch object')) return false;
  const errorsOf = (text: string): string[] =>
    text
      .replace(/^[^)]*\): (errors:\n {2})?/, '')
      .replace(/\.\S*(?=: field not declared in schema)/g, '<field>')
      .split('\n  ');
  return errorsOf(real).some((error) => errorsOf(ours).includes(error));
}

const sameSet = (real: unknown, ours: unknown): boolean => {
  const [a, b] = [real, ours].map((list) =>
    Array.isArray(list) ? [...new Set(list.map((one) => JSON.stringify(one)))].sort() : undefined,
  );
  return a !== undefined && JSON.stringify(a) === JSON.stringify(b);
};

function causesOf(body: unknown): unknown {
  const details = isObject(body) ? body['details'] : undefined;
  return isObject(details) ? details['causes'] : undefined;
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    name: 'prose of the API',
    matches: ({ path, ours }) => /^body\.columnDefinitions\[\d+\]\.description$/.test(path) && ours === '',
  },
  {
    name: "a client's fault called the server's",
    matches: (_difference, { real, ours }) => real.status === 500 && ours.status >= 400 && ours.status < 500,
  },
  {
    name: 'requests that kube-apiserver does not answer',
    matches: (_difference, { real, ours }) => real.status === 0 && ours.status >= 400 && ours.status < 500,
  },
  {
    name: 'objects quoted in refusals',
    matches: (difference) => isMessage(difference) && alike(difference, withoutQuotedObjects),
  },
  {
    name: 'order and choice of schema errors',
    matches: (difference) => isMessage(difference) && areChoicesOfSchemaErrors(difference),
  },
  {
    name: 'order and repetition of causes',
    matches: ({ path }, { real, ours }) =>
      (real.status === 422 || real.status === 409) &&
      /^body\.(message|details\.causes)/.test(path) &&
      sameSet(causesOf(real.body), causesOf(ours.body)),
  },
  {
    name: 'objects written again without a change',
    matches: ({ path }, { step }) =>
      path.endsWith('metadata.resourceVersion') && /\/(persistentvolumeclaims|jobs)\//.test(step.object),
  },
  {
    name: 'versions of what is only imagined',
    matches: ({ path }, { step }) => path.endsWith('metadata.resourceVersion') && step.query['dryRun'] === 'All',
  },
  {
    name: 'warnings of profiles by annotation',
    matches: ({ path, real }) => path === 'warnings' && JSON.stringify(real).includes('appArmorProfile'),
  },
  {
    name: 'empty lists that are always written',
    matches: (_difference, { step }) => /\/(endpointslices|csinodes)\b/.test(step.object),
  },
  {
    name: "fields that Go's conversions set",
    matches: ({ path }, { step }) =>
      path.includes('managedFields') && /\/(daemonsets|services|horizontalpodautoscalers|pods)\//.test(step.object),
  },
  {
    name: 'nulls in what is applied to custom resources',
    matches: (_difference, { real }) =>
      real.status === 422 && JSON.stringify(real.body).includes('must be of type object: \\\"null\\\"'),
  },
  {
    name: 'warnings of refused objects',
    matches: ({ path }, { real, ours }) => path === 'warnings' && real.status === 422 && ours.status === 422,
  },
  {
    name: 'times of year one',
    matches: ({ path }, { step, ours }) =>
      /^body\.(message|details)/.test(path) &&
      ours.status === 422 &&
      JSON.stringify(step.body ?? null).includes('0001-01-01T00:00:00Z'),
  },
  {
    name: 'words for what a body is not',
    matches: ({ path }, { real, ours }) => path === 'body.message' && real.status === 400 && ours.status === 400,
  },
  {
    name: 'words for formats that are not served',
    matches: ({ path }, { real, ours }) =>
      /^body\.(message|details)/.test(path) && real.status === 406 && ours.status === 406,
  },
  {
    name: 'objects that a status makes',
    matches: (_difference, { step, ours }) =>
      step.object.includes('/services/') && step.path.endsWith('/status') && ours.status === 404,
  },
  {
    name: 'the object in the answer to its deletion',
    matches: ({ path }, { step }) =>
      step.method === 'DELETE' && /^body\.metadata\.(finalizers|resourceVersion)/.test(path),
  },
  {
    name: 'when to try again',
    matches: ({ path }, { real }) => path === 'body.details.retryAfterSeconds' && real.status === 504,
  },
  {
    name: 'Go error texts for invalid continue tokens',
    matches: ({ path, real, ours }) =>
      path === 'body.message' &&
      [real, ours].every((text) => isText(text) && text.includes('continue key is not valid')),
  },
];

export function knownDifference(difference: Difference, context: Context): KnownDifference | undefined {
  return knownDifferences.find((one) => one.matches(difference, context));
}
