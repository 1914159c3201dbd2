/** The label selector of the API servers, as text: the scale subresource reports it to autoscalers. */

import { clusterNameLabel } from '../api/index.ts';
import type { Plane } from '../render/index.ts';

export const formatSelector = ({ name }: Pick<Plane, 'name'>): string =>
  `${clusterNameLabel}=${name},app.kubernetes.io/component=kube-apiserver`;
