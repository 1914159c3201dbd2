/**
 * Classifies requests by the FlowSchemas and PriorityLevelConfigurations of their control plane. They are read on first use and watched
 * from then on: a control plane without contention never reads them.
 */

import type { User } from '../../auth/user.ts';
import type { ControlPlane } from '../../control-plane.ts';
import { Followed } from '../../objects/followed.ts';
import type { RequestInfo } from '../../request/info.ts';
import { byPrecedence, matches, readFlowSchema, rulesFor } from './flow-schema.ts';
import type { FlowSchema } from './flow-schema.ts';
import { mandatoryLevels, mandatorySchemas } from './mandatory.ts';
import { readPriorityLevel } from './priority-level.ts';
import type { PriorityLevel } from './priority-level.ts';

export interface Classified {
  readonly schema: FlowSchema;
  readonly level: PriorityLevel;
  /** Response headers of kube-apiserver. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Candidate extends Classified {
  readonly rules: ReturnType<typeof rulesFor>;
}

const resource = (name: string) => ({ group: 'flowcontrol.apiserver.k8s.io', version: 'v1', resource: name });

export class Classifier {
  readonly #schemas: Followed<FlowSchema>;
  readonly #levels: Followed<PriorityLevel>;
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  /** Schemas of all users; undefined: must be rebuilt. */
  #all: readonly Classified[] | undefined;
  #known: ReadonlyMap<string, PriorityLevel> = new Map();
  /** Cache of the schemas that match a user. */
  #byUser = new WeakMap<User, readonly Candidate[]>();
  #generation = 0;

  constructor(plane: ControlPlane) {
    const changed = (): void => {
      this.#all = undefined;
      this.#byUser = new WeakMap();
      this.#generation++;
    };
    this.#schemas = new Followed(plane, resource('flowschemas'), readFlowSchema, changed);
    this.#levels = new Followed(plane, resource('prioritylevelconfigurations'), readPriorityLevel, changed);
  }

  /** Reports whether the objects were read. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Incremented with every change. */
  get generation(): number {
    return this.#generation;
  }

  /** Levels by name, including the mandatory ones. */
  get levels(): ReadonlyMap<string, PriorityLevel> {
    this.#compiled();
    return this.#known;
  }

  /** Never rejects: failures are retried with the next call. */
  load(): Promise<void> {
    return (this.#loading ??= Promise.all([this.#schemas.ready(), this.#levels.ready()]).then(
      () => void (this.#isLoaded = true),
      () => void (this.#loading = undefined),
    ));
  }

  /** Uses only the mandatory objects until the others are read. */
  classify(user: User, info: RequestInfo): Classified {
    let candidates = this.#byUser.get(user);
    if (!candidates) this.#byUser.set(user, (candidates = this.#candidates(user)));
    for (const one of candidates) if (matches(one.rules, info)) return one;
    return this.#compiled().find(({ schema }) => schema.name === 'catch-all')!;
  }

  #candidates(user: User): Candidate[] {
    return this.#compiled().flatMap((one) => {
      const rules = rulesFor(one.schema, user);
      return rules.length === 0 ? [] : [{ ...one, rules }];
    });
  }

  /** A schema with a missing level is ignored. */
  #compiled(): readonly Classified[] {
    if (this.#all) return this.#all;
    const schemas = named(mandatorySchemas, this.#schemas.all);
    this.#known = named(mandatoryLevels, this.#levels.all);
    this.#all = [...schemas.values()].sort(byPrecedence).flatMap((schema) => {
      const level = this.#known.get(schema.level);
      return level ? [{ schema, level, headers: headersOf(schema, level) }] : [];
    });
    return this.#all;
  }

  close(): void {
    this.#schemas.close();
    this.#levels.close();
  }
}

const named = <T extends { readonly name: string }>(fixed: readonly T[], stored: ReadonlyMap<string, T> = new Map()) =>
  new Map([...fixed.map((one) => [one.name, one] as const), ...stored]);

const headersOf = (schema: FlowSchema, level: PriorityLevel): Readonly<Record<string, string>> => ({
  'x-kubernetes-pf-flowschema-uid': schema.uid,
  'x-kubernetes-pf-prioritylevel-uid': level.uid,
});
