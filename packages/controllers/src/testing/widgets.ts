/** A custom resource for tests. */

import { defineKind } from '@hangar/client';

export const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  plural: 'widgets',
  isNamespaced: true,
});

/** For `installCrd`. */
export const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
