/** The environment variables of a container, in the order of the kubelet: Services, `envFrom`, `env`. */

import type { ConfigMap, Container, EnvVar, Pod, Secret } from '@hangar/client/kinds/core-v1';
import { ProcessRuntimeError } from '../errors.ts';
import { fieldValue, resourceValue } from './downward.ts';
import type { PodPlace } from './downward.ts';
import { expand } from './expand.ts';

/** Reads the objects that a pod refers to. Undefined: the object does not exist. */
export interface ConfigReader {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
}

export interface EnvironmentOptions {
  readonly pod: Pod;
  readonly container: Container;
  readonly place: PodPlace;
  readonly config: ConfigReader;
  /** Variables of Services. */
  readonly services: Readonly<Record<string, string>>;
  /** Variables of the image, which all others override. */
  readonly image?: Readonly<Record<string, string>> | undefined;
}

export interface Environment {
  /** All variables, for the program. */
  readonly all: Record<string, string>;
  /** Variables that `$(NAME)` in commands and arguments can refer to: those of the container, not those of the image. */
  readonly expandable: Record<string, string>;
  /** Notes about data that cannot be a variable, for Events. */
  readonly warnings: readonly string[];
}

/** Rejects with `CreateContainerConfigError` when a required object or key does not exist. */
export async function environmentOf(options: EnvironmentOptions): Promise<Environment> {
  const { container, services, image = {} } = options;
  const warnings: string[] = [];
  const result: Record<string, string> = { ...(await sourced(options, warnings)) };
  const own: Record<string, string> = {};
  for (const variable of container.env ?? []) {
    const value = await valueOf(options, variable, { ...services, ...result, ...own });
    if (value !== undefined) own[variable.name] = value;
  }
  const expandable = { ...services, ...result, ...own };
  return { all: { ...image, ...expandable }, expandable, warnings };
}

async function sourced(options: EnvironmentOptions, warnings: string[]): Promise<Record<string, string>> {
  const { pod, container, config } = options;
  const namespace = pod.metadata.namespace!;
  const result: Record<string, string> = {};
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const reference = configMapRef ?? secretRef;
    const name = reference?.name ?? '';
    const found = configMapRef ? await config.configMap(namespace, name) : await config.secret(namespace, name);
    if (!found) {
      if (reference?.optional) continue;
      throw missing(`${configMapRef ? 'configmap' : 'secret'} ${JSON.stringify(name)} not found`);
    }
    const data = configMapRef ? (found as ConfigMap).data : decoded(found as Secret);
    const skipped: string[] = [];
    for (const [key, value] of Object.entries(data ?? {})) {
      if (isVariableName(prefix + key)) result[prefix + key] = value;
      else skipped.push(key);
    }
    if (skipped.length > 0) warnings.push(skippedNote(skipped, configMapRef ? 'ConfigMap' : 'Secret', namespace, name));
  }
  return result;
}

const skippedNote = (keys: string[], kind: string, namespace: string, name: string): string =>
  `Keys [${keys.sort().join(', ')}] from the EnvFrom ${kind} ${namespace}/${name} were skipped since they are considered invalid environment variable names.`;

/** The relaxed rule of Kubernetes: printable ASCII without an equals sign. */
const isVariableName = (name: string): boolean => /^[ -<>-~]+$/.test(name);

async function valueOf(
  { pod, container, place, config }: EnvironmentOptions,
  { value, valueFrom }: EnvVar,
  known: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (!valueFrom) return expand(value ?? '', known);
  const namespace = pod.metadata.namespace!;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  if (fieldRef) return fieldValue(pod, place, fieldRef.fieldPath);
  if (resourceFieldRef) {
    const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
    const selected = resourceFieldRef.containerName || container.name;
    return resourceValue(containers, place, { ...resourceFieldRef, container: selected });
  }
  const reference = configMapKeyRef ?? secretKeyRef;
  if (!reference) return '';
  const { name = '', key, optional } = reference;
  const found = configMapKeyRef ? await config.configMap(namespace, name) : await config.secret(namespace, name);
  const data = configMapKeyRef ? (found as ConfigMap | undefined)?.data : found && decoded(found as Secret);
  const text = data?.[key];
  if (text !== undefined || optional) return text;
  const kind = configMapKeyRef ? 'configmap' : 'secret';
  if (!found) throw missing(`${kind} ${JSON.stringify(name)} not found`);
  throw missing(`couldn't find key ${key} in ${configMapKeyRef ? 'ConfigMap' : 'Secret'} ${namespace}/${name}`);
}

const decoded = ({ data = {} }: Secret): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));

const missing = (message: string): ProcessRuntimeError =>
  new ProcessRuntimeError('CreateContainerConfigError', message);
