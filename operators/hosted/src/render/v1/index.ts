/** Version 1 of the rendering. Its output must not change after a release: add a version instead. */

import type { Rendering } from '../contract.ts';
import type { Plane } from '../plane.ts';
import { apiServer, apiService, reservedApiServerArguments } from './api-server.ts';
import { audit } from './audit.ts';
import { authentication } from './authentication.ts';
import { certificates } from './certificates.ts';
import {
  componentKubeconfigs,
  controllerManager,
  reservedControllerManagerArguments,
  reservedSchedulerArguments,
  scheduler,
} from './controllers.ts';
import { etcdTags } from './defaults.ts';
import { etcd, membershipArguments, reservedEtcdArguments } from './etcd.ts';
import { reservedKonnectivityArguments } from './konnectivity.ts';
import { tlsRoutes } from './tls-route.ts';

export const rendering: Rendering = {
  minors: Object.keys(etcdTags).map(Number),
  reserved: (plane: Plane) => ({
    etcd: [...Object.keys(reservedEtcdArguments(plane)), ...membershipArguments],
    'kube-apiserver': Object.keys(reservedApiServerArguments(plane)),
    'kube-controller-manager': Object.keys(reservedControllerManagerArguments(plane)),
    'kube-scheduler': Object.keys(reservedSchedulerArguments()),
    'konnectivity-server': Object.keys(reservedKonnectivityArguments()),
  }),
  apiService,
  tlsRoutes,
  certificates,
  etcd,
  componentKubeconfigs,
  audit,
  authentication,
  apiServer,
  controllerManager,
  scheduler,
};
