/** componentstatuses: health of the parts of the control plane. Deprecated, but still used by `kubectl get cs`. */

import { notFound } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { asError } from '@hangar/core';
import { tables } from '../objects/tables.ts';
import type { Answer } from '../http/message.ts';
import { bytesAnswer, encoded, objectAnswer, tableOptions, wantedBy } from '../objects/answers.ts';
import type { Call } from '../verbs/call.ts';
import { withoutType } from '../verbs/list.ts';
import { listOptions, selects } from '../verbs/list-options.ts';

/** The store has the name of etcd, which monitoring expects. */
const storeName = 'etcd-0';

export async function getComponentStatus(call: Call): Promise<Answer> {
  const want = wantedBy(call);
  if (call.info.name !== storeName) throw notFound({ group: '', resource: 'componentstatus' }, call.info.name);
  return objectAnswer(call, want, await storeStatus(call));
}

export async function listComponentStatuses(call: Call): Promise<Answer> {
  const want = wantedBy(call);
  const options = listOptions(call.query, call.resource, false);
  const all = [await storeStatus(call)].filter((one) => selects(options, one));
  const { listKind: kind, apiVersion } = call.resource;
  if (want.shape === 'Table') {
    const table = tables().tableOf(call.resource.table, all, { ...tableOptions(call, want), listMeta: {} });
    return bytesAnswer(200, want.contentType, encoded(table, want), call.warnings);
  }
  const items = all.map(withoutType);
  return objectAnswer(call, { ...want, shape: undefined }, { kind, apiVersion, metadata: {}, items });
}

async function storeStatus({ plane }: Call): Promise<KubeObject> {
  const problem = await plane.store.revision().then(
    () => undefined,
    (error: unknown) => asError(error).message,
  );
  const health = problem === undefined ? { status: 'True', message: 'ok' } : { status: 'False', error: problem };
  return {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name: storeName },
    conditions: [{ type: 'Healthy', ...health }],
  };
}
