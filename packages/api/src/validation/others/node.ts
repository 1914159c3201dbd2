/** Node. */

import type { JsonObject, KubeObject } from '../../object.ts';
import type { FieldError } from '../../status/field-error.ts';
import {
  Verbatim,
  child,
  duplicate,
  forbidden,
  index,
  internal,
  invalid,
  quote,
  required,
} from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { byteLength, configKeyReasons, dnsLabelReasons, dnsSubdomainReasons, labelValueReasons } from '../formats.ts';
import type { Reasons } from '../formats.ts';
import { invalidFor, oneOfErrors, qualifiedNameErrors, requiredErrors } from '../shared/checks.ts';
import { cidrErrors, cidrWarnings, parseCidr } from '../shared/cidr.ts';
import { equalValues } from '../shared/equal.ts';
import { isIpv4 } from '../shared/ip.ts';
import { isSet, mapOf, optionalNumber, optionalStruct, structOf, structsOf, textOf, textsOf } from '../shared/read.ts';
import { resourceQuantityErrors } from '../shared/resource-names.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Taints have the path of metadata, because they were annotations before. */
function taintErrors(object: KubeObject): FieldError[] {
  const seen = new Set<string>();
  return structsOf(structOf(object, 'spec'), 'taints').flatMap((taint, at) => {
    const path = index('metadata.taints', at);
    const [name, value, effect] = [textOf(taint, 'key'), textOf(taint, 'value'), textOf(taint, 'effect')];
    const reasons = labelValueReasons(value);
    const pair = `${effect} ${name}`;
    const isRepeated = seen.has(pair);
    seen.add(pair);
    return [
      ...qualifiedNameErrors(child(path, 'key'), name),
      ...(reasons.length > 0 ? [invalid(child(path, 'value'), value, reasons.join(';'))] : []),
      ...(effect === '' ? [required(child(path, 'effect'), '')] : oneOfErrors(child(path, 'effect'), effect, effects)),
      ...(isRepeated
        ? [{ ...duplicate(path, shownTaint(taint)), detail: 'taints must be unique by key and effect pair' }]
        : []),
    ];
  });
}

const shownTaint = (taint: JsonObject): JsonObject => ({
  Key: textOf(taint, 'key'),
  Value: textOf(taint, 'value'),
  Effect: textOf(taint, 'effect'),
  TimeAdded: isSet(taint, 'timeAdded') ? taint['timeAdded'] : null,
});

const resourcesErrors = (object: KubeObject): FieldError[] =>
  ['capacity', 'allocatable'].flatMap((field) => {
    const quantities = mapOf(structOf(object, 'status'), field);
    return Object.keys(quantities).flatMap((name) =>
      resourceQuantityErrors(`status.${field}.${name}`, name, quantities[name]!),
    );
  });

const featureForm = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const featureRule =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";

/** Sorted, each once. */
function featureErrors(object: KubeObject): FieldError[] {
  const path = 'status.declaredFeatures';
  const features = textsOf(structOf(object, 'status'), 'declaredFeatures');
  return features.flatMap((feature, at) => {
    const errors: FieldError[] = [];
    const wrong =
      byteLength(feature) > 253
        ? 'must be no more than 253 characters'
        : featureForm.test(feature)
          ? undefined
          : featureRule;
    if (wrong !== undefined) {
      errors.push(invalid(index(path, at), feature, `invalid feature name ${quote(feature)}: ${wrong}`));
    }
    const next = features[at + 1];
    if (next === undefined || feature < next) return errors;
    const nextPath = index(path, at + 1);
    const order = invalid(nextPath, next, 'list must be sorted alphabetically');
    return [...errors, feature === next ? duplicate(nextPath, next) : order];
  });
}

function swapErrors(object: KubeObject): FieldError[] {
  const capacity = optionalNumber(structOf(structOf(structOf(object, 'status'), 'nodeInfo'), 'swap'), 'capacity');
  if (capacity === undefined || capacity > 0) return [];
  return [invalid('metadata.nodeSwapStatus.capacity', capacity, 'must be greater than zero')];
}

const podCidrs = (object: KubeObject): readonly string[] => textsOf(structOf(object, 'spec'), 'podCIDRs');

function podCidrErrors(object: KubeObject): FieldError[] {
  const path = 'spec.podCIDRs';
  const blocks = podCidrs(object);
  const errors = blocks.flatMap((block, at) => cidrErrors(index(path, at), block));
  if (blocks.length < 2) return errors;
  const parsed = blocks.map((block) => parseCidr(block));
  const bad = parsed.indexOf(undefined);
  if (bad >= 0) {
    const problem = `invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${blocks[bad]!})`;
    errors.push(internal(path, `invalid PodCIDRs. failed to check with dual stack with error:${problem}`));
  }
  const families = new Set(parsed.map((cidr) => cidr && isIpv4(cidr.network)));
  if (bad >= 0 || families.size !== 2 || blocks.length > 2) {
    errors.push(invalid(path, blocks, 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

const create = (object: KubeObject): FieldError[] => [
  ...taintErrors(object),
  ...resourcesErrors(object),
  ...swapErrors(object),
  ...featureErrors(object),
  ...podCidrErrors(object),
];

function addressErrors(object: KubeObject): FieldError[] {
  const addresses = structsOf(structOf(object, 'status'), 'addresses');
  const seen = new Set<string>();
  return addresses.flatMap((address, at) => {
    const shown = { Type: textOf(address, 'type'), Address: textOf(address, 'address') };
    const text = JSON.stringify(shown);
    const isRepeated = seen.has(text);
    seen.add(text);
    return isRepeated ? [duplicate(index('status.addresses', at), shown)] : [];
  });
}

/** Checks that assigned values do not change. */
function changeErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const [spec, oldSpec] = [structOf(object, 'spec'), structOf(old, 'spec')];
  const [blocks, oldBlocks] = [podCidrs(object), podCidrs(old)];
  const [provider, oldProvider] = [textOf(spec, 'providerID'), textOf(oldSpec, 'providerID')];
  const blockRule = 'node updates may not change podCIDR except from "" to valid';
  const changed = oldBlocks.filter((block, at) => block !== blocks[at]);
  const changes = oldBlocks.length > 0 && oldBlocks.length !== blocks.length ? 1 : changed.length;
  return [
    ...Array.from({ length: changes }, () => forbidden('spec.podCIDRs', blockRule)),
    ...(oldProvider !== '' && oldProvider !== provider
      ? [forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid')]
      : []),
  ];
}

function updateErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const [spec, oldSpec] = [structOf(object, 'spec'), structOf(old, 'spec')];
  const config = structOf(structOf(object, 'status'), 'config');
  return [
    ...resourcesErrors(object),
    ...featureErrors(object),
    ...addressErrors(object),
    ...changeErrors(object, old),
    ...configErrors('spec.configSource', optionalStruct(spec, 'configSource'), false),
    ...['assigned', 'active', 'lastKnownGood'].flatMap((field) =>
      configErrors(`status.config.${field}`, optionalStruct(config, field), true),
    ),
    ...taintErrors(object),
    ...(equalValues(spec['externalID'], oldSpec['externalID'])
      ? []
      : [forbidden('spec.externalID', 'may not be updated')]),
  ];
}

/** Dynamic kubelet configuration: removed, but still validated. */
function configErrors(path: string, source: JsonObject | undefined, isStatus: boolean): FieldError[] {
  if (!source) return [];
  const map = optionalStruct(source, 'configMap');
  if (!map)
    return [invalid(path, new Verbatim('{"ConfigMap":null}'), 'exactly one reference subfield must be non-nil')];
  const at = child(path, 'configMap');
  const versions = ['uid', 'resourceVersion'].flatMap((field) => {
    if (isStatus) return requiredErrors(child(at, field), textOf(map, field));
    return textOf(map, field) === '' ? [] : [forbidden(child(at, field), `${field} must not be set in spec`)];
  });
  const named = (field: string, reasons: (name: string) => Reasons): FieldError[] => {
    const name = textOf(map, field);
    return name === '' ? [required(child(at, field), '')] : invalidFor(child(at, field), name, reasons(name));
  };
  return [
    ...versions,
    ...named('namespace', dnsLabelReasons),
    ...named('name', dnsSubdomainReasons),
    ...named('kubeletConfigKey', configKeyReasons),
  ];
}

export const node: KindValidation = {
  create,
  update: (object, old, subresource) =>
    subresource === 'status' ? updateErrors(object, old) : [...create(object), ...updateErrors(object, old)],
  warnings(object) {
    const spec = structOf(object, 'spec');
    return [
      ...(isSet(spec, 'configSource') ? ['spec.configSource: the feature is removed'] : []),
      ...(textOf(spec, 'externalID') === ''
        ? []
        : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
      ...podCidrs(object).flatMap((block, at) => cidrWarnings(index('spec.podCIDRs', at), block)),
    ];
  },
};
