/** Selection by labels: from `?labelSelector=` and from the `LabelSelector` inside of objects. */

import { badRequest } from '../status/status.ts';
import { quote } from '../status/field-error.ts';
import { parseRequirements } from './label-parser.ts';
import { LabelRequirement, requirementProblem } from './label-requirement.ts';
import type { LabelOperator, Labels } from './label-requirement.ts';

const noLabels: Labels = {};

/** All requirements must hold. */
export class LabelSelector {
  /** By key. */
  readonly requirements: readonly LabelRequirement[];
  readonly #matchesNothing: boolean;

  constructor(requirements: readonly LabelRequirement[], options: { matchesNothing?: boolean } = {}) {
    this.requirements = requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    this.#matchesNothing = options.matchesNothing ?? false;
  }

  /** Selects everything. */
  get isEmpty(): boolean {
    return this.requirements.length === 0 && !this.#matchesNothing;
  }

  matches(labels: Labels | undefined): boolean {
    if (this.#matchesNothing) return false;
    return this.requirements.every((requirement) => requirement.matches(labels ?? noLabels));
  }

  /** The canonical text, which parses to an equal selector. */
  toString(): string {
    return this.requirements.join(',');
  }
}

const everything = new LabelSelector([]);
const nothing = new LabelSelector([], { matchesNothing: true });

/** Throws a BadRequest with the reason. */
export function parseLabelSelector(text: string): LabelSelector {
  return text === '' ? everything : new LabelSelector(parseRequirements(text));
}

/** `LabelSelector` of meta v1. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | null;
  readonly matchExpressions?: readonly LabelSelectorExpression[] | null;
}

export interface LabelSelectorExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | null;
}

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/** An absent selector selects nothing, an empty one everything. Throws a BadRequest for an invalid one. */
export function labelSelectorOf(selector: LabelSelectorObject | null | undefined): LabelSelector {
  if (!selector) return nothing;
  const requirements = [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => new LabelRequirement(key, '=', [value])),
    ...(selector.matchExpressions ?? []).map(requirementOf),
  ];
  for (const requirement of requirements) {
    const problem = requirementProblem(requirement);
    if (problem !== undefined) throw badRequest(problem);
  }
  return requirements.length === 0 ? everything : new LabelSelector(requirements);
}

function requirementOf({ key, operator, values }: LabelSelectorExpression): LabelRequirement {
  const known = operators.get(operator);
  if (!known) throw badRequest(`${quote(operator)} is not a valid label selector operator`);
  return new LabelRequirement(key, known, values ?? []);
}
