/** Resources without stored objects: a created object is a review or an operation, a read object is computed. */

import type { Verb } from '../request/info.ts';
import type { Resource } from '../resources/resource.ts';
import { reviewHandlers } from '../reviews/index.ts';
import { bindPod } from '../subresources/binding.ts';
import { getComponentStatus, listComponentStatuses } from '../subresources/component-status.ts';
import type { CallHandler } from './index.ts';

type Handlers = Readonly<Partial<Record<Verb, CallHandler>>>;

const byKind: Readonly<Record<string, Handlers>> = {
  Binding: { create: bindPod },
  ComponentStatus: { get: getComponentStatus, list: listComponentStatuses },
  ...reviewHandlers,
};

const none: Handlers = {};

export const unstored = ({ kind, handlers }: Resource): Handlers => handlers ?? byKind[kind] ?? none;
