import { FlavorTopology } from '../../domain/topology/flavor-topology.ts'
import { NodeStock } from '../../domain/topology/node-stock.ts'
import type { PodSetPlace } from '../../domain/topology/pod-set.ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Adapter } from './adapters.ts'
import type { JsonObject } from './case-file.ts'
import { labelsOf, nodeLevel, nodeOf, objects, podSetOf, profileOf, texts } from './topology-nodes.ts'

export const placementAdapter: Adapter = {
  // Goodput has a kind of that name as well.
  supports: ({ format }) => format === 'capacity-policy-cases',
  run: ({ document }) => {
    const topology = document['topology'] as JsonObject
    const levels = texts(topology['levels'])
    const flavor = new FlavorTopology(new NodeStock(objects(document['nodes']).map(nodeOf)), {
      levels,
      lowestIsNode: levels.at(-1) === nodeLevel,
      requiredLabels: labelsOf(topology['requiredNodeLabels']),
      tolerations: [],
    })
    const podSets = objects((document['workload'] as JsonObject)['podSets']).map(podSetOf)
    const places = flavor.place(podSets, profileOf(document['settings']))
    return { podSets: podSets.map(({ name }, i) => ({ podSet: name, ...outcomeOf(flavor, places[i]!) })) }
  },
}

/** As the cases name it. */
const outcomeOf = (flavor: FlavorTopology, place: PodSetPlace): { readonly [key: string]: Json } => {
  if (place.type === 'placed') return { placed: true, ...placementOf(flavor, place.shares) }
  if (place.type === 'faulty') return { placed: false, fault: place.fault }
  const { sliceSize, fitting, requested, layers, nodes, excluded } = place.shortfall
  return {
    placed: false,
    unit: sliceSize === 1 ? 'pod' : 'slice',
    fitting,
    requested,
    sliceFit: layers.map((layer) => ({ ...layer })),
    totalNodes: nodes,
    excludedNodes: Object.fromEntries(excluded),
  }
}

export const placementOf = (
  flavor: FlavorTopology,
  shares: Extract<PodSetPlace, { readonly type: 'placed' }>['shares'],
): { readonly levels: Json; readonly domains: Json } => ({
  levels: shares.length === 0 ? flavor.tree.levels : flavor.tree.levels.slice(-flavor.pathOf(shares[0]!.domain).length),
  domains: shares
    .toSorted((a, b) => a.domain - b.domain)
    .map(({ domain, replicas }) => ({ path: flavor.pathOf(domain), count: replicas })),
})
