/** Audit annotations that admission adds to a request. Kept as long as the request. */

import type { ServerRequest } from '../http/message.ts';

/** `Request`: the value shows contents of the object, so it is omitted at level Metadata. */
export type AnnotationLevel = 'Metadata' | 'Request';

type Annotations = WeakMap<ServerRequest, Map<string, string>>;

const byLevel: Readonly<Record<AnnotationLevel, Annotations>> = { Metadata: new WeakMap(), Request: new WeakMap() };

/** The first value of a key is kept, as in kube-apiserver. */
export function annotateForAudit(request: ServerRequest, key: string, value: string, level: AnnotationLevel): void {
  const annotations = byLevel[level];
  let known = annotations.get(request);
  if (!known) annotations.set(request, (known = new Map()));
  if (!known.has(key)) known.set(key, value);
}

/** Returns the annotations of this level only; undefined if there are none. */
export const auditAnnotationsOf = (
  request: ServerRequest,
  level: AnnotationLevel = 'Metadata',
): ReadonlyMap<string, string> | undefined => byLevel[level].get(request);
