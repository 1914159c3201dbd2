/** FlowSchema and PriorityLevelConfiguration. Those that the server itself needs are fixed. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, duplicate, forbidden, index, invalid, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { dnsLabelReasons, dnsSubdomainReasons } from '../formats.ts';
import { dnsSubdomainErrors, invalidFor, requiredErrors } from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import {
  flagOf,
  isSet,
  numberOf,
  optionalNumber,
  optionalStruct,
  structOf,
  structsOf,
  textOf,
  textsOf,
} from '../shared/read.ts';
import { shownFlowSchemaSpec, shownPriorityLevelSpec } from './flow-control-forms.ts';

const precedenceMax = 10_000;
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

const everything: JsonObject = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const group = (name: string): JsonObject => ({ kind: 'Group', group: { name } });

const mandatorySchemas: Readonly<Record<string, JsonObject>> = {
  exempt: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: [{ subjects: [group('system:masters')], ...everything }],
  },
  'catch-all': {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: precedenceMax,
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: [group('system:unauthenticated'), group('system:authenticated')], ...everything }],
  },
};

function schemaErrors(object: KubeObject): FieldError[] {
  const spec = structOf(object, 'spec');
  const name = object.metadata.name ?? '';
  const isChanged = Object.hasOwn(mandatorySchemas, name) && !equalValues(spec, mandatorySchemas[name]);
  return [
    ...precedenceErrors(numberOf(spec, 'matchingPrecedence'), name),
    ...distinguisherErrors(spec),
    ...levelErrors(textOf(structOf(spec, 'priorityLevelConfiguration'), 'name')),
    ...structsOf(spec, 'rules').flatMap((rule, at) => rulesErrors(index('spec.rules', at), rule)),
    ...(isChanged ? [invalid('spec', shownFlowSchemaSpec(spec), `spec of '${name}' must equal the fixed value`)] : []),
    ...conditionErrors(object),
  ];
}

function precedenceErrors(precedence: number, name: string): FieldError[] {
  const refuse = (rule: string): FieldError => invalid('spec.matchingPrecedence', precedence, rule);
  if (precedence <= 0) return [refuse('must be a positive value')];
  if (precedence > precedenceMax) return [refuse(`must not be greater than ${precedenceMax}`)];
  if (precedence === 1 && name !== 'exempt') {
    return [refuse("only the schema named 'exempt' may have matchingPrecedence 1")];
  }
  return [];
}

function distinguisherErrors(spec: JsonObject): FieldError[] {
  const method = optionalStruct(spec, 'distinguisherMethod');
  const type = textOf(method, 'type');
  const supported = ['ByNamespace', 'ByUser'];
  if (!method || supported.includes(type)) return [];
  return [notSupported('spec.distinguisherMethod.type', { Type: type }, supported)];
}

function levelErrors(name: string): FieldError[] {
  const path = 'spec.priorityLevelConfiguration.name';
  return name === '' ? [required(path, 'must reference a priority level')] : dnsSubdomainErrors(path, name);
}

function rulesErrors(path: string, rule: JsonObject): FieldError[] {
  const subjects = structsOf(rule, 'subjects');
  const [resources, urls] = [structsOf(rule, 'resourceRules'), structsOf(rule, 'nonResourceRules')];
  const isEmpty = resources.length === 0 && urls.length === 0;
  return [
    ...(subjects.length === 0 ? [required(child(path, 'subjects'), 'subjects must contain at least one value')] : []),
    ...subjects.flatMap((subject, at) => subjectErrors(index(child(path, 'subjects'), at), subject)),
    ...(isEmpty ? [required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')] : []),
    ...resources.flatMap((one, at) => resourceRuleErrors(index(child(path, 'resourceRules'), at), one)),
    ...urls.flatMap((one, at) => urlRuleErrors(index(child(path, 'nonResourceRules'), at), one)),
  ];
}

/** In the order in which unexpected fields are reported. */
const subjectFields: readonly (readonly [kind: string, field: string])[] = [
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
];

function subjectErrors(path: string, subject: JsonObject): FieldError[] {
  const kind = textOf(subject, 'kind');
  const field = subjectFields.find(([name]) => name === kind)?.[1];
  if (field === undefined) return [notSupported(child(path, 'kind'), kind, ['Group', 'ServiceAccount', 'User'])];
  const inner = optionalStruct(subject, field);
  const at = child(path, field);
  const own = inner
    ? field === 'serviceAccount'
      ? accountErrors(at, inner)
      : requiredErrors(child(at, 'name'), textOf(inner, 'name'))
    : [required(at, `${field} is required when subject kind is '${kind}'`)];
  const strangers = subjectFields.filter(([name, other]) => name !== kind && isSet(subject, other));
  return [
    ...own,
    ...strangers.map(([name, other]) =>
      forbidden(child(path, other), `${other} is forbidden when subject kind is not '${name}'`),
    ),
  ];
}

function accountErrors(path: string, account: JsonObject): FieldError[] {
  const [name, namespace] = [textOf(account, 'name'), textOf(account, 'namespace')];
  const namespacePath = child(path, 'namespace');
  return [
    ...requiredErrors(child(path, 'name'), name),
    ...(name === '' || name === '*' ? [] : invalidFor(child(path, 'name'), name, dnsSubdomainReasons(name))),
    ...(namespace === ''
      ? [required(namespacePath, 'must specify namespace for service account')]
      : invalidFor(namespacePath, namespace, dnsLabelReasons(namespace))),
  ];
}

/** `*` must be the only value. */
const aloneErrors = (path: string, values: readonly string[], what: string): FieldError[] =>
  values.length > 1 && values.includes('*')
    ? [invalid(path, values, `if '*' is present, must not specify other ${what}`)]
    : [];

function verbErrors(path: string, list: readonly string[]): FieldError[] {
  if (list.length === 0) return [required(path, 'verbs must contain at least one value')];
  if (list.includes('*')) return aloneErrors(path, list, 'verbs');
  return list.every((verb) => verbs.includes(verb)) ? [] : [notSupported(path, list, verbs)];
}

function resourceRuleErrors(path: string, rule: JsonObject): FieldError[] {
  const needed = (field: string, text: string, what: string): FieldError[] => {
    const values = textsOf(rule, field);
    return values.length === 0 ? [required(child(path, field), text)] : aloneErrors(child(path, field), values, what);
  };
  return [
    ...verbErrors(child(path, 'verbs'), textsOf(rule, 'verbs')),
    ...needed('apiGroups', 'resource rules must supply at least one api group', 'api groups'),
    ...needed('resources', 'resource rules must supply at least one resource', 'resources'),
    ...namespaceErrors(child(path, 'namespaces'), rule),
  ];
}

function namespaceErrors(path: string, rule: JsonObject): FieldError[] {
  const namespaces = textsOf(rule, 'namespaces');
  if (namespaces.length === 0 && !flagOf(rule, 'clusterScope')) {
    return [required(path, 'resource rules that are not cluster scoped must supply at least one namespace')];
  }
  if (namespaces.includes('*')) return aloneErrors(path, namespaces, 'namespaces');
  return namespaces.flatMap((namespace, at) =>
    dnsLabelReasons(namespace).map((reason) =>
      invalid(index(path, at), namespace, `each member of this list must be '*' or a DNS-1123 label; ${reason}`),
    ),
  );
}

function urlRuleErrors(path: string, rule: JsonObject): FieldError[] {
  const urls = textsOf(rule, 'nonResourceURLs');
  const urlsPath = child(path, 'nonResourceURLs');
  const errors = verbErrors(child(path, 'verbs'), textsOf(rule, 'verbs'));
  if (urls.length === 0) return [...errors, required(urlsPath, 'nonResourceURLs must contain at least one value')];
  if (urls.includes('*')) return [...errors, ...aloneErrors(urlsPath, urls, 'non-resource URLs')];
  return [
    ...errors,
    ...urls.flatMap((url, at) => {
      const problem = urlProblem(url);
      return problem === undefined ? [] : [invalid(index(urlsPath, at), url, problem)];
    }),
  ];
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const stars = url.split('*').length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined;
}

function conditionErrors(object: KubeObject): FieldError[] {
  const types = new Set<string>();
  return structsOf(structOf(object, 'status'), 'conditions').flatMap((condition, at) => {
    const path = child(index('status.conditions', at), 'type');
    const type = textOf(condition, 'type');
    const repeated = types.has(type) ? [duplicate(path, type)] : [];
    types.add(type);
    return [...repeated, ...requiredErrors(path, type)];
  });
}

export const flowSchema: KindValidation = {
  create: schemaErrors,
  update: (object, _old, subresource) => (subresource === 'status' ? conditionErrors(object) : schemaErrors(object)),
};

const preserveZero = 'flowcontrol.k8s.io/preserve-zero-concurrency-shares';

const catchAll: JsonObject = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
};

function levelSpecErrors(object: KubeObject): FieldError[] {
  const spec = structOf(object, 'spec');
  const name = object.metadata.name ?? '';
  const isReserved = Object.hasOwn(object.metadata.annotations ?? {}, preserveZero);
  const annotationErrors = isReserved
    ? [forbidden('metadata.annotations', `annotation '${preserveZero}' is forbidden`)]
    : [];
  return [...annotationErrors, ...typeErrors(spec, name), ...fixedErrors(spec, name), ...conditionErrors(object)];
}

function typeErrors(spec: JsonObject, name: string): FieldError[] {
  const type = textOf(spec, 'type');
  const [limited, exempt] = [optionalStruct(spec, 'limited'), optionalStruct(spec, 'exempt')];
  const errors =
    (name === 'exempt') === (type === 'Exempt')
      ? []
      : [invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'")];
  if (type === 'Exempt') {
    if (limited) errors.push(forbidden('spec.limited', 'must be nil if the type is not Limited'));
    return exempt ? [...errors, ...shareErrors('spec.exempt', exempt)] : errors;
  }
  if (type !== 'Limited') {
    return [
      ...errors,
      type === '' ? required('spec.type', '') : notSupported('spec.type', type, ['Exempt', 'Limited']),
    ];
  }
  if (exempt) errors.push(forbidden('spec.exempt', 'must be nil if the type is Limited'));
  if (!limited) return [...errors, required('spec.limited', 'must not be empty when type is Limited')];
  return [...errors, ...limitedErrors(limited)];
}

const sharesErrors = (path: string, holder: JsonObject): FieldError[] => {
  const shares = numberOf(holder, 'nominalConcurrencyShares');
  return shares < 0 ? [invalid(child(path, 'nominalConcurrencyShares'), shares, 'must be a non-negative integer')] : [];
};

const lendableErrors = (path: string, holder: JsonObject): FieldError[] => {
  const percent = optionalNumber(holder, 'lendablePercent');
  if (percent === undefined || (percent >= 0 && percent <= 100)) return [];
  return [invalid(child(path, 'lendablePercent'), percent, 'must be between 0 and 100, inclusive')];
};

const shareErrors = (path: string, holder: JsonObject): FieldError[] => [
  ...sharesErrors(path, holder),
  ...lendableErrors(path, holder),
];

function limitedErrors(limited: JsonObject): FieldError[] {
  const path = 'spec.limited';
  const percent = optionalNumber(limited, 'borrowingLimitPercent');
  const rule = 'if specified, must be a non-negative integer';
  return [
    ...sharesErrors(path, limited),
    ...responseErrors(child(path, 'limitResponse'), structOf(limited, 'limitResponse')),
    ...lendableErrors(path, limited),
    ...(percent !== undefined && percent < 0 ? [invalid(child(path, 'borrowingLimitPercent'), percent, rule)] : []),
  ];
}

function responseErrors(path: string, response: JsonObject): FieldError[] {
  const type = textOf(response, 'type');
  const queuing = optionalStruct(response, 'queuing');
  const queuingPath = child(path, 'queuing');
  switch (type) {
    case 'Reject':
      return queuing ? [forbidden(queuingPath, 'must be nil if limited.limitResponse.type is not Limited')] : [];
    case 'Queue':
      if (queuing) return queuingErrors(queuingPath, queuing);
      return [required(queuingPath, 'must not be empty if limited.limitResponse.type is Limited')];
    default:
      return [
        type === '' ? required(child(path, 'type'), '') : notSupported(child(path, 'type'), type, ['Queue', 'Reject']),
      ];
  }
}

const queuesMax = 10_000_000;
const entropyBitsMax = 60;

function queuingErrors(path: string, queuing: JsonObject): FieldError[] {
  const [queues, hand] = [numberOf(queuing, 'queues'), numberOf(queuing, 'handSize')];
  const length = numberOf(queuing, 'queueLengthLimit');
  const errors: FieldError[] = [];
  const refuse = (field: string, value: number, rule: string): number =>
    errors.push(invalid(child(path, field), value, rule));
  if (length <= 0) refuse('queueLengthLimit', length, 'must be positive');
  if (queues <= 0) refuse('queues', queues, 'must be positive');
  else if (queues > queuesMax) refuse('queues', queues, `must not be greater than ${queuesMax}`);
  if (hand <= 0) refuse('handSize', hand, 'must be positive');
  else if (hand > queues) refuse('handSize', hand, `should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * hand) > entropyBitsMax) {
    const rule = `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${entropyBitsMax}`;
    refuse('handSize', hand, rule);
  }
  return errors;
}

function fixedErrors(spec: JsonObject, name: string): FieldError[] {
  const shown = (): unknown => shownPriorityLevelSpec(spec);
  if (name === 'exempt') {
    const { exempt: _, ...rest } = spec;
    if (equalValues(rest, { type: 'Exempt' })) return [];
    return [invalid('spec', shown(), `spec of 'exempt' except the 'spec.exempt' field must equal the fixed value`)];
  }
  if (name !== 'catch-all' || equalValues(spec, catchAll)) return [];
  return [invalid('spec', shown(), `spec of 'catch-all' must equal the fixed value`)];
}

export const priorityLevelConfiguration: KindValidation = {
  create: levelSpecErrors,
  update: (object, _old, subresource) => (subresource === 'status' ? conditionErrors(object) : levelSpecErrors(object)),
};
