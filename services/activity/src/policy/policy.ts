/**
 * Policies decide which events are activities, and write their summaries.
 *
 *     kind: ActivityPolicy
 *     metadata: { name: deployments }
 *     spec:
 *       resource: { apiGroup: apps, resource: deployments }
 *       remember: { replicas: audit.responseObject.spec.replicas }
 *       rules:
 *       - match: has(previous.replicas) && has(current.replicas) && previous.replicas != current.replicas
 *         summary: '{{ actor }} scaled {{ kind }} {{ name }} from {{ previous.replicas }} to {{ current.replicas }}'
 *
 * The first rule that matches writes the summary. Events that no rule matches get the summary of `generalSummary`.
 */

import { isObject } from '@hangar/api';
import type { Program } from '@hangar/cel';
import { toJson } from '@hangar/cel';
import { objectOf, stringOf } from '../events/event.ts';
import type { AuditEvent } from '../events/event.ts';
import { compileExpression, evaluated, Template } from './template.ts';

export interface ActivityPolicySpec {
  readonly resource: { readonly apiGroup?: string; readonly resource: string };
  /** Values of an object that are kept until its next change, by name: CEL. */
  readonly remember?: Readonly<Record<string, string>>;
  readonly rules: readonly { readonly match: string; readonly summary: string }[];
}

export interface ActivityPolicy {
  readonly name: string;
  readonly spec: ActivityPolicySpec;
}

/** Facts about an event that summaries use. */
export interface Subject {
  readonly audit: AuditEvent;
  readonly actor: string;
  readonly kind: string;
  readonly name: string;
}

interface CompiledPolicy {
  readonly remember: readonly (readonly [string, Program])[];
  readonly rules: readonly { readonly match: Program; readonly summary: Template }[];
}

/** Remembered values of one object. */
const rememberedBytesMax = 2_048;

export class PolicySet {
  readonly #byResource = new Map<string, CompiledPolicy[]>();

  /** Throws an Error that names the policy and the invalid expression. Later policies of a resource come first. */
  constructor(policies: readonly ActivityPolicy[]) {
    for (const { name, spec } of policies) {
      try {
        const key = `${spec.resource.apiGroup ?? ''}/${spec.resource.resource}`;
        this.#byResource.set(key, [compiledPolicy(spec), ...(this.#byResource.get(key) ?? [])]);
      } catch (error) {
        throw new Error(`ActivityPolicy "${name}": ${(error as Error).message}`, { cause: error });
      }
    }
  }

  /** Returns the values to remember after an event; undefined if no policy of the resource remembers any. */
  remembered(apiGroup: string, resource: string, subject: Subject): Record<string, unknown> | undefined {
    const programs = this.#of(apiGroup, resource).flatMap(({ remember }) => remember);
    if (programs.length === 0) return undefined;
    const bindings = { ...subject, current: {}, previous: {} };
    const values: Record<string, unknown> = {};
    for (const [name, program] of programs) {
      const value = evaluated(program, bindings);
      if (value !== undefined) values[name] = toJson(value as never);
    }
    return JSON.stringify(values).length <= rememberedBytesMax ? values : {};
  }

  summary(
    apiGroup: string,
    resource: string,
    bindings: Subject & { readonly current: object; readonly previous: object },
  ): string {
    for (const { rules } of this.#of(apiGroup, resource)) {
      for (const { match, summary } of rules) {
        if (evaluated(match, { ...bindings }) !== true) continue;
        const text = summary.render({ ...bindings });
        if (text !== undefined) return text;
      }
    }
    return generalSummary(bindings);
  }

  #of(apiGroup: string, resource: string): readonly CompiledPolicy[] {
    return this.#byResource.get(`${apiGroup}/${resource}`) ?? [];
  }
}

const compiledPolicy = ({ remember = {}, rules }: ActivityPolicySpec): CompiledPolicy => ({
  remember: Object.entries(remember).map(([name, text]) => [name, compileExpression(text)] as const),
  rules: rules.map(({ match, summary }) => ({ match: compileExpression(match), summary: new Template(summary) })),
});

const verbs: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'updated',
  patch: 'updated',
  delete: 'deleted',
  deletecollection: 'deleted all',
};

/** Returns the summary of a change without a rule: `kim updated Deployment web`. */
function generalSummary({ audit, actor, kind, name }: Subject): string {
  const reference = objectOf(audit['objectRef']);
  const verb = verbs[stringOf(audit['verb'])] ?? stringOf(audit['verb']);
  const subresource = stringOf(reference['subresource']);
  const namespace = stringOf(reference['namespace']);
  const object = [kind, name].filter((text) => text !== '').join(' ');
  const what = subresource === '' ? object : `${subresource} of ${object}`;
  return `${actor} ${verb} ${what}${namespace === '' ? '' : ` in namespace ${namespace}`}`.toWellFormed();
}

/** Checks an object of a policy file. Throws an Error that says what is wrong. */
export function policyOf(object: unknown): ActivityPolicy {
  if (!isObject(object) || object['kind'] !== 'ActivityPolicy') throw new Error('kind must be ActivityPolicy');
  const name = stringOf(objectOf(object['metadata'])['name']);
  const spec = objectOf(object['spec']);
  const resource = objectOf(spec['resource']);
  const fail = (message: string): never => {
    throw new Error(`ActivityPolicy "${name}": ${message}`);
  };
  if (name === '') fail('metadata.name is required');
  if (stringOf(resource['resource']) === '') fail('spec.resource.resource is required');
  const rules = Array.isArray(spec['rules']) ? spec['rules'].map(objectOf) : fail('spec.rules must be a list');
  if (rules.some(({ match, summary }) => typeof match !== 'string' || typeof summary !== 'string')) {
    fail('every rule needs match and summary');
  }
  if (Object.values(objectOf(spec['remember'])).some((text) => typeof text !== 'string')) {
    fail('spec.remember must have expressions as values');
  }
  return { name, spec: spec as unknown as ActivityPolicySpec };
}
