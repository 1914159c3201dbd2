/** The figures of an etcd cluster for metrics, from an observation. */

import type { EtcdFigures } from '../../metrics/etcd-metrics.ts';
import { isHealthy } from '../observation.ts';
import type { EtcdObservation } from '../observation.ts';
import { spaceOf } from './plan-space.ts';
import type { SpaceSettings } from './plan-space.ts';
import type { SpaceRecord } from './space-record.ts';

/** Without a member that answers, only the volumes are known: it can also be the network of the operator that fails. */
export function figuresOf(
  observation: EtcdObservation | undefined,
  settings: SpaceSettings,
  record: Pick<SpaceRecord, 'isDefragmentationFailing' | 'secondsUntilFull'>,
): EtcdFigures {
  const members = observation ? spaceOf(observation, settings) : [];
  const [largest] = members.toSorted((a, b) => b.dbSizeBytes - a.dbSizeBytes);
  const common = {
    volumeBytes: settings.capacityBytes,
    isDefragmentationFailing: record.isDefragmentationFailing,
  };
  if (!observation || !largest) return { ...common, isHealthy: new Map() };
  const { dbSizeBytes: size, dbSizeInUseBytes, quotaBytes: quota } = largest;
  return {
    ...common,
    database: { size, in_use: dbSizeInUseBytes, quota },
    secondsUntilFull: record.secondsUntilFull(quota),
    isHealthy: new Map(observation.members.map((one) => [one.pod, isHealthy(one)])),
    hasLeader: observation.members.some(({ status }) => status?.leader !== undefined),
  };
}
