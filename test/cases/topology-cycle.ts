import type { Head } from '../../domain/kueue/head.ts'
import type { PodSetPlacement } from '../../domain/kueue/placer.ts'
import { CyclePlacer, type FlavorHolding } from '../../domain/topology/cycle-placer.ts'
import { FlavorTopology } from '../../domain/topology/flavor-topology.ts'
import { NodeStock } from '../../domain/topology/node-stock.ts'
import { defaultProfile } from '../../domain/topology/pod-set.ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Case, JsonObject } from './case-file.ts'
import { amountsOf, labelsOf, nodeLevel, nodeOf, objects, podSetOf, texts, tolerationsOf } from './topology-nodes.ts'

/** The nodes of a case with topology, and who holds what there; null: the case has none. */
export class CycleNodes {
  readonly placer: CyclePlacer
  private readonly flavors: ReadonlyMap<string, FlavorTopology>

  static of({ document }: Case): CycleNodes | null {
    return document['topologies'] === undefined ? null : new CycleNodes(document)
  }

  private constructor(document: JsonObject) {
    const stock = new NodeStock(objects(document['nodes']).map(nodeOf))
    const levelsOf = new Map(objects(document['topologies']).map(({ name, levels }) => [name, texts(levels)]))
    this.flavors = new Map(
      objects((document['quotaTree'] as JsonObject)['flavors']).flatMap((flavor) => {
        const levels = levelsOf.get(flavor['topology'] ?? null)
        if (levels === undefined) return []
        const topology = new FlavorTopology(stock, {
          levels,
          lowestIsNode: levels.at(-1) === nodeLevel,
          requiredLabels: labelsOf(flavor['nodeLabels']),
          tolerations: tolerationsOf(flavor['tolerations']),
        })
        return [[flavor['name'] as string, topology] as const]
      }),
    )
    const podSets = new Map(
      objects(document['pending']).map((head) => [head['id'] as string, objects(head['podSets']).map(podSetOf)]),
    )
    this.placer = new CyclePlacer({
      flavors: this.flavors,
      held: new Map(
        objects(document['running']).map((holder) => [holder['id'] as string, this.heldBy(objects(holder['podSets']))]),
      ),
      podSetsOf: (head: Head) => podSets.get(head.id)!,
      profile: defaultProfile,
    })
  }

  /** As the cases write it: only the levels that its paths name. */
  placementOf({ domains }: PodSetPlacement, flavor: string): Json {
    const { levels } = this.flavors.get(flavor)!.tree
    return {
      levels: domains.length === 0 ? levels : levels.slice(-domains[0]!.path.length),
      domains: domains.map(({ path, count }) => ({ path, count })),
    }
  }

  private heldBy(podSets: ReadonlyArray<JsonObject>): ReadonlyArray<FlavorHolding> {
    return podSets.flatMap(({ flavors, placement, requests }) => {
      const flavor = Object.values(labelsOf(flavors)).find((name) => this.flavors.has(name))
      if (flavor === undefined) return []
      return objects((placement as JsonObject | undefined)?.['domains']).flatMap(({ path, count }) => {
        const leaf = this.flavors.get(flavor)!.leaf(texts(path))
        return leaf === undefined ? [] : [{ flavor, leaf, replicas: count as number, requests: amountsOf(requests) }]
      })
    })
  }
}
