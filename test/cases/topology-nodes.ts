import { isList, isObject, type JsonObject } from './case-file.ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { LabelCondition, Labels, LabelSelection } from '../../domain/fleet/label-selection.ts'
import type { Taint, Toleration } from '../../domain/fleet/taint.ts'
import type { Amounts, StockedNode } from '../../domain/topology/node-stock.ts'
import type { PlacedPodSet, PlacementProfile, PodSetTopology } from '../../domain/topology/pod-set.ts'

export const objects = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  (isList(value) ? value : []).filter(isObject)

export const texts = (value: Json | undefined): ReadonlyArray<string> => (isList(value) ? value : []) as string[]

export const labelsOf = (value: Json | undefined): Labels => (isObject(value) ? value : {}) as Labels

export const amountsOf = (value: Json | undefined): Amounts =>
  Object.entries(isObject(value) ? value : {}) as unknown as Amounts

export const nodeOf = (node: JsonObject): StockedNode => ({
  name: node['name'] as string,
  labels: labelsOf(node['labels']),
  taints: taintsOf(node['taints']),
  takesWork: node['ready'] !== false && node['cordoned'] !== true,
  capacity: amountsOf(node['capacity']),
  usedByOthers: amountsOf(node['usedByOthers']),
})

export const taintsOf = (value: Json | undefined): ReadonlyArray<Taint> => objects(value) as unknown as Taint[]

export const tolerationsOf = (value: Json | undefined): ReadonlyArray<Toleration> =>
  objects(value).map(({ key, operator, value: wanted, effect }) => ({
    key: (key ?? null) as string | null,
    operator: (operator ?? 'equal') as Toleration['operator'],
    value: (wanted ?? '') as string,
    effect: (effect ?? null) as Toleration['effect'],
  }))

export const selectionOf = (podSet: JsonObject): LabelSelection => ({
  labels: labelsOf(podSet['nodeSelector']),
  terms: (isList(podSet['nodeAffinityTerms']) ? podSet['nodeAffinityTerms'] : []) as unknown as LabelCondition[][],
})

export const podSetOf = (podSet: JsonObject): PlacedPodSet => ({
  name: podSet['name'] as string,
  count: podSet['count'] as number,
  requests: amountsOf(podSet['requests']),
  topology: topologyOf(podSet['topology']),
  group: (podSet['group'] ?? null) as string | null,
  selection: selectionOf(podSet),
  tolerations: tolerationsOf(podSet['tolerations']),
})

const topologyOf = (value: Json | undefined): PodSetTopology => {
  const { mode, level, sliceLevel, sliceSize, sliceLayers } = isObject(value) ? value : {}
  const layers = objects(sliceLayers) as unknown as PodSetTopology['layers']
  const single = [{ level: sliceLevel as string, size: (sliceSize ?? 1) as number }]
  return {
    mode: (mode ?? 'unspecified') as PodSetTopology['mode'],
    level: (level ?? null) as string | null,
    layers: layers.length > 0 ? layers : sliceLevel === undefined ? [] : single,
  }
}

export const profileOf = (settings: Json | undefined): PlacementProfile => {
  const { algorithm, unconstrainedUsesLeastFreeCapacity, multiLayerSlices } = isObject(settings) ? settings : {}
  return {
    balanced: algorithm === 'balanced',
    fullestFirst: unconstrainedUsesLeastFreeCapacity === true,
    nestedSlices: multiLayerSlices === true,
  }
}

/** The level whose domains are nodes, where a topology has it. */
export const nodeLevel = 'host'
