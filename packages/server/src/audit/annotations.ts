/** What admission has to say about a request to those who read the audit log. Kept as long as the request is. */

import type { ServerRequest } from '../http/message.ts';

/** `Request`: it shows what is in the object, and so is not for a log that says only who did what. */
export type AnnotationLevel = 'Metadata' | 'Request';

type Annotations = WeakMap<ServerRequest, Map<string, string>>;

const byLevel: Readonly<Record<AnnotationLevel, Annotations>> = { Metadata: new WeakMap(), Request: new WeakMap() };

/** The first value of a key stays, as in kube-apiserver. */
export function annotateForAudit(request: ServerRequest, key: string, value: string, level: AnnotationLevel): void {
  const annotations = byLevel[level];
  let known = annotations.get(request);
  if (!known) annotations.set(request, (known = new Map()));
  if (!known.has(key)) known.set(key, value);
}

/** Those of this level alone; undefined when nobody had anything to say. */
export const auditAnnotationsOf = (
  request: ServerRequest,
  level: AnnotationLevel = 'Metadata',
): ReadonlyMap<string, string> | undefined => byLevel[level].get(request);
