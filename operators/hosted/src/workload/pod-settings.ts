import type { PodSettings } from '@hangar/node-objects';
import type { PodSpec } from '../api/index.ts';

/** Returns the settings of the spec without image and arguments. Quantities of the API can be numbers, which Kubernetes accepts. */
export const podSettings = ({ imagePullPolicy, resources, priorityClassName }: PodSpec): PodSettings => ({
  imagePullPolicy,
  resources: resources as PodSettings['resources'],
  priorityClassName,
});
