/** All that the author of an adapter imports (docs/adapters.md). */
export { commandKey } from '../../../domain/planner/command-event.ts'
export type { Command } from '../../../domain/planner/command.ts'
export type { CommandHandled } from '../../../domain/ports/command-source.ts'
export type { Adapter } from './adapter.ts'
export { attemptName, type Attempt, type RunningAttempt } from './attempt.ts'
export { done, failed, refused, type Handle, type Handlers } from './handlers.ts'
export { startAdapter, type AdapterFault, type AdapterOptions } from './start-adapter.ts'
