/** Dynamic resource allocation. */

import { meta, namespaced, withStatus } from './sample.ts';
import type { JsonObject } from '../../../../object.ts';
import type { Sample } from './sample.ts';

const group = '/apis/resource.k8s.io/v1';
const apiVersion = 'resource.k8s.io/v1';
const opaque = { driver: 'a.b', parameters: { x: 1 } };

const claim = {
  devices: {
    requests: [
      {
        name: 'one',
        exactly: {
          deviceClassName: 'class',
          allocationMode: 'ExactCount',
          count: 1,
          selectors: [{ cel: { expression: 'device.driver == "a.b"' } }],
          tolerations: [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoSchedule' }],
        },
      },
      { name: 'two', firstAvailable: [{ name: 'x', deviceClassName: 'class', allocationMode: 'All' }] },
    ],
    constraints: [{ requests: ['one', 'two/x'], matchAttribute: 'a.b/c' }],
    config: [{ requests: ['one'], opaque }],
  },
};

const sliceOf = (spec: JsonObject): JsonObject => ({
  apiVersion,
  kind: 'ResourceSlice',
  metadata: meta('slice'),
  spec,
});
const pool = { name: 'pool', generation: 1, resourceSliceCount: 1 };

export const deviceSamples: readonly Sample[] = [
  {
    path: `${group}/deviceclasses`,
    object: {
      apiVersion,
      kind: 'DeviceClass',
      metadata: meta('class'),
      spec: {
        selectors: [{ cel: { expression: 'device.attributes["a.b"].c' } }],
        config: [{ opaque }],
        extendedResourceName: 'a.b/c',
      },
    },
    more: ['1', 'device.nope', 'x +'].map((expression) => ({
      apiVersion,
      kind: 'DeviceClass',
      metadata: meta('class'),
      spec: { selectors: [{ cel: { expression } }] },
    })),
  },
  {
    path: namespaced(group, 'resourceclaims'),
    except: /^update :/,
    object: { apiVersion, kind: 'ResourceClaim', metadata: meta('claim'), spec: claim },
    statuses: [
      [
        'status',
        withStatus({
          allocation: { devices: { results: [{ request: 'one', driver: 'a.b', pool: 'p', device: 'd' }] } },
          reservedFor: [{ resource: 'pods', name: 'x', uid: 'u' }],
          devices: [
            { driver: 'a.b', pool: 'p', device: 'd', networkData: { interfaceName: 'e', ips: ['10.1.1.1/24'] } },
          ],
        }),
      ],
    ],
  },
  {
    path: namespaced(group, 'resourceclaimtemplates'),
    except: /^update :/,
    object: {
      apiVersion,
      kind: 'ResourceClaimTemplate',
      metadata: meta('template'),
      spec: { metadata: { labels: { a: 'b' } }, spec: claim },
    },
  },
  {
    path: `${group}/resourceslices`,
    except: /devices = \[\]|devices\[0\] dropped/,
    object: sliceOf({
      driver: 'a.b',
      pool,
      nodeName: 'n',
      devices: [
        {
          name: 'd',
          attributes: { a: { string: 'x' }, 'a.b/v': { version: '1.0.0' }, i: { int: 1 } },
          capacity: { memory: { value: '1Gi' } },
          taints: [{ key: 'a', value: 'b', effect: 'NoExecute' }],
          bindingConditions: ['a'],
          bindingFailureConditions: ['b'],
          bindsToNode: true,
        },
      ],
    }),
    more: [
      sliceOf({ driver: 'a.b', pool, nodeName: 'n', allNodes: true }),
      sliceOf({ driver: 'a.b', pool, allNodes: false }),
      sliceOf({
        driver: 'a.b',
        pool,
        allNodes: true,
        sharedCounters: [{ name: 's', counters: { c: { value: '1' } } }],
      }),
      sliceOf({
        driver: 'a.b',
        pool,
        perDeviceNodeSelection: true,
        devices: [{ name: 'd' }, { name: 'e', allNodes: true, nodeName: 'n' }],
      }),
      sliceOf({ driver: 'a.b', pool, allNodes: true, devices: [{ name: 'd', allNodes: true }] }),
      ...[
        { default: '1', validValues: ['2', '1'] },
        { default: '3', validRange: { min: '2', max: '20', step: '2' } },
        { validRange: { min: '2' } },
      ].map((requestPolicy) =>
        sliceOf({
          driver: 'a.b',
          pool,
          allNodes: true,
          devices: [{ name: 'd', allowMultipleAllocations: true, capacity: { c: { value: '10', requestPolicy } } }],
        }),
      ),
    ],
  },
];
