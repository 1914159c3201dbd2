/**
 * Selectors of a list, a watch or a deletecollection, for authorizers: a user who may only see pods of one node may list those. Parsed when
 * an authorizer needs them; selectors that cannot be parsed restrict nothing, and the verb refuses them later.
 */

import { parseFieldSelector, parseLabelSelector } from '@hangar/api';
import type { FieldRequirement, LabelRequirement } from '@hangar/api';
import type { RequestInfo, ResourceRequest } from './info.ts';
import type { Query } from './query.ts';

export interface RequestSelectors {
  readonly fields: Selected<FieldRequirement>;
  readonly labels: Selected<LabelRequirement>;
}

export interface Selected<T> {
  /** All of them must match. */
  readonly requirements: readonly T[];
  /** Some requirements could not be parsed and were dropped. */
  readonly isPartial: boolean;
}

export const nothingSelected: Selected<never> = { requirements: [], isPartial: false };

const selecting = new Set<string>(['list', 'watch', 'deletecollection']);

/** Returns the request for authorizers: with its selectors, and with the name if they select a single one. */
export function selectedRequest(info: RequestInfo, path: string, query: Query): RequestInfo {
  if (!info.isResource || !selecting.has(info.verb) || isOldWatch(path)) return info;
  const fields = query.text('fieldSelector');
  const labels = query.text('labelSelector');
  if (fields === '' && labels === '') return info;
  const selectors = new ParsedSelectors(fields, labels);
  return { ...info, name: info.verb === 'deletecollection' ? '' : soleName(info, selectors), selectors };
}

/** `/api/v1/watch/…` does not support selectors everywhere. */
const isOldWatch = (path: string): boolean => /^\/(?:api|apis\/[^/]*)\/[^/]*\/watch\//.test(path);

function soleName({ name }: ResourceRequest, { fields }: RequestSelectors): string {
  if (name !== '') return name;
  const named = fields.requirements.find(({ field, operator }) => field === 'metadata.name' && operator === '=');
  return named && isPathSegment(named.value) ? named.value : '';
}

const isPathSegment = (text: string): boolean => text !== '.' && text !== '..' && !/[/%]/.test(text);

class ParsedSelectors implements RequestSelectors {
  readonly #fieldText: string;
  readonly #labelText: string;
  #fields: Selected<FieldRequirement> | undefined;
  #labels: Selected<LabelRequirement> | undefined;

  constructor(fieldText: string, labelText: string) {
    this.#fieldText = fieldText;
    this.#labelText = labelText;
  }

  get fields(): Selected<FieldRequirement> {
    return (this.#fields ??= fieldsSelected(this.#fieldText));
  }

  get labels(): Selected<LabelRequirement> {
    return (this.#labels ??= labelsSelected(this.#labelText));
  }
}

export const fieldsSelected = (text: string): Selected<FieldRequirement> =>
  selected(() => parseFieldSelector(text).requirements);
export const labelsSelected = (text: string): Selected<LabelRequirement> =>
  selected(() => parseLabelSelector(text).requirements);

function selected<T>(parse: () => readonly T[]): Selected<T> {
  try {
    return { requirements: parse(), isPartial: false };
  } catch {
    return { requirements: [], isPartial: true };
  }
}
