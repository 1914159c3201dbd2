/** The admission request of a call. Attributes that only a few plugins use are computed on demand. */

import type { JsonObject, KubeObject } from '@hangar/api';
import type { AdmissionRequest } from '../admission/admission.ts';
import { annotateForAudit } from '../audit/annotations.ts';
import type { AnnotationLevel } from '../audit/annotations.ts';
import type { WriteOptions } from '../request/options.ts';
import { namespaceOf, warn } from './call.ts';
import type { Call } from './call.ts';
import { deadlineOf } from './deadline.ts';

interface About {
  readonly isDryRun: boolean;
  /** Absent: derived from the objects. */
  readonly operation?: 'CONNECT';
  /** Options of a deletion; those of other writes are in the query. */
  readonly deleteOptions?: JsonObject;
}

class CallAdmissionRequest implements AdmissionRequest {
  readonly plane: AdmissionRequest['plane'];
  readonly guard: AdmissionRequest['guard'];
  readonly operation: AdmissionRequest['operation'];
  readonly resource: AdmissionRequest['resource'];
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  readonly user: AdmissionRequest['user'];
  readonly isDryRun: boolean;
  readonly #call: Call;
  readonly #deleteOptions: JsonObject | undefined;

  constructor(call: Call, object: KubeObject | undefined, about: About, old: KubeObject | undefined) {
    const { plane, resource, info, user, guard } = call;
    this.#call = call;
    this.#deleteOptions = about.deleteOptions;
    this.plane = plane;
    this.guard = guard;
    this.operation = about.operation ?? (old === undefined ? 'CREATE' : object === undefined ? 'DELETE' : 'UPDATE');
    this.resource = resource;
    this.subresource = info.subresource;
    this.namespace = namespaceOf(call);
    // As in Kubernetes, a deletecollection has no name.
    this.name = info.name || (object?.metadata.name ?? '');
    this.object = object;
    this.old = old;
    this.user = user;
    this.isDryRun = about.isDryRun;
  }

  get options(): JsonObject | undefined {
    const { query } = this.#call;
    const apiVersion = 'meta.k8s.io/v1';
    if (this.operation === 'CONNECT') return undefined;
    if (this.operation === 'DELETE') return { kind: 'DeleteOptions', apiVersion, ...this.#deleteOptions };
    const kind = this.operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions';
    const [dryRun, fieldManager, fieldValidation] = [
      query.all('dryRun'),
      query.text('fieldManager'),
      query.text('fieldValidation'),
    ];
    return {
      kind,
      apiVersion,
      ...(dryRun.length > 0 ? { dryRun: [...dryRun] } : {}),
      ...(fieldManager === '' ? {} : { fieldManager }),
      ...(fieldValidation === '' ? {} : { fieldValidation }),
    };
  }

  get verb(): AdmissionRequest['verb'] {
    return this.#call.info.verb;
  }

  get visibility(): AdmissionRequest['visibility'] {
    return this.#call.visibility;
  }

  get attemptOf(): object {
    return this.#call;
  }

  get deadlineMs(): number {
    return deadlineOf(this.#call);
  }

  excluded(ms: number): void {
    const { latency } = this.#call;
    if (latency) latency.excludedMs += ms;
  }

  warn(text: string): void {
    warn(this.#call, text);
  }

  annotate(key: string, value: string, level: AnnotationLevel = 'Metadata'): void {
    annotateForAudit(this.#call.request, key, value, level);
  }
}

export const admissionRequest = (
  call: Call,
  object: KubeObject | undefined,
  options: Pick<WriteOptions, 'isDryRun'> & Omit<About, 'isDryRun'>,
  old?: KubeObject,
): AdmissionRequest => new CallAdmissionRequest(call, object, options, old);
