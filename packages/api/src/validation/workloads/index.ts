/**
 * Validation of pods and their controllers, as in kube-apiserver 1.36 with its default feature gates.
 *
 *   base/         checks that all kinds share
 *   pod/          pods and templates of pods
 *   apps/         controllers of long-running pods
 *   batch/        jobs
 *   server-form/  values in messages as the server shows them
 *   types/        the parts of pods that rules check
 */

import type { KindValidations } from '../contract.ts';
import { toleratingNulls } from './base/nulls.ts';
import { controllerRevision } from './apps/controller-revision.ts';
import { daemonSet } from './apps/daemon-set.ts';
import { deployment } from './apps/deployment.ts';
import { replicaSet } from './apps/replica-set.ts';
import { replicationController } from './apps/replication-controller.ts';
import { statefulSet } from './apps/stateful-set.ts';
import { cronJob } from './batch/cron-job.ts';
import { job } from './batch/job.ts';
import { podKinds } from './pod/kinds.ts';

const kinds: KindValidations = {
  ...podKinds,
  'v1/ReplicationController': replicationController,
  'apps/v1/ReplicaSet': replicaSet,
  'apps/v1/Deployment': deployment,
  'apps/v1/StatefulSet': statefulSet,
  'apps/v1/DaemonSet': daemonSet,
  'apps/v1/ControllerRevision': controllerRevision,
  'batch/v1/Job': job,
  'batch/v1/CronJob': cronJob,
};

export const workloadValidations: KindValidations = Object.fromEntries(
  Object.entries(kinds).map(([name, validation]) => [name, toleratingNulls(validation)]),
);
