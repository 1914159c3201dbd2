/** Helpers for tests of the view of all control planes. */

import type { Data, TestWatch } from '../../testing/test-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import { planePath } from '../../testing/tenancy-server.ts';
import type { TenancyServer } from '../../testing/tenancy-server.ts';

export const all = planePath('*');
export const maps = `${all}/api/v1/namespaces/default/configmaps`;

export const told = ({ metadata }: Data): string => `${metadata.clusterName}/${metadata.name}`;
export const listed = async (server: TenancyServer, target = maps): Promise<string[]> =>
  (await server.expect(200, 'GET', target)).items.map(told);
export const events = async (watch: TestWatch, count: number): Promise<string[]> =>
  (await watch.events(count)).map(({ type, object }) => `${type} ${told(object)}`);
export const add = (server: TenancyServer, path: string, name: string, metadata = {}) =>
  server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap(name, {}, metadata) });
export const merge = (server: TenancyServer, target: string, body: object): Promise<Data> =>
  server.expect(200, 'PATCH', target, { body, contentType: 'application/merge-patch+json' });
export const revisionOf = ({ metadata }: Data): number => Number(metadata.resourceVersion);
