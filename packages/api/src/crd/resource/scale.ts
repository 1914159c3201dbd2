/** The `scale` subresource of a custom resource: three paths into the object, shown as an autoscaling/v1 Scale. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { invalid } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { badRequest, internalError, StatusError } from '../../status/status.ts';
import type { ScaleSubresource } from '../custom-resource-definition.ts';
import { findInteger, findText, pathNames, setNested } from './nested.ts';

export interface Scale extends KubeObject {
  spec: { replicas?: number };
  status: { replicas: number; selector?: string };
}

const int32Max = 2 ** 31 - 1;
/** Marks replicas that were not set before. Not a valid number of replicas. */
export const unsetReplicas = -(2 ** 31);

export class ScaleMapping {
  readonly #specPath: string;
  readonly #statusPath: string;
  readonly #selectorPath: string | undefined;

  constructor(scale: ScaleSubresource) {
    this.#specPath = scale.specReplicasPath;
    this.#statusPath = scale.statusReplicasPath;
    this.#selectorPath = scale.labelSelectorPath ? scale.labelSelectorPath : undefined;
  }

  /** Names of the path to the replicas, for field ownership. */
  get replicasPath(): readonly string[] {
    return pathNames(this.#specPath);
  }

  /** Throws `StatusError` if the paths lead to another type, or the replicas are not set. */
  scaleOf(object: KubeObject): Scale {
    const { scale, isSet } = this.#read(object);
    if (!isSet) throw internalError(new Error(`the spec replicas field "${this.#specPath}" does not exist`));
    return scale;
  }

  /** Returns the scale from which an update or patch starts: replicas that are not set are `unsetReplicas`. */
  scaleBeforeUpdate(object: KubeObject): Scale {
    const { scale, isSet } = this.#read(object);
    if (!isSet) scale.spec = { replicas: unsetReplicas };
    return scale;
  }

  /** Writes replicas, and the resourceVersion if there is one, into `object`, in place. */
  applyScale(object: KubeObject, scale: KubeObject): void {
    const replicas = (scale as Scale).spec?.replicas ?? 0;
    if (replicas === unsetReplicas) throw badRequest(`the spec replicas field "${this.#specPath}" cannot be empty`);
    const error = setNested(object, pathNames(this.#specPath), replicas);
    if (error !== undefined) throw plainError(error);
    const { resourceVersion } = scale.metadata;
    if (resourceVersion) object.metadata.resourceVersion = resourceVersion;
  }

  specErrors(object: JsonObject): FieldError[] {
    return replicasErrors(object, this.#specPath);
  }

  statusErrors(object: JsonObject): FieldError[] {
    const errors = replicasErrors(object, this.#statusPath);
    if (this.#selectorPath === undefined) return errors;
    const { error } = findText(object, pathNames(this.#selectorPath));
    return error === undefined ? errors : [...errors, invalid(this.#selectorPath, '', error)];
  }

  #read(object: KubeObject): { scale: Scale; isSet: boolean } {
    const replicas = findInteger(object, pathNames(this.#specPath));
    const current = findInteger(object, pathNames(this.#statusPath));
    const selector = this.#selectorPath === undefined ? {} : findText(object, pathNames(this.#selectorPath));
    const error = replicas.error ?? current.error ?? selector.error;
    if (error !== undefined) throw plainError(error);
    const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
    const scale: Scale = {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: {
        ...(name ? { name } : {}),
        ...(namespace ? { namespace } : {}),
        ...(uid ? { uid } : {}),
        ...(resourceVersion ? { resourceVersion } : {}),
        ...(creationTimestamp ? { creationTimestamp } : {}),
      },
      spec: replicas.value ? { replicas: replicas.value } : {},
      status: { replicas: current.value ?? 0, ...(selector.value ? { selector: selector.value } : {}) },
    };
    return { scale, isSet: replicas.value !== undefined };
  }
}

/** A Go error that is not a Status becomes such an error. */
const plainError = (message: string): StatusError => new StatusError('InternalError', message);

function replicasErrors(object: JsonObject, path: string): FieldError[] {
  const { value = 0, error } = findInteger(object, pathNames(path));
  if (error !== undefined) return [invalid(path, 0, error)];
  if (value < 0) return [invalid(path, value, 'should be a non-negative integer')];
  return value > int32Max ? [invalid(path, value, `should be less than or equal to ${int32Max}`)] : [];
}
