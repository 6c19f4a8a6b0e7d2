import { built, name, optional, record, wholeNumber, type Loose, type Notes, type Reader } from '../kernel/document.ts'
import { nodeLevel, requestDevicesMax, type TopologyRequest } from './request.ts'

/** Members that may be stated; null: not. */
export const topologyMembers = {
  preferred: optional(name, null),
  required: optional(name, null),
  sliceLevel: optional(name, null),
  sliceSize: optional(wholeNumber(1, requestDevicesMax), null),
}

interface Stated {
  readonly preferred: string | null
  readonly required: string | null
  readonly sliceLevel: string | null
  readonly sliceSize: number | null
}

export const topologyRequest: Reader<TopologyRequest> = built(
  record(topologyMembers, (got, notes) => {
    noteContradictions(got, notes)
    if (Object.values(got).every((value) => value === null))
      notes.add('states nothing', 'leave it out, or give required, preferred or sliceSize')
  }),
  (stated) => topologyOf(stated) ?? undefined,
)

/** Null: nothing is stated. Slices of which no level is stated stay in one node. Members in ascending order. */
export const topologyOf = ({ preferred, required, sliceLevel, sliceSize }: Stated): TopologyRequest | null =>
  preferred === null && required === null && sliceSize === null
    ? null
    : {
        ...(preferred === null ? {} : { preferred }),
        ...(required === null ? {} : { required }),
        ...(sliceSize === null ? {} : { sliceLevel: sliceLevel ?? nodeLevel, sliceSize }),
      }

export const noteContradictions = (got: Loose<Stated>, notes: Notes): void => {
  const { preferred, required, sliceLevel, sliceSize } = got
  if (typeof preferred === 'string' && typeof required === 'string')
    notes.add(`the level is required already: ${required}`, 'state one of the two', 'preferred')
  if (typeof sliceLevel === 'string' && sliceSize === null)
    notes.add('is missing, and sliceLevel is stated', 'add it: devices that stay together', 'sliceSize')
}

/** What a request for so many devices cannot ask of the topology; the notes are of the request. */
export const noteSlices = ({ sliceSize }: Loose<TopologyRequest>, devices: number | undefined, notes: Notes): void => {
  if (devices === 0) notes.add('says where devices lie, and none are asked for', 'leave it out', 'topology')
  else if (devices !== undefined && typeof sliceSize === 'number' && devices % sliceSize !== 0)
    notes.add(
      `${devices} devices are not whole slices of ${sliceSize}`,
      `give a divisor of ${devices}`,
      'topology',
      'sliceSize',
    )
}
