import type { Desk } from './desk.ts'

/** Bounds of what a client may do to a server. Times in ms, sizes in bytes. */
export interface ServerLimits {
  /** Body of a JSON, YAML or text request. */
  readonly bodyBytesMax: number
  /** Until a request's header is there. */
  readonly headerTimeMaxMs: number
  /** Without a byte of a body that is due. */
  readonly bodySilenceMaxMs: number
  readonly connectionsMax: number
  readonly eventStreamsMax: number
  /** For what is in hand when the server stops. */
  readonly stopTimeMaxMs: number
}

export const defaultLimits: ServerLimits = {
  bodyBytesMax: 1_048_576,
  headerTimeMaxMs: 30_000,
  bodySilenceMaxMs: 30_000,
  connectionsMax: 1_024,
  eventStreamsMax: 64,
  stopTimeMaxMs: 10_000,
}

export interface ServerOptions {
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** Names that a request may give as its host, beside the loopback's own: `fleet.example.com`, `10.0.0.7`. */
  readonly hosts: ReadonlyArray<string>
  readonly version: string
  /** Why it is not ready: starting, stopping, a log that fails ...; empty: it is. */
  readonly unready: () => ReadonlyArray<string>
  readonly limits?: Partial<ServerLimits>
}

export interface RunningServer {
  /** `http://127.0.0.1:8410` */
  readonly address: string
  /** Takes nothing new, finishes what is in hand, and ends what does not end in time. */
  readonly stop: () => Promise<void>
}

/** Listens; rejects with the reason where it cannot. */
export declare const startServer: (desk: Desk, options: ServerOptions) => Promise<RunningServer>
