/** One operation for each verb of a resource. Custom resources differ in accepted and returned media types and in parameters. */

import type { GroupVersion, GroupVersionKind } from '../builtin/schemas.ts';
import { schemaOf } from '../builtin/schemas.ts';
import type { ServedResource } from '../discovery/model.ts';
import type { NamedSchema } from './definitions.ts';
import { groupTitle, tagOf, title } from './operations.ts';
import type { Operation, StatusCode } from './operations.ts';
import { optionParameters, pretty } from './parameters.ts';
import type { Parameter } from './parameters.ts';
import { metaSchema, metaStruct } from './struct-schema.ts';
import { patchSchema } from './value-schemas.ts';

/** Subject of an operation: a collection, an object, or a subresource. */
export interface Target {
  readonly schema: NamedSchema;
  readonly kind: GroupVersionKind;
  /** Parameters of the path. */
  readonly scope: readonly Parameter[];
  /** The resource in the names of operations: `NamespacedPodStatus`. */
  readonly title: string;
}

interface Family {
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly streams: readonly string[];
  readonly patches: readonly string[];
  readonly patchCodes: readonly StatusCode[];
}

const json = 'application/json';
const yaml = 'application/yaml';
const protobuf = 'application/vnd.kubernetes.protobuf';
const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicMergePatch = 'application/strategic-merge-patch+json';
const applyPatch = 'application/apply-patch+yaml';

const families: Readonly<Record<ServedResource['schema']['type'], Family>> = {
  builtin: {
    consumes: ['*/*'],
    produces: [json, yaml, protobuf],
    streams: [`${json};stream=watch`, `${protobuf};stream=watch`],
    patches: [jsonPatch, mergePatch, strategicMergePatch, applyPatch],
    patchCodes: [200, 201],
  },
  custom: {
    consumes: [json, yaml],
    produces: [json, yaml],
    streams: [],
    patches: [jsonPatch, mergePatch, applyPatch],
    patchCodes: [200],
  },
};

/** Resources that answer a deletion with the deleted object instead of a Status. */
const answeredByObject = new Set(
  [
    'persistentvolumeclaims,persistentvolumes,pods,podtemplates,resourcequotas,serviceaccounts,services',
    'deviceclasses,resourceclaims,resourceclaimtemplates,resourceslices',
    'csidrivers,csinodes,storageclasses,volumeattachments,volumeattributesclasses',
  ].flatMap((names) => names.split(',')),
);

const optionsOf = (kind: string, except?: readonly string[]): Parameter[] => optionParameters(metaStruct(kind), except);

type Facts = Pick<Operation, 'method' | 'answer'> &
  Partial<Operation> & {
    readonly action: string;
    /** Start of its id, and the part after the group-version; absent: the action, and an empty text. */
    readonly verb?: readonly [first: string, second?: string];
    readonly options?: readonly Parameter[];
  };

export class ResourceOperations {
  readonly #where: GroupVersion;
  readonly #resource: ServedResource;
  readonly #isCustom: boolean;
  readonly #family: Family;

  constructor(where: GroupVersion, resource: ServedResource) {
    this.#where = where;
    this.#resource = resource;
    this.#isCustom = resource.schema.type === 'custom';
    this.#family = families[resource.schema.type];
  }

  list(target: Target, answer: NamedSchema): Operation {
    const produces = [...this.#family.produces, ...this.#family.streams];
    return this.#operation(target, {
      method: 'get',
      action: 'list',
      answer,
      produces,
      options: optionsOf('ListOptions'),
    });
  }

  watch(target: Target, action: 'watch' | 'watchlist'): Operation {
    const produces = [...this.#family.produces, ...this.#family.streams];
    const options = optionsOf('ListOptions');
    const facts = { method: 'get', action, verb: ['watch'], produces, options } as const;
    return this.#operation(target, { ...facts, answer: metaSchema('WatchEvent') });
  }

  create(target: Target): Operation {
    const { schema } = target;
    const facts = { method: 'post', action: 'post', verb: ['create'], codes: [200, 201, 202] } as const;
    const body = { schema, isRequired: true };
    return this.#operation(target, { ...facts, answer: schema, body, options: optionsOf('CreateOptions') });
  }

  read(target: Target): Operation {
    const options = this.#isCustom ? optionsOf('GetOptions') : [];
    return this.#operation(target, { method: 'get', action: 'get', verb: ['read'], answer: target.schema, options });
  }

  replace(target: Target): Operation {
    const { schema } = target;
    const facts = { method: 'put', action: 'put', verb: ['replace'], codes: [200, 201] } as const;
    const body = { schema, isRequired: true };
    return this.#operation(target, { ...facts, answer: schema, body, options: optionsOf('UpdateOptions') });
  }

  patch(target: Target): Operation {
    const { patches: consumes, patchCodes: codes } = this.#family;
    const body = { schema: patchSchema, isRequired: true };
    const facts = { method: 'patch', action: 'patch', consumes, codes, body } as const;
    return this.#operation(target, { ...facts, answer: target.schema, options: optionsOf('PatchOptions') });
  }

  delete(target: Target): Operation {
    const isObject = !this.#isCustom && answeredByObject.has(this.#resource.name);
    const answer = isObject ? target.schema : metaSchema('Status');
    const body = { schema: metaSchema('DeleteOptions'), isRequired: false };
    const facts = { method: 'delete', action: 'delete', codes: [200, 202] } as const;
    return this.#operation(target, { ...facts, answer, body, options: optionsOf('DeleteOptions') });
  }

  deleteCollection(target: Target): Operation {
    const facts = { method: 'delete', action: 'deletecollection', verb: ['delete', 'Collection'] } as const;
    const answer = metaSchema('Status');
    // kube-apiserver's documents have no body for custom resources, although it reads one.
    if (this.#isCustom) return this.#operation(target, { ...facts, answer, options: optionsOf('ListOptions') });
    const body = { schema: metaSchema('DeleteOptions'), isRequired: false };
    const selection = optionsOf('ListOptions', ['watch', 'allowWatchBookmarks']);
    return this.#operation(target, { ...facts, answer, body, options: [...optionsOf('DeleteOptions'), ...selection] });
  }

  /** Only for pods. */
  log(target: Target): Operation {
    const produces = ['text/plain', ...this.#family.produces];
    const options = optionParameters(schemaOf('v1', 'PodLogOptions')!);
    const facts = { method: 'get', action: 'get', verb: ['read'], produces, options } as const;
    return this.#operation(target, { ...facts, answer: undefined });
  }

  #operation(target: Target, { verb, options = [], ...facts }: Facts): Operation {
    const { group, version } = this.#where;
    const [first, second = ''] = verb ?? [facts.action];
    return {
      id: first + groupTitle(group) + title(version) + second + target.title,
      tag: tagOf(group, version),
      kind: target.kind,
      consumes: this.#family.consumes,
      produces: this.#family.produces,
      codes: [200],
      ...facts,
      parameters: [...target.scope, ...options, pretty],
    };
  }
}
