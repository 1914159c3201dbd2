/** Specs of flow control as the server keeps them, which messages show. */

import type { JsonObject } from '../../object.ts';
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

const list = (holder: JsonObject, field: string): readonly string[] | null =>
  isSet(holder, field) ? textsOf(holder, field) : null;
const structs = (holder: JsonObject, field: string, show: (one: JsonObject) => JsonObject): JsonObject[] | null =>
  isSet(holder, field) ? structsOf(holder, field).map(show) : null;
const named = (holder: JsonObject, field: string): JsonObject | null =>
  isSet(holder, field) ? { Name: textOf(structOf(holder, field), 'name') } : null;

export const shownFlowSchemaSpec = (spec: JsonObject): JsonObject => ({
  PriorityLevelConfiguration: { Name: textOf(structOf(spec, 'priorityLevelConfiguration'), 'name') },
  MatchingPrecedence: numberOf(spec, 'matchingPrecedence'),
  DistinguisherMethod: isSet(spec, 'distinguisherMethod')
    ? { Type: textOf(structOf(spec, 'distinguisherMethod'), 'type') }
    : null,
  Rules: structs(spec, 'rules', (rule) => ({
    Subjects: structs(rule, 'subjects', shownSubject),
    ResourceRules: structs(rule, 'resourceRules', (one) => ({
      Verbs: list(one, 'verbs'),
      APIGroups: list(one, 'apiGroups'),
      Resources: list(one, 'resources'),
      ClusterScope: flagOf(one, 'clusterScope'),
      Namespaces: list(one, 'namespaces'),
    })),
    NonResourceRules: structs(rule, 'nonResourceRules', (one) => ({
      Verbs: list(one, 'verbs'),
      NonResourceURLs: list(one, 'nonResourceURLs'),
    })),
  })),
});

function shownSubject(subject: JsonObject): JsonObject {
  const account = optionalStruct(subject, 'serviceAccount');
  return {
    Kind: textOf(subject, 'kind'),
    User: named(subject, 'user'),
    Group: named(subject, 'group'),
    ServiceAccount: account ? { Namespace: textOf(account, 'namespace'), Name: textOf(account, 'name') } : null,
  };
}

export function shownPriorityLevelSpec(spec: JsonObject): JsonObject {
  const [limited, exempt] = [optionalStruct(spec, 'limited'), optionalStruct(spec, 'exempt')];
  return {
    Type: textOf(spec, 'type'),
    Limited: limited ? shownLimited(limited) : null,
    Exempt: exempt
      ? {
          NominalConcurrencyShares: optionalNumber(exempt, 'nominalConcurrencyShares') ?? null,
          LendablePercent: optionalNumber(exempt, 'lendablePercent') ?? null,
        }
      : null,
  };
}

function shownLimited(limited: JsonObject): JsonObject {
  const response = structOf(limited, 'limitResponse');
  const queuing = optionalStruct(response, 'queuing');
  return {
    NominalConcurrencyShares: numberOf(limited, 'nominalConcurrencyShares'),
    LimitResponse: {
      Type: textOf(response, 'type'),
      Queuing: queuing
        ? {
            Queues: numberOf(queuing, 'queues'),
            HandSize: numberOf(queuing, 'handSize'),
            QueueLengthLimit: numberOf(queuing, 'queueLengthLimit'),
          }
        : null,
    },
    LendablePercent: optionalNumber(limited, 'lendablePercent') ?? null,
    BorrowingLimitPercent: optionalNumber(limited, 'borrowingLimitPercent') ?? null,
  };
}
