/** Costs of calls to Kubernetes' own functions and of some functions it shares, by name. */

import { CelList } from '../values/list.ts';
import { CelMap } from '../values/map.ts';
import type { CelValue } from '../values/values.ts';
import { work } from '../work.ts';
import { actualSize, characters, perCharacter, regexCost } from './sizes.ts';
import type { CallCost } from './sizes.ts';

/** Fixed cost of an authorizer check: about two checks fit into one evaluation. */
export const authorizationCheckCost = 350_000;
/** Cost of one requirement of a selector, and the maximum number of requirements per character. */
const requirementCost = 50;
const requirementsPerCharacter = 0.5;

export const oneUnit = [
  'serviceAccount',
  'path',
  'group',
  'resource',
  'subresource',
  'namespace',
  'name',
  'allowed',
  'reason',
  'error',
  'errored',
  'masked',
  'prefixLength',
  'family',
  'isUnspecified',
  'isLoopback',
  'isLinkLocalMulticast',
  'isLinkLocalUnicast',
  'isGlobalUnicast',
  'format.named',
  'sign',
  'asInteger',
  'isInteger',
  'asApproximateFloat',
  'isGreaterThan',
  'isLessThan',
  'compareTo',
  'add',
  'sub',
  'major',
  'minor',
  'patch',
  'getScheme',
  'getHostname',
  'getHost',
  'getPort',
  'getEscapedPath',
  'getQuery',
] as const;

const nsPerNode = 30;

/** Cost of walking over a whole tree of values. */
function traversal(value: CelValue): number {
  work(typeof value === 'string' ? nsPerNode + value.length : nsPerNode);
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * perCharacter);
  if (value instanceof Uint8Array) return Math.floor(value.length * perCharacter);
  if (value instanceof CelList) return value.toArray().reduce<number>((sum, element) => sum + traversal(element), 0);
  if (!(value instanceof CelMap)) return 1;
  return value.keys().reduce<number>((sum, key) => sum + traversal(key) + traversal(value.get(key)), 0);
}

export function selectorCost(length: number): number {
  const requirements = Math.ceil(length * requirementsPerCharacter);
  return 10 + Math.ceil(length * perCharacter) + Math.ceil(requirements * requirementCost);
}

type CostByOverload = (overload: string) => CallCost | undefined;
const always =
  (cost: CallCost): CostByOverload =>
  () =>
    cost;
const walkOnce = always(([text]) => characters(text!));
const walkTwice = always(([text]) => characters(text!, 2));
const named = (names: readonly string[], cost: CostByOverload): [string, CostByOverload][] =>
  names.map((name) => [name, cost]);

export const kubernetesCallCosts: ReadonlyMap<string, CostByOverload> = new Map<string, CostByOverload>([
  ['check', always(() => authorizationCheckCost)],
  ...named(
    oneUnit,
    always(() => 1),
  ),
  ...named(
    ['fieldSelector', 'labelSelector'],
    always(([, selector]) => selectorCost(actualSize(selector!))),
  ),
  ...named(
    ['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'],
    always(([list]) => traversal(list!)),
  ),
  ...named(['url', 'lowerAscii', 'upperAscii', 'substring', 'trim', 'jsonpatch.escapeKey'], walkOnce),
  ...named(['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'], walkOnce),
  ...named(['replace', 'split', 'ip.isCanonical'], walkTwice),
  ['join', always((_, result) => characters(result, 2))],
  ...named(
    ['find', 'findAll'],
    always(([text, pattern]) => regexCost(text!, pattern!)),
  ),
  ['ip', (overload) => (overload === 'cidr_ip' ? () => 1 : ([text]) => characters(text!))],
  [
    'containsIP',
    (overload) =>
      ([cidr, ip]) =>
        characters(cidr!, 2) + (overload === 'cidr_contains_ip_string' ? characters(ip!) : 0),
  ],
  [
    'containsCIDR',
    (overload) =>
      ([cidr, other]) =>
        characters(cidr!, 2) +
        characters(cidr!) +
        1 +
        (overload === 'cidr_contains_cidr_string' ? characters(other!) : 0),
  ],
  [
    'validate',
    always(([format, text]) => {
      const regexSize = (format as { regexSize?: number }).regexSize ?? 0;
      return Math.ceil((1 + actualSize(text!)) * perCharacter) * Math.ceil(regexSize * 0.25);
    }),
  ],
]);
