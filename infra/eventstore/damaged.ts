/** Thrown and caught inside this folder: the stream holds what this release cannot have written there. */
export class Damaged extends Error {
  readonly position: number
  constructor(position: number, reason: string) {
    super(reason)
    this.position = position
  }
}
