/** What the process around chDB tells whoever started it. `load`: the engine could not be loaded; `open`: nor opened. */
export type DoorMessage =
  | { readonly type: 'ready'; readonly port: number; readonly release: string }
  | { readonly type: 'failed'; readonly stage: 'load' | 'open'; readonly text: string }

/** What it is told. Without its owner it ends by itself. */
export type DoorOrder = { readonly type: 'open'; readonly password: string } | { readonly type: 'close' }
