/**
 * The reconciler that all cases share, written like that of an operator: a Widget of size n owns n ConfigMaps with the content of the
 * namespace's ConfigMap `shared`; it reports a condition and an event; before it is deleted, `cleanUp` runs.
 */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { controllerReference, finalize, isControlledBy, setCondition } from '@hangar/runtime';
import type { EventRecorder, ReconcileContext, Reconciler, Request, Result } from '@hangar/runtime';
import { Widget } from './widgets.ts';
import type { WidgetObject } from './widgets.ts';

export const finalizer = 'runtime.example.com/clean-up';
export const sharedName = 'shared';
const applied = { fieldManager: 'widget-operator', force: true };

export interface WidgetReconcilerOptions {
  readonly cleanUp?: (widget: WidgetObject) => Promise<void> | void;
  readonly recorder?: EventRecorder;
}

export const partName = (widget: string, n: number): string => `${widget}-part-${n}`;

export const widgetReconciler =
  ({ cleanUp, recorder }: WidgetReconcilerOptions = {}): Reconciler =>
  async (request, { client, cluster }: ReconcileContext): Promise<Result | void> => {
    const found = await find(client, Widget, request);
    if (!found) return;
    const outcome = await finalize(client, Widget, found, { finalizer, cleanUp: () => cleanUp?.(found) });
    if (!outcome.live) return outcome.result;
    const widget = outcome.live;
    const parts = await reconcileParts(client, request, widget);
    const conditions = setCondition(widget.status?.conditions, {
      type: 'Ready',
      status: true,
      reason: 'AllPartsThere',
      message: `there are ${parts}`,
      observedGeneration: widget.metadata.generation,
    });
    if (conditions === widget.status?.conditions) return;
    const metadata = { namespace: request.namespace!, name: request.name };
    await client.status.apply(Widget, { metadata, status: { parts, conditions } }, applied);
    recorder?.for(cluster).normal(widget, 'Assembled', `there are ${parts} parts`);
  };

async function reconcileParts(client: Client, { namespace, name }: Request, widget: WidgetObject): Promise<number> {
  const { size } = widget.spec;
  const shared = await find(client, ConfigMap, { namespace, name: sharedName });
  const wanted = new Set<string>();
  for (let n = 0; n < size; n++) {
    const metadata = { namespace: namespace!, name: partName(name, n), ownerReferences: [controllerReference(widget)] };
    wanted.add(metadata.name);
    const data = { widget: name, text: shared?.data?.['text'] ?? '' };
    await client.apply(ConfigMap, { metadata, data }, applied);
  }
  const { items } = await client.list(ConfigMap, { namespace });
  for (const part of items.filter((one) => isControlledBy(one, widget) && !wanted.has(one.metadata.name!))) {
    await client.delete(ConfigMap, { namespace, name: part.metadata.name! });
  }
  return size;
}
