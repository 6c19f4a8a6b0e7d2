import { createRequire } from 'node:module'
import type * as GossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import type * as Gossip from '@eventstore/db-client/generated/gossip_pb.js'
import type * as FeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import type * as Features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import type * as Shared from '@eventstore/db-client/generated/shared_pb.js'
import type * as Status from '@eventstore/db-client/generated/status_pb.js'
import type * as StreamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type * as Streams from '@eventstore/db-client/generated/streams_pb.js'

/*
 * What the client itself speaks with: its generated messages and service definitions, which are CommonJS, and the gRPC and
 * protobuf that it has loaded. Messages of another copy would be strange to it.
 */

const require = createRequire(import.meta.url)
const requireOfClient = createRequire(require.resolve('@eventstore/db-client'))

/** As much of a gRPC library as a server needs. */
interface Grpc {
  readonly Server: new (options: { readonly [option: string]: number }) => GrpcServer
  readonly ServerCredentials: {
    readonly createInsecure: () => unknown
    readonly createSsl: (roots: null, pairs: { private_key: Buffer; cert_chain: Buffer }[]) => unknown
  }
  readonly Metadata: new () => GrpcMetadata
  readonly status: { readonly [name: string]: number }
}
export interface GrpcServer {
  readonly addService: (service: unknown, implementation: unknown) => void
  readonly bindAsync: (
    address: string,
    credentials: unknown,
    bound: (error: Error | null, port: number) => void,
  ) => void
  readonly forceShutdown: () => void
}
export interface GrpcMetadata {
  readonly get: (name: string) => ReadonlyArray<string | Buffer>
  readonly add: (name: string, value: string) => void
}

export const grpc = requireOfClient('@grpc/grpc-js') as Grpc
export const { Any } = requireOfClient('google-protobuf/google/protobuf/any_pb') as {
  readonly Any: new () => ReturnType<InstanceType<typeof Status.Status>['getDetails']> & object
}
export const { Empty: GoogleEmpty } = requireOfClient('google-protobuf/google/protobuf/empty_pb') as {
  readonly Empty: new () => Parameters<InstanceType<typeof Shared.WrongExpectedVersion>['setCurrentNoStream']>[0] &
    object
}
export const gossipGrpc = require('@eventstore/db-client/generated/gossip_grpc_pb') as typeof GossipGrpc
export const gossip = require('@eventstore/db-client/generated/gossip_pb') as typeof Gossip
export const featuresGrpc = require('@eventstore/db-client/generated/serverfeatures_grpc_pb') as typeof FeaturesGrpc
export const features = require('@eventstore/db-client/generated/serverfeatures_pb') as typeof Features
export const shared = require('@eventstore/db-client/generated/shared_pb') as typeof Shared
export const rpcStatus = require('@eventstore/db-client/generated/status_pb') as typeof Status
export const streamsGrpc = require('@eventstore/db-client/generated/streams_grpc_pb') as typeof StreamsGrpc
export const streams = require('@eventstore/db-client/generated/streams_pb') as typeof Streams
export type { Gossip, Streams, StreamsGrpc }
