/** Helpers for the comparisons with a real kube-apiserver. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { schemaOf } from '../builtin/schemas.ts';
import type { JsonObject } from '../object.ts';
import { startRealServer } from '../testing/real-server.ts';
import type { RealServer } from '../testing/real-server.ts';
import { mergeTypeOfBuiltin, mergeTypeOfSchema } from './index.ts';
import type { MergeType } from './index.ts';
import type { RandomKind } from './random-kinds.ts';
import { widget, widgetDefinition, widgetSchema } from './random-kinds.ts';

/** Starts a server with the custom resource of `random-kinds.ts`. */
export async function startServerWithWidgets(): Promise<RealServer> {
  const server = await startRealServer();
  try {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await server.request('POST', path, { body: JSON.stringify(widgetDefinition) });
    for (let tries = 0; (await server.request('GET', widget.path)).status !== 200; tries++) {
      assert.ok(tries < 100, 'the custom resource is not served');
      await sleep(100);
    }
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

const widgetType = mergeTypeOfSchema(widgetSchema);

export function typeOfKind({ apiVersion, kind }: RandomKind): MergeType {
  const struct = schemaOf(apiVersion, kind);
  return struct ? mergeTypeOfBuiltin(struct) : widgetType;
}

/** Sorts the causes: a server reports them in the random order of a Go map. */
export function comparableStatus(status: object): unknown {
  const { details = {}, ...others } = status as {
    details?: { causes?: { message?: string; field?: string }[] };
  } & JsonObject;
  const order = ({ message, field }: { message?: string; field?: string }): string => `${message} ${field}`;
  const causes = details.causes?.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
  return { ...others, details: { ...details, ...(causes && { causes }) } };
}
